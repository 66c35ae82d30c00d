//! One process that is started again whenever it ends.
//!
//! Each has a thread that waits for it, so that it works in every kind of test and while a stack is being dropped. A
//! process is reaped under the lock that guards its number: whoever sends a signal under that lock cannot hit a
//! stranger that got the number meanwhile.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::up_file::UpFile;
use crate::ledger;
use crate::process::{Signal, send};
use crate::progress::say;
use crate::tree::STATE;

/// A process that lived this long is started again at once.
const HEALTHY: Duration = Duration::from_secs(2);
/// The pause before the first start after a short life; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a process may take to drain before it is ended at once.
const GRACE: Duration = Duration::from_secs(5);

/// What to run.
pub(crate) struct Program {
    name: &'static str,
    pub(crate) command: Command,
    log: PathBuf,
}

impl Program {
    pub(crate) fn new(name: &'static str, path: PathBuf, log: PathBuf) -> Self {
        Self { name, command: Command::new(path), log }
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.command.env(name, value);
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.command.env_remove(name);
    }

    fn spawn(&mut self) -> anyhow::Result<Child> {
        let log = OpenOptions::new().append(true).create(true).open(&self.log)?;
        self.command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A group of its own: Ctrl-C reaches this process, which then stops the others in order.
        self.command.process_group(0);
        let path = self.command.get_program().to_string_lossy().into_owned();
        self.command.spawn().with_context(|| format!("cannot run {path}"))
    }
}

/// A process under supervision. Dropping it stops the process.
pub(crate) struct Supervised {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    name: &'static str,
    log: PathBuf,
    up_file: Option<Arc<UpFile>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pid: Option<u32>,
    held: bool,
    stopping: bool,
    short_lives: u32,
    last_exit: Option<ExitStatus>,
}

impl Supervised {
    /// Starts it, with an empty log.
    pub(crate) fn start(mut program: Program, up_file: Option<Arc<UpFile>>) -> anyhow::Result<Self> {
        File::create(&program.log).with_context(|| format!("cannot write {}", program.log.display()))?;
        let shared = Arc::new(Shared {
            name: program.name,
            log: program.log.clone(),
            up_file,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let child = program.spawn()?;
        shared.came(&child);
        let watched = Arc::clone(&shared);
        let thread = std::thread::spawn(move || watched.watch(program, child));
        Ok(Self { shared, thread: Some(thread) })
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.shared.lock().pid
    }

    pub(crate) fn log(&self) -> &PathBuf {
        &self.shared.log
    }

    /// How it ended last, if it has ended, and how often in a row it did so soon after its start.
    pub(crate) fn last_exit(&self) -> Option<(ExitStatus, u32)> {
        let state = self.shared.lock();
        state.last_exit.map(|status| (status, state.short_lives))
    }

    pub(crate) fn kill(&self) {
        self.shared.signal(&self.shared.lock(), Signal::KILL);
    }

    pub(crate) fn hold(&self) {
        let mut state = self.shared.lock();
        state.held = true;
        self.shared.signal(&state, Signal::KILL);
        // Down means down: its connections are closed when this returns.
        while state.pid.is_some() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn resume(&self) {
        let mut state = self.shared.lock();
        state.held = false;
        state.short_lives = 0;
        self.shared.changed.notify_all();
    }

    fn ask_to_stop(&self) {
        let mut state = self.shared.lock();
        state.stopping = true;
        self.shared.signal(&state, Signal::TERM);
        self.shared.changed.notify_all();
    }
}

/// Stops several side by side: asks all first, and [`Drop`] waits.
pub(crate) fn stop_all<'a>(all: impl Iterator<Item = &'a Supervised>) {
    for one in all {
        one.ask_to_stop();
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.ask_to_stop();
        let deadline = Instant::now() + GRACE;
        let mut state = self.shared.lock();
        while state.pid.is_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                say(format!("{} did not stop within {} s and is killed", self.shared.name, GRACE.as_secs()));
                self.shared.signal(&state, Signal::KILL);
                break;
            }
            (state, _) =
                self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, state: &State, signal: Signal) {
        if let Some(pid) = state.pid {
            send(pid, signal);
        }
    }

    fn came(&self, child: &Child) {
        let mut state = self.lock();
        state.pid = Some(child.id());
        ledger::child(&STATE, child.id());
        if let Some(file) = &self.up_file {
            file.set(self.name, Some(child.id()));
        }
        if state.stopping || state.held {
            self.signal(&state, Signal::KILL);
        }
        self.changed.notify_all();
    }

    /// Waits for the end of the process without reaping it, then reaps it under the lock.
    fn went(&self, child: &mut Child, since: Instant) {
        let pid = child.id();
        if let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            while let Err(rustix::io::Errno::INTR) =
                waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
        }
        let mut state = self.lock();
        let status = child.wait();
        state.pid = None;
        state.last_exit = status.ok();
        state.short_lives = if since.elapsed() < HEALTHY { state.short_lives + 1 } else { 0 };
        ledger::forget_child(&STATE, pid);
        if let Some(file) = &self.up_file {
            file.set(self.name, None);
        }
        self.changed.notify_all();
    }

