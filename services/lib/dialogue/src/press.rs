//! The ids of buttons and list rows: `<what>:<value>:<token of the prompt>`.

use uuid::Uuid;

use crate::Language;

/// What a button or row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A language.
    Language(Language),
    /// Yes or no to a candidate.
    Confirm(bool),
    /// A candidate by its place in the list, or none of them.
    Pick(Option<usize>),
}

/// A parsed id; some clients drop the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Press {
    pub(crate) choice: Choice,
    pub(crate) token: Option<Uuid>,
}

/// Writes an id.
pub(crate) fn id(choice: Choice, token: Uuid) -> String {
    match choice {
        Choice::Language(language) => format!("language:{}:{token}", language.as_str()),
        Choice::Confirm(true) => format!("confirm:yes:{token}"),
        Choice::Confirm(false) => format!("confirm:no:{token}"),
        Choice::Pick(Some(index)) => format!("choose:{index}:{token}"),
        Choice::Pick(None) => format!("choose:none:{token}"),
    }
}

/// Reads an id; `None` when it is not one of ours.
pub(crate) fn parse(id: &str) -> Option<Press> {
    let mut parts = id.trim().splitn(3, ':');
    let (what, value) = (parts.next()?, parts.next()?);
    let token = match parts.next() {
        None => None,
        Some(text) => Some(Uuid::parse_str(text).ok()?),
    };
    let choice = match (what, value) {
        ("language", code) => Choice::Language(Language::parse(code)?),
        ("confirm", "yes") => Choice::Confirm(true),
        ("confirm", "no") => Choice::Confirm(false),
        ("choose", "none") => Choice::Pick(None),
        ("choose", index) => Choice::Pick(Some(index.parse().ok()?)),
        (_, _) => return None,
    };
    Some(Press { choice, token })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_what_was_written() {
        let token = Uuid::from_u128(7);
        for choice in [
            Choice::Language(Language::Es),
            Choice::Language(Language::Eu),
            Choice::Confirm(true),
            Choice::Confirm(false),
            Choice::Pick(Some(3)),
            Choice::Pick(None),
        ] {
            let written = id(choice, token);
            assert_eq!(parse(&written), Some(Press { choice, token: Some(token) }));
            let bare = written.rsplit_once(':').unwrap().0;
            assert_eq!(parse(bare), Some(Press { choice, token: None }), "{bare}");
        }
    }

    #[test]
    fn foreign_ids_are_not_ours() {
        for id in
            ["", "language", "language:fr", "choose:-1", "confirm:maybe", "language:es:not-a-token", "x:y:z"]
        {
            assert_eq!(parse(id), None, "{id}");
        }
    }
}
