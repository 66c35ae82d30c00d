//! Figures by name, one a round; shown as median and spread, with what a reader must know beside them.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};
use xtask::bench::Args;

/// Everything that was measured, in the order in which it first was.
#[derive(Default)]
pub(crate) struct Board {
    rows: Vec<Row>,
    notes: Vec<String>,
}

struct Row {
    name: String,
    unit: &'static str,
    /// One a round.
    rounds: Vec<f64>,
}

impl Board {
    /// Notes the figure of one round.
    pub(crate) fn add(&mut self, name: &str, unit: &'static str, figure: f64) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.rounds.push(figure),
            None => self.rows.push(Row { name: name.to_owned(), unit, rounds: vec![figure] }),
        }
    }

    /// Notes something that is no figure: what was left out, and why. Once, however often it is said.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The median of a figure, if it was measured.
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.name == name).map(|row| row.spread()[1])
    }

    /// A figure of the latest round, if it was measured.
    pub(crate) fn last(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.name == name).and_then(|row| row.rounds.last().copied())
    }

    /// Adds how often the figure `over` goes into `of`, round by round: what disturbs a round disturbs both. Nothing
    /// where one of them was not measured.
    pub(crate) fn ratio(&mut self, name: &str, of: &str, over: &str) {
        let rounds = |name: &str| self.rows.iter().find(|row| row.name == name).map(|row| &row.rounds);
        if let (Some(of), Some(over)) = (rounds(of), rounds(over)) {
            let rounds = of.iter().zip(over).map(|(of, over)| of / over).collect();
            self.rows.push(Row { name: name.to_owned(), unit: "×", rounds });
        }
    }

    /// Writes all of it, with what it was measured on.
    pub(crate) fn write(&self, path: &Path, args: &Args, server: &str) -> anyhow::Result<()> {
        let figures: Vec<Value> = self.rows.iter().map(Row::to_json).collect();
        let document = json!({
            "what": format!("{:?}", args.what).to_lowercase(),
            "measured_at": chrono::Utc::now().to_rfc3339(),
            "processors": std::thread::available_parallelism().map_or(0, usize::from),
            "server": server,
            "rounds": args.rounds(),
            "seconds": args.length().as_secs(),
            "settled": args.settled,
            "figures": figures,
            "notes": self.notes,
        });
        Ok(std::fs::write(path, format!("{document:#}\n"))?)
    }
}

impl Row {
    /// Least, median, greatest.
    fn spread(&self) -> [f64; 3] {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let last = sorted.len().saturating_sub(1);
        // Of an even number of rounds the mean of the two in the middle.
        [at(0), f64::midpoint(at(last / 2), at(last.div_ceil(2))), at(last)]
    }

    fn to_json(&self) -> Value {
        let [min, median, max] = self.spread();
        json!({"name": self.name, "unit": self.unit, "median": median, "min": min, "max": max, "rounds": self.rounds})
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        writeln!(f, "\n{:<width$}  {:>10} {:>10} {:>10}", "", "median", "least", "most")?;
        for row in &self.rows {
            let [least, median, most] = row.spread().map(short);
            writeln!(f, "{:<width$}  {median:>10} {least:>10} {most:>10}  {}", row.name, row.unit)?;
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// Three digits are all that a measurement of seconds is worth.
fn short(figure: f64) -> String {
    match figure.abs() {
        100.0.. => format!("{figure:.0}"),
        10.0.. => format!("{figure:.1}"),
        1.0.. => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}
