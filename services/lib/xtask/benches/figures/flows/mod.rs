//! The form as a build artefact: the whole check of the built-in city, and the linter on documents as large as the
//! platform takes, each costly in another way. In this process; no server, no service.

use std::time::Instant;

use anyhow::{Context, anyhow, ensure};
use flow_json::{MOST_BYTES, Taxonomy, generate, lint};
use xtask::bench::Args;
use xtask::progress::say;

use crate::board::Board;

/// The check of all languages, and the linter on ten megabytes.
pub(crate) fn measure(args: &Args, board: &mut Board) -> anyhow::Result<()> {
    let documents = documents();
    for round in 1..=args.rounds() {
        say(format!("round {round} of {}", args.rounds()));
        if args.wants("check") {
            let (check, form) = check(args)?;
            board.add("check of all languages: files to forms that are right", "ms", check);
            board.add("one form, made and checked by the linter", "ms", form);
        }
        for (name, text) in documents.iter().filter(|(name, _)| args.wants(name)) {
            let began = Instant::now();
            let found = lint(text).len();
            let name = format!("linter, {:.1} MB of {name}", text.len() as f64 / 1e6);
            board.add(&name, "ms", milliseconds(began));
            ensure!(found > 0, "{name}: something must be wrong with it");
        }
    }
    Ok(())
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

/// Milliseconds of what `abisu flows check` does, and of one form of it; the mean over the time that is given.
fn check(args: &Args) -> anyhow::Result<(f64, f64)> {
    let (began, mut times, mut forms, mut of_forms) = (Instant::now(), 0_u32, 0_u32, 0.0);
    while began.elapsed() < args.length() {
        let taxonomy = Taxonomy::builtin().map_err(|problems| anyhow!("{problems:?}"))?;
        let mut first = None;
        for language in taxonomy.languages() {
            let start = Instant::now();
            let form = generate(&taxonomy, language)?;
            ensure!(form.lint().is_empty(), "the form in {language} is wrong");
            of_forms += milliseconds(start);
            forms += 1;
            match &first {
                None => first = Some(form),
                Some(first) => ensure!(first.lint_language(&form).is_empty(), "{language} differs"),
            }
        }
        first.context("there is no language")?;
        times += 1;
    }
    Ok((milliseconds(began) / f64::from(times), of_forms / f64::from(forms)))
}

/// What they are made of, and documents of almost as many bytes as are read at all.
fn documents() -> Vec<(&'static str, String)> {
    const SCREEN: &str = r#"{"version":"7.3","screens":[{"id":"ONE","title":"T","layout":{"type":"SingleColumnLayout","children":["#;
    let fill = |start: &str, piece: &dyn Fn(usize) -> String, end: &str| {
        let mut text = start.to_owned();
        let mut place = 0;
        while text.len() + end.len() + 400 < MOST_BYTES {
            if place > 0 {
                text.push(',');
            }
            text.push_str(&piece(place));
            place += 1;
        }
        text + end
    };
    let row = |place: usize| {
        format!(
            r#"{{"id":"{place}","main-content":{{"title":"T"}},"on-click-action":{{"name":"navigate","next":{{"type":"screen","name":"ONE"}},"payload":{{"route":"{place}"}}}}}}"#
        )
    };
    let screen = |place: usize| {
        format!(
            r#"{{"id":"S{place}","title":"T","layout":{{"type":"SingleColumnLayout","children":[{{"type":"TextBody","text":"T"}}]}}}}"#
        )
    };
    let list = format!(r#"{SCREEN}{{"type":"NavigationList","name":"c","list-items":["#);
    let text =
        format!(r#"{SCREEN}{{"type":"TextBody","text":"{}"}}]}}}}]}}"#, "ñ".repeat((MOST_BYTES - 400) / 2));
    vec![
        ("rows", fill(&list, &row, "]}]}}]}")),
        ("screens", fill(r#"{"version":"7.3","screens":["#, &screen, "]}")),
        ("unknown keys", fill("{", &|place| format!(r#""k{place}":1"#), "}")),
        (
            "components",
            fill(
                SCREEN,
                &|place| format!(r#"{{"type":"TextInput","name":"n{place}","label":"L"}}"#),
                "]}}]}",
            ),
        ),
        (
            "expressions",
            fill(
                SCREEN,
                &|place| format!(r#"{{"type":"TextBody","text":"`'a' ${{data.x{place}}} == ${{form.y}}`"}}"#),
                "]}}]}",
            ),
        ),
        ("one text", text),
        ("opening brackets", "[".repeat(MOST_BYTES - 1)),
    ]
}
