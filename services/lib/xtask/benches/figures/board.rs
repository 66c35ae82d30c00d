//! Figures by name, one a round; shown as median and spread.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};
use xtask::bench::Args;

/// Everything that was measured, in the order in which it first was.
#[derive(Default)]
pub(crate) struct Board {
    rows: Vec<Row>,
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
            "rounds": args.rounds,
            "seconds": args.seconds,
            "settled": args.settled,
            "figures": figures,
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
        Ok(())
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

/// The value below which a share of the samples lies; in their unit. Sorts them.
pub(crate) fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    // Samples are far fewer than 2^52.
    let place = (samples.len() as f64 * share) as usize;
    samples.get(place.min(samples.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
