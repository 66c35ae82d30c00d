//! Citizens who report, and what they saw.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use flow_json::Taxonomy;
use serde_json::json;
use xtask::citizen::{Citizen, Form, Message, Simulator};

/// How long a citizen waits for an answer before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The simulated phones.
pub(crate) struct People {
    simulator: Simulator,
    next: AtomicU64,
    /// What is tapped in the form.
    path: Vec<String>,
}

impl People {
    pub(crate) fn new(simulator: Simulator) -> anyhow::Result<Self> {
        let builtin =
            Taxonomy::builtin().map_err(|problems| anyhow!("the shipped taxonomy: {problems:?}"))?;
        let path = builtin.labels("container/overflowing/glass", "es").context("no such leaf")?;
        Ok(Self { simulator, next: AtomicU64::new(1), path })
    }

    /// Somebody who never wrote before.
    pub(super) async fn citizen(&self) -> anyhow::Result<Citizen> {
        let phone = format!("346{:08}", self.next.fetch_add(1, Ordering::Relaxed));
        self.simulator.citizen("Vecina", &phone, "es").await
    }

    /// A whole report: greeting, language, pin, form, reference. The pin carries its address, as one that is shared from
    /// a map does, so that nobody outside is asked for it.
    pub(super) async fn report(&self, citizen: &Citizen) -> anyhow::Result<()> {
        greet(citizen).await?;
        let pin =
            json!({"latitude": 42.8467, "longitude": -2.6727, "address": "Plaza de la Virgen Blanca 3"});
        act(citizen, "location", &pin, |message| message.flow.is_some()).await?;
        let form =
            Form { path: self.path.clone(), note: Some("Desde el domingo".into()), photo: json!(true) };
        let form = serde_json::to_value(form)?;
        act(citizen, "form", &form, |message| {
            message.text.as_deref().is_some_and(|text| text.contains("REF-"))
        })
        .await?;
        Ok(())
    }

    /// Types addresses that nobody has asked for before, one after the other, for ever.
    pub(super) async fn ask(&self, citizen: &Citizen) -> anyhow::Result<()> {
        greet(citizen).await?;
        loop {
            let street = format!("Calle de las {} fuentes 7", self.next.fetch_add(1, Ordering::Relaxed));
            act(citizen, "say", &json!({"text": street}), |_| true).await?;
        }
    }

    pub(super) async fn fault(&self, fault: &serde_json::Value) -> anyhow::Result<()> {
        self.simulator.post("/control/faults", fault).await.map(|_| ())
    }

    pub(super) async fn mend(&self) -> anyhow::Result<()> {
        self.simulator.delete("/control/faults").await.map(|_| ())
    }
}

async fn greet(citizen: &Citizen) -> anyhow::Result<()> {
    act(citizen, "say", &json!({"text": "Hola"}), |message| message.buttons.len() == 2).await?;
    act(citizen, "tap", &json!({"title": "Castellano"}), |message| message.kind.contains("location")).await?;
    Ok(())
}

/// Does something and waits for an answer of a kind.
async fn act(
    citizen: &Citizen,
    action: &str,
    body: &serde_json::Value,
    is: impl Fn(&Message) -> bool,
) -> anyhow::Result<Message> {
    let done = citizen.act(action, body).await?;
    let mut after = done["index"].as_u64();
    loop {
        let message = citizen.reply(after, PATIENCE).await?;
        if is(&message) {
            return Ok(message);
        }
        after = Some(message.index);
    }
}

/// Milliseconds from each message of a citizen to the next answer, by the simulator's clock.
pub(super) async fn waits(citizen: &Citizen) -> anyhow::Result<Vec<f64>> {
    let messages = citizen.messages().await?;
    let mut waits = Vec::new();
    for pair in messages.windows(2).filter(|pair| pair[0].direction == "in" && pair[1].direction == "out") {
        let (sent, answered) = (pair[0].at.context("no time")?, pair[1].at.context("no time")?);
        waits.push((answered - sent).as_seconds_f64() * 1000.0);
    }
    ensure!(!waits.is_empty(), "a citizen saw nothing");
    Ok(waits)
}
