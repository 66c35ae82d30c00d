//! What a person does on the phone, and what the person sees there.

use std::sync::atomic::{AtomicI64, Ordering};

use flow_json::Taxonomy;
use serde_json::{Value, json};

use crate::geo::PIN;
use crate::support::World;

/// A leaf that becomes a report.
pub(crate) const ROUTE: &str = "container/overflowing/glass";

/// A person with a phone.
pub(crate) struct Citizen<'w> {
    world: &'w World,
    id: String,
    pub(crate) phone: String,
    heard: AtomicI64,
}

impl<'w> Citizen<'w> {
    pub(crate) fn new(world: &'w World, id: &str, phone: &str) -> Self {
        Self { world, id: id.to_owned(), phone: phone.to_owned(), heard: AtomicI64::new(0) }
    }

    pub(crate) async fn act(&self, verb: &str, body: Value) -> Value {
        self.world.control(&format!("/citizens/{}/{verb}", self.id), body).await
    }

    pub(crate) async fn say(&self, text: &str) -> Value {
        self.act("say", json!({"text": text})).await
    }

    pub(crate) async fn tap(&self, title: &str) -> Value {
        self.act("tap", json!({"title": title})).await
    }

    pub(crate) async fn pin(&self) -> Value {
        self.act("location", json!({"latitude": PIN.latitude, "longitude": PIN.longitude})).await
    }

    /// Fills in the newest form.
    pub(crate) async fn fill_in(&self, language: &str, route: &str, more: Value) -> Value {
        let mut body = json!({"path": Taxonomy::builtin().unwrap().labels(route, language).unwrap()});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.act("form", body).await
    }

    /// The next message that was not yet heard.
    pub(crate) async fn hears(&self) -> Value {
        let after = self.heard.load(Ordering::SeqCst);
        let path = format!("/citizens/{}/wait?after={after}&direction=out&count=1&timeout_ms=20000", self.id);
        let next = self.world.look(&path).await[0].clone();
        self.heard.store(next["index"].as_i64().unwrap(), Ordering::SeqCst);
        next
    }

    pub(crate) async fn hears_text(&self) -> String {
        self.hears().await["text"].as_str().unwrap().to_owned()
    }

    /// Everything that Abisu said, in order.
    pub(crate) async fn conversation(&self) -> Vec<Value> {
        let all = self.world.look(&format!("/citizens/{}/messages", self.id)).await;
        all.as_array().unwrap().iter().filter(|one| one["direction"] == "out").cloned().collect()
    }

    /// As far as the question for the place, in Spanish.
    pub(crate) async fn begins(&self) {
        self.say("Hola").await;
        assert_eq!(self.hears().await["kind"], "button");
        self.tap("Castellano").await;
        assert_eq!(self.hears().await["kind"], "location_request");
    }

    /// As far as the form, in Spanish, with a pin.
    pub(crate) async fn reaches_the_form(&self) {
        self.begins().await;
        self.pin().await;
        assert_eq!(self.hears().await["kind"], "flow");
    }

    /// A whole report; returns its reference.
    pub(crate) async fn reports(&self) -> String {
        self.reaches_the_form().await;
        self.fill_in("es", ROUTE, json!({})).await;
        reference(&self.hears_text().await)
    }
}

/// The reference in a text.
pub(crate) fn reference(text: &str) -> String {
    let found = text.split_whitespace().find(|word| word.starts_with("REF-"));
    found.unwrap_or_else(|| panic!("no reference in {text:?}")).to_owned()
}