    fn watch(&self, mut program: Program, mut child: Child) {
        let mut since = Instant::now();
        loop {
            self.went(&mut child, since);
            child = loop {
                if !self.wait_for_turn() {
                    return;
                }
                match program.spawn() {
                    Ok(child) => break child,
                    Err(error) => {
                        say(format!("{error:#}"));
                        self.lock().short_lives += 1;
                    }
                }
            };
            since = Instant::now();
            self.came(&child);
            say(format!("{} runs again as process {}", self.name, child.id()));
        }
    }

    /// True when the process is to be started now, false when it never is again.
    fn wait_for_turn(&self) -> bool {
        let mut state = self.lock();
        if !state.stopping && !state.held {
            say(format!("{} ended ({}); see {}", self.name, describe(state.last_exit), self.log.display()));
        }
        let pause = match state.short_lives {
            0 | 1 => Duration::ZERO,
            n => FIRST_PAUSE.saturating_mul(1 << (n - 2).min(8)).min(LONGEST_PAUSE),
        };
        let start_at = Instant::now() + pause;
        loop {
            let left = start_at.saturating_duration_since(Instant::now());
            if state.stopping {
                return false;
            }
            if state.held {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else if left.is_zero() {
                return true;
            } else {
                (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

pub(crate) fn describe(exit: Option<ExitStatus>) -> String {
    match exit {
        None => "nobody knows how".to_owned(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => status.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(name: &'static str) -> Supervised {
        let log = std::env::temp_dir().join(format!("abisu-{name}-{}.log", std::process::id()));
        let mut program = Program::new(name, "sleep".into(), log);
        program.command.arg("1000");
        Supervised::start(program, None).unwrap()
    }

    /// Waits until the supervised process is another one than `old`.
    fn wait_for_another(supervised: &Supervised, old: Option<u32>) -> u32 {
        let mut state = supervised.shared.lock();
        loop {
            match state.pid {
                Some(pid) if Some(pid) != old => return pid,
                _ => state = supervised.shared.changed.wait(state).unwrap(),
            }
        }
    }

    #[test]
    fn a_killed_process_comes_back_and_a_held_one_stays_down_until_it_is_resumed() {
        let supervised = sleeper("sleeper");
        let first = supervised.pid().unwrap();
        supervised.kill();
        let second = wait_for_another(&supervised, Some(first));
        supervised.hold();
        assert_eq!(supervised.pid(), None);
        supervised.resume();
        assert_ne!(wait_for_another(&supervised, None), second);
        let (status, _) = supervised.last_exit().unwrap();
        assert_eq!(describe(Some(status)), "signal 9");
        let log = supervised.log().clone();
        drop(supervised);
        std::fs::remove_file(log).unwrap();
    }
}
