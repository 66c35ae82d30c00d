//! `.abisu/up.json`: where a running stack listens and which processes it has, for whoever watches from outside.
//!
//! Replaced at once, never written in place; it appears when all is ready and goes when the stack stops. A service
//! that is down has `null` for its process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::ledger;
use crate::progress::say;
use crate::tree::STATE;

pub(crate) struct UpFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// The addresses; none before all is ready and after the stack has stopped.
    addresses: Option<Value>,
    pids: BTreeMap<&'static str, Option<u32>>,
}

impl UpFile {
    pub(super) fn new(path: PathBuf, services: impl IntoIterator<Item = &'static str>) -> Self {
        // What a killed run left names processes that are gone.
        let _ = std::fs::remove_file(&path);
        let pids = services.into_iter().map(|service| (service, None)).collect();
        Self { path, state: Mutex::new(State { addresses: None, pids }) }
    }

    /// Writes the file from now on.
    pub(super) fn publish(&self, addresses: Value) -> std::io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.addresses = Some(addresses);
        ledger::path(&STATE, &self.path);
        ledger::replace(&self.path, &state.to_json())
    }

    /// Notes that a service has come or gone.
    pub(super) fn set(&self, service: &'static str, pid: Option<u32>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pids.insert(service, pid);
        if state.addresses.is_some()
            && let Err(error) = ledger::replace(&self.path, &state.to_json())
        {
            say(format!("cannot write {}: {error}", self.path.display()));
        }
    }

    pub(super) fn remove(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).addresses = None;
        let _ = std::fs::remove_file(&self.path);
        ledger::forget_path(&STATE, &self.path);
    }
}

impl State {
    fn to_json(&self) -> Vec<u8> {
        let mut file = self.addresses.clone().unwrap_or_else(|| json!({}));
        file["pids"] = json!(self.pids);
        format!("{file:#}\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_there_only_while_the_stack_is_up_and_follows_its_processes() {
        let path = std::env::temp_dir().join(format!("abisu-up-{}/up.json", std::process::id()));
        let file = UpFile::new(path.clone(), ["ingest", "geocode"]);
        file.set("ingest", Some(7));
        assert!(!path.exists());
        let read = || serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()).unwrap();
        file.publish(json!({"ingest": "http://i"})).unwrap();
        assert_eq!(read(), json!({"ingest": "http://i", "pids": {"ingest": 7, "geocode": null}}));
        file.set("ingest", None);
        assert_eq!(read()["pids"]["ingest"], Value::Null);
        file.remove();
        file.set("ingest", Some(8));
        assert!(!path.exists());
        std::fs::remove_dir(path.parent().unwrap()).unwrap();
    }
}
