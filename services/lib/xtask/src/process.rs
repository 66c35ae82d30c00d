//! Processes by number: signals, and an identity that survives the reuse of numbers.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

pub use rustix::process::Signal;
use serde::{Deserialize, Serialize};

/// A process that may have ended meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in the system's own words: with the number, an identity.
    started: String,
}

impl Process {
    /// The process with this number, if there is one.
    pub fn find(pid: u32) -> Option<Self> {
        started(pid).map(|started| Self { pid, started })
    }

    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self { pid, started: started(pid).unwrap_or_default() }
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        started(self.pid).is_some_and(|started| started == self.started)
    }

    /// Sends a signal if it still runs.
    pub fn signal(&self, signal: Signal) {
        if self.is_alive() {
            send(self.pid, signal);
        }
    }

    /// Waits until it has ended; true if it has within `patience`.
    pub fn wait_gone(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

/// Sends a signal to a process of which the caller knows that it has not been reaped.
pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // Fails only for a process that has ended, which is what signals here are for.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The start time of a running process; none for one that has ended, also when its parent has not noticed yet.
fn started(pid: u32) -> Option<String> {
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold anything; what follows is state (field 3) up to start time (field 22).
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ended = matches!(*fields.first()?, "Z" | "X");
        return (!ended).then(|| fields.get(19).map(|&time| time.to_owned())).flatten();
    }
    let output = Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_is_not_alive_and_its_number_is_not_its_identity() {
        assert!(Process::this().is_alive());
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let process = Process::find(child.id()).unwrap();
        assert!(process.is_alive());
        let reused = Process { started: "another time".into(), pid: process.pid };
        reused.signal(Signal::KILL);
        assert!(process.is_alive(), "a stranger with the same number is left alone");
        process.signal(Signal::KILL);
        assert!(process.wait_gone(Duration::from_secs(10)), "a zombie counts as gone");
        child.wait().unwrap();
    }
}
