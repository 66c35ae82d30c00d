//! Which form of the account carries a document: one that was begun for it, the one that is live, a new one.

use channel::meta::Flow;

/// What is done to bring a document on the account.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'f> {
    /// Update this form in place.
    Update(&'f Flow),
    /// Make one of this name.
    Create(String),
}

/// A throttled form is sent as well, only slowly.
pub(super) fn sends(flow: &Flow) -> bool {
    matches!(flow.status.as_str(), "PUBLISHED" | "THROTTLED")
}

/// The platform takes a new document for drafts and published forms.
fn takes_edits(flow: &Flow) -> bool {
    matches!(flow.status.as_str(), "DRAFT" | "PUBLISHED")
}

/// The plain name of a language's form on a channel, and the name of a copy for one document, made where the form
/// refuses edits. Both are unique in an account, so a run that was cut finds what it had begun.
pub(super) fn names(channel: &str, language: &str, hash: &str) -> (String, String) {
    let plain = format!("abisu-{channel}-{language}");
    let copy = format!("{plain}-{}", hash.get(..8).unwrap_or(hash));
    (plain, copy)
}

/// `live` is the provider's id of the newest release; `refused` are forms that would not take this document.
pub(super) fn choose<'f>(
    listed: &'f [Flow],
    (plain, copy): (&str, &str),
    live: Option<&str>,
    refused: &[String],
) -> Target<'f> {
    let usable = |flow: &&Flow| takes_edits(flow) && !refused.contains(&flow.id);
    let named = |name: &str| listed.iter().find(|flow| flow.name == name);
    let begun = named(copy).filter(usable);
    let current = listed.iter().find(|flow| live == Some(flow.id.as_str())).filter(usable);
    if let Some(flow) = begun.or(current).or_else(|| named(plain).filter(usable)) {
        return Target::Update(flow);
    }
    // A name that is taken stays taken, whatever became of its form.
    let free = |name: &String| named(name).is_none();
    let numbered = (2..).map(|number| format!("{copy}-{number}"));
    let name = [plain.to_owned(), copy.to_owned()].into_iter().chain(numbered).find(free);
    Target::Create(name.unwrap_or_else(|| copy.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(id: &str, name: &str, status: &str) -> Flow {
        Flow { id: id.to_owned(), name: name.to_owned(), status: status.to_owned() }
    }

    #[test]
    fn the_live_form_is_updated_where_it_takes_edits_and_copied_where_it_does_not() {
        let names = ("p", "c");
        let update = |listed: &[Flow], live: Option<&str>, refused: &[&str]| {
            let refused: Vec<String> = refused.iter().map(|id| (*id).to_owned()).collect();
            match choose(listed, names, live, &refused) {
                Target::Update(flow) => flow.id.clone(),
                Target::Create(name) => format!("new {name}"),
            }
        };
        let all = [flow("1", "p", "PUBLISHED"), flow("2", "other", "PUBLISHED")];
        assert_eq!(update(&[], None, &[]), "new p");
        assert_eq!(update(&all, None, &[]), "1");
        assert_eq!(update(&all, Some("2"), &[]), "2");
        assert_eq!(update(&all, Some("2"), &["2"]), "1");
        assert_eq!(update(&all, Some("1"), &["1"]), "new c");
        let blocked = [flow("1", "p", "DEPRECATED")];
        assert_eq!(update(&blocked, Some("1"), &[]), "new c");
        let begun = [flow("1", "p", "PUBLISHED"), flow("3", "c", "DRAFT")];
        assert_eq!(update(&begun, Some("1"), &[]), "3");
        let spent = [flow("1", "p", "DEPRECATED"), flow("3", "c", "BLOCKED")];
        assert_eq!(update(&spent, Some("1"), &[]), "new c-2");
    }
}
