//! A bar for work that takes a while, where somebody looks on.

use std::io::{IsTerminal, Write};

const WIDTH: usize = 30;

/// Counts up to a known end, on standard error, which is no part of what a command says.
pub(super) struct Progress {
    what: &'static str,
    done: usize,
    of: usize,
    seen: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str, of: usize) -> Self {
        Self { what, done: 0, of, seen: of > 1 && std::io::stderr().is_terminal() }
    }

    pub(super) fn step(&mut self) {
        self.done += 1;
        if self.seen {
            // Whether it is seen changes nothing.
            let _ = write!(std::io::stderr(), "\r{}", self.line());
        }
    }

    fn line(&self) -> String {
        let filled = WIDTH * self.done / self.of.max(1);
        let bar = "#".repeat(filled.min(WIDTH)) + &"-".repeat(WIDTH.saturating_sub(filled));
        format!("{} [{bar}] {}/{}", self.what, self.done, self.of)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.seen {
            let _ = writeln!(std::io::stderr());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn the_bar_is_as_long_as_what_is_done() {
        let mut progress = Progress { seen: false, ..Progress::new("dead messages", 3) };
        assert_eq!(progress.line(), "dead messages [------------------------------] 0/3");
        progress.step();
        assert_eq!(progress.line(), "dead messages [##########--------------------] 1/3");
        progress.step();
        progress.step();
        assert_eq!(progress.line(), "dead messages [##############################] 3/3");
    }
}
