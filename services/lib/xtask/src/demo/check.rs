//! What the contractor holds and what the timeline says, printed, and compared with what the citizen sent.

use std::time::{Duration, Instant};

use anyhow::Context;
use flow_json::Taxonomy;
use serde_json::Value;

use super::play::{Reported, heading, text};
use crate::citizen::{Incident, Simulator};
use crate::stack::Stack;

/// How long a report may take from its reference to the contractor.
const PATIENCE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(50);
/// Degrees; a tenth of a metre.
const SAME_PLACE: f64 = 1e-6;
/// What a report goes through when nothing fails.
const STEPS: [&str; 4] = ["draft_opened", "received", "photo_stored", "pushed"];

/// Waits until the report has been handed over, prints it, and returns what is wrong.
pub(super) async fn show_and_check(
    reported: &Reported,
    stack: &Stack,
    simulator: &Simulator,
    taxonomy: &Taxonomy,
) -> anyhow::Result<Vec<String>> {
    let reference = reported.reference.as_str();
    let deadline = Instant::now() + PATIENCE;
    let report = loop {
        let shown = stack.abisu(&["report", "show", reference, "--json"]).await?;
        let report: Value = serde_json::from_str(&shown).context("`abisu report show --json` is not JSON")?;
        if text(&report, "push_state") != "pending" || Instant::now() > deadline {
            break report;
        }
        tokio::time::sleep(POLL).await;
    };
    let incidents = simulator.incidents().await?;
    let mine: Vec<&Incident> = incidents.iter().filter(|one| one.external_code == reference).collect();

    heading(reference);
    for incident in &mine {
        print_incident(incident);
    }
    println!("  timeline");
    let timeline = report["timeline"].as_array().map_or(&[][..], Vec::as_slice);
    for step in timeline {
        let (at, trace) = (text(step, "at"), text(step, "trace_id"));
        println!("    {at:<30} {:<14} trace {trace}", text(step, "step"));
    }

    let mut flaws = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            flaws.push(format!("{reference}: {what}"));
        }
    };
    let state = text(&report, "push_state");
    expect(state == "sent", format!("its push is {state}: {}", text(&report, "push_error")));
    expect(mine.len() == 1, format!("the contractor has {} records of it", mine.len()));
    for (step, after) in STEPS.iter().zip([None].into_iter().chain(STEPS.iter().map(Some))) {
        let place = |step: &str| timeline.iter().position(|found| text(found, "step") == step);
        // The photo may come before or after the reference has been told, but never after the push.
        let in_order = after.is_none_or(|after| *step == "photo_stored" || place(after) < place(step));
        expect(place(step).is_some() && in_order, format!("the step {step} is missing or out of order"));
    }
    for step in timeline {
        let trace = text(step, "trace_id");
        let valid = trace.len() == 32 && trace.bytes().all(|b| b.is_ascii_hexdigit());
        expect(valid, format!("the step {} has no trace id", text(step, "step")));
    }
    if let Some(incident) = mine.first() {
        compare(reported, &report, incident, taxonomy, &mut expect);
    }
    Ok(flaws)
}

fn print_incident(incident: &Incident) {
    println!("  contractor's record {}", incident.id);
    println!("    category     {}", incident.category);
    println!("    coordinates  {:.6}, {:.6}", incident.latitude, incident.longitude);
    println!("    address      {}", incident.address.as_deref().unwrap_or("-"));
    println!(
        "    note         {}",
        incident.note.as_deref().unwrap_or("-").replace('\n', "\n                 ")
    );
    println!("    photo        sha256 {}", incident.photo_sha256.as_deref().unwrap_or("-"));
}

fn compare(
    reported: &Reported,
    report: &Value,
    incident: &Incident,
    taxonomy: &Taxonomy,
    expect: &mut impl FnMut(bool, String),
) {
    let partner = taxonomy.leaf(reported.route).and_then(|leaf| leaf.partner.as_ref());
    let category = partner.map_or("", |partner| partner.category.as_str());
    expect(incident.category == category, format!("category {}, not {category}", incident.category));

    let stored = (report["latitude"].as_f64(), report["longitude"].as_f64());
    let near = |(latitude, longitude): (f64, f64)| {
        (incident.latitude - latitude).abs() < SAME_PLACE
            && (incident.longitude - longitude).abs() < SAME_PLACE
    };
    let (Some(latitude), Some(longitude)) = stored else {
        expect(false, "the report has no coordinates".to_owned());
        return;
    };
    expect(near((latitude, longitude)), "the contractor has other coordinates than the report".to_owned());
    if let Some(pin) = reported.pin {
        expect(near(pin), "the contractor has other coordinates than the pin".to_owned());
    }
    let note = incident.note.as_deref().unwrap_or_default();
    expect(note.contains(reported.note), format!("the note {note:?} lacks the citizen's words"));
    if let Some(option) = partner.and_then(|partner| partner.option_note.as_deref()) {
        expect(note.contains(option), format!("the note {note:?} lacks {option:?}"));
    }
    let photo = incident.photo_sha256.as_deref().unwrap_or_default();
    expect(photo == reported.photo_sha256, "the contractor has another photo than was sent".to_owned());
    let partner_id = text(report, "partner_id");
    expect(partner_id == incident.id, format!("the report names the contractor's record {partner_id:?}"));
}
