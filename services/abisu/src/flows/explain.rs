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
            Some(code) => known(code, call.subcode),
            None => match call.http_status {
                Some(401 | 403) => TOKEN,
                Some(_) => "check ABISU_META_GRAPH_URL and ABISU_META_GRAPH_VERSION",
                None => "check ABISU_META_GRAPH_URL; run this again, nothing is made twice",
            },
        },
        FlowError::Invalid(_) => "the form has errors",
        FlowError::Upload => "the upload cannot be made",
    };
    Failure::Failed(anyhow::Error::new(error).context(format!("Graph API: {hint}")))
}

const TOKEN: &str = "the access token is refused: make a new one of a system user (ABISU_META_ACCESS_TOKEN)";

/// The errors of an account, and what to do.
fn known(code: i64, subcode: Option<i64>) -> &'static str {
    match (code, subcode) {
        (100, Some(33)) => {
            "there is no such account, or the token may not see it: check ABISU_META_WABA_ID, and that the system user \
             has the account among its assets"
        }
        (100, _) => "a parameter is refused: check ABISU_META_WABA_ID; the form's name may be taken",
        (0 | 190, _) => TOKEN,
        (3 | 10 | 200..=299, _) => {
            "the token may not do this: it needs whatsapp_business_management, and the system user full control of the \
             account"
        }
        (1 | 2, _) => "the platform has a passing fault: run this again",
        (4 | 17 | 613 | 80_007 | 130_429, _) => {
            "too many calls in an hour: wait and run this again, it goes on where it stopped"
        }
        (368 | 131_031, _) => {
            "the account is restricted for a violation of policy, or locked: see the WhatsApp Manager, Account quality"
        }
        (2500, _) => "no such path: check ABISU_META_GRAPH_VERSION and ABISU_META_GRAPH_URL",
        (2635, _) => "this version of the Graph API is no longer served: raise ABISU_META_GRAPH_VERSION",
        (139_000, _) => "the account is held back by an integrity check: see the WhatsApp Manager",
        (CANNOT_UPDATE, _) => "the form was stored and not processed: run this again",
        (139_002, _) => {
            "the form cannot be published: the account needs a verified business and a phone number, and the form no errors"
        }
        (139_003, _) => "the form cannot be taken out of use: it was never published",
        (139_004, _) => "a published form cannot be deleted, only deprecated",
        _ => "check ABISU_META_GRAPH_URL, ABISU_META_WABA_ID and the access token",
    }
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
