//! `cargo xtask demo`: two citizens report, one in Spanish with a pin, one in Basque with a typed address; then
//! everything that follows is shown and checked.

mod check;
mod photo;
mod play;

use anyhow::{Context, bail};

use crate::citizen::Simulator;
use crate::progress::say;
use crate::stack::{Options, Stack};
use crate::tree::{self, ROOT, STATE};
use play::{Place, Script};

/// A few streets, to look addresses up without anybody outside.
const STREETS: &str = "services/geocode/streets/vitoria-gasteiz.csv";

/// What the citizens do.
const SCRIPTS: [Script; 2] = [
    Script {
        name: "Marta",
        phone: "34600000001",
        language: "es",
        greeting: "Hola",
        language_button: "Castellano",
        place: Place::Pin { latitude: 42.8467, longitude: -2.6727 },
        route: "container/overflowing/glass",
        note: "Hay botellas en la acera desde el domingo",
    },
    Script {
        name: "Ane",
        phone: "34600000002",
        language: "eu",
        greeting: "Kaixo",
        language_button: "Euskara",
        place: Place::Typed("Pintore kalea 1"),
        route: "street/graffiti",
        note: "Atarian pintada handi bat dago",
    },
];

/// Runs the demo; `offline` looks addresses up in the database and asks no CartoCiudad.
///
/// # Errors
/// Something could not be started, or is not right at the end; every flaw has been printed.
pub async fn run(offline: bool) -> anyhow::Result<()> {
    let mut options = Options::new(tree::binaries().await?);
    // Apart from those of an `up` that may be running.
    options.logs = STATE.join("demo-logs");
    if offline {
        options.environment.insert("ABISU_GEOCODER".to_owned(), "offline".to_owned());
        // Nobody listens there: whoever asks outside all the same gets no answer.
        options.environment.insert("ABISU_CARTOCIUDAD_URL".to_owned(), "http://127.0.0.1:9".to_owned());
    }
    let stack = Stack::start(options).await?;
    if offline {
        let loaded = stack.abisu(&["geocoder", "load", &ROOT.join(STREETS).to_string_lossy()]).await?;
        say(loaded.trim());
    }
    let url = stack.urls.simulator.as_deref().context("the demo needs the simulators")?;
    let simulator = Simulator::new(url)?;
    let taxonomy = flow_json::Taxonomy::builtin()
        .map_err(|problems| anyhow::anyhow!("the taxonomy cannot be used: {}", problems[0]))?;

    let mut flaws = Vec::new();
    let mut reports = Vec::new();
    for script in &SCRIPTS {
        reports.push(play::play(script, &simulator, &taxonomy).await?);
    }
    say("waiting for the contractor's records");
    for report in &reports {
        flaws.extend(check::show_and_check(report, &stack, &simulator, &taxonomy).await?);
    }
    println!();
    if !flaws.is_empty() {
        for flaw in &flaws {
            println!("wrong: {flaw}");
        }
        bail!("the demo found {} flaws; logs in .abisu/demo-logs", flaws.len());
    }
    println!(
        "{} reports, each once in the contractor's platform, all as the citizens sent them",
        reports.len()
    );
    drop(stack);
    say("stopped");
    Ok(())
}
