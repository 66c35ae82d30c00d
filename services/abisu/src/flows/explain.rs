//! What the Graph API says about forms, in words that name what to do.

use anyhow::anyhow;
use channel::meta::{FlowError, FlowProblem};
use flow_json::FlowDocument;

use crate::Failure;

/// The form cannot be updated.
const CANNOT_UPDATE: i64 = 139_001;

/// Whether the form refuses edits, so that a copy must carry the document.
pub(super) fn cannot_update(error: &FlowError) -> bool {
    matches!(error, FlowError::Call(call) if call.code == Some(CANNOT_UPDATE))
}

/// A call that failed.
pub(super) fn explain(error: FlowError) -> Failure {
    let hint = match &error {
        FlowError::Call(call) => match call.code {
            Some(100) => "a parameter is refused: check ABISU_META_WABA_ID; the form's name may be taken",
            Some(139_000) => "the account is held back by an integrity check: see the WhatsApp Manager",
            Some(CANNOT_UPDATE) => "the form was stored and not processed: run this again",
            Some(139_002) => {
                "the form cannot be published: the account needs a verified business and a phone number, and the form no errors"
            }
            _ => "check ABISU_META_GRAPH_URL, ABISU_META_WABA_ID and the access token",
        },
        FlowError::Invalid(_) => "the form has errors",
        FlowError::Upload => "the upload cannot be made",
    };
    Failure::Failed(anyhow::Error::new(error).context(format!("Graph API: {hint}")))
}

/// What the platform's linter found, each at our line and with the key that caused it.
pub(super) fn refused(
    problems: &[FlowProblem],
    form: &FlowDocument,
    shown: impl Fn(&str) -> String,
) -> Failure {
    let mut lines = vec![format!("the Graph API refuses the form with {} error(s)", problems.len())];
    for problem in problems {
        let key = problem.path.as_deref().and_then(|path| form.keys.find(&pointer(path)));
        let key = key.map(|key| format!("{}: ", shown(key))).unwrap_or_default();
        let text = problem
            .line
            .and_then(|line| form.json.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?))
            .map(|line| format!(": {}", line.trim()));
        lines.push(format!("{key}{problem}{}", text.unwrap_or_default()));
    }
    Failure::Failed(anyhow!(lines.join("\n")))
}

/// `screens[0].layout.children[1].text` as a JSON pointer.
fn pointer(path: &str) -> String {
    let names = path.split(['.', '[', ']']).filter(|name| !name.is_empty());
    names.fold(String::new(), |pointer, name| pointer + "/" + name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_platform_is_shown_at_our_key_and_line() {
        let taxonomy = flow_json::Taxonomy::builtin().unwrap();
        let form = flow_json::generate(&taxonomy, "es").unwrap();
        let line = form.json.lines().position(|line| line.contains("Enviar aviso")).unwrap() + 1;
        let problem = FlowProblem {
            code: "NEW_CODE".to_owned(),
            message: "Something".to_owned(),
            line: i64::try_from(line).ok(),
            path: Some("screens[10].layout.children[6].label".to_owned()),
        };
        let said = refused(&[problem], &form, str::to_owned).to_string();
        assert!(said.contains("\ncatalogs/es.yaml: form.submit: NEW_CODE: Something"), "{said}");
        assert!(said.ends_with(": \"label\": \"Enviar aviso\","), "{said}");
    }
}
