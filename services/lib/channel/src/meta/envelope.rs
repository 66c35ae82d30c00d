//! The wrapping of a webhook: entries, changes, and the pieces in them, as slices of the received text.
//!
//! Nothing inside a piece is looked at here, so what is wrong with one piece stays in it, and every piece can be kept
//! exactly as it came.

use serde_json::value::RawValue;

use crate::inbound::MOST_PIECES;
use crate::pieces::{Fields, elements, fields, present, string, whole};

/// One change of one entry.
pub(super) struct Change<'a> {
    /// Id of the account.
    pub(super) entry_id: Option<&'a RawValue>,
    /// What kind of change; empty where it is not said.
    pub(super) field: String,
    /// What changed.
    pub(super) value: Fields<'a>,
}

/// A webhook taken apart.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) changes: Vec<Change<'a>>,
    /// Entries and changes that are not objects.
    pub(super) unreadable: Vec<&'a RawValue>,
}

/// Why a text is no webhook, in words that quote nothing of it.
pub(super) fn open(text: &str) -> Result<Envelope<'_>, String> {
    let root = fields(whole(text)?).ok_or("not a JSON object")?;
    let entries = root.get("entry").and_then(|raw| elements(raw)).ok_or("has no array `entry`")?;
    let mut envelope = Envelope::default();
    for raw in entries {
        if envelope.changes.len() + envelope.unreadable.len() > MOST_PIECES {
            return Err(format!("more than {MOST_PIECES} changes in one body"));
        }
        match fields(raw) {
            Some(entry) => envelope.add(&entry, raw),
            None => envelope.unreadable.push(raw),
        }
    }
    if envelope.changes.len() > MOST_PIECES {
        return Err(format!("more than {MOST_PIECES} changes in one body"));
    }
    Ok(envelope)
}

impl<'a> Envelope<'a> {
    fn add(&mut self, entry: &Fields<'a>, raw: &'a RawValue) {
        let changes = match present(entry, "changes").map(elements) {
            None => return,
            Some(Some(changes)) => changes,
            Some(None) => return self.unreadable.push(raw),
        };
        for raw in changes.into_iter() {
            let change = fields(raw).and_then(|change| {
                let field = change.get("field").and_then(|raw| string(raw)).unwrap_or_default();
                let value = change.get("value").and_then(|raw| fields(raw));
                // News of other fields is acknowledged whatever it is; only messages could be lost in what is no object.
                let value = if of_messages(&field) { value? } else { value.unwrap_or_default() };
                Some(Change { entry_id: present(entry, "id"), field, value })
            });
            match change {
                Some(change) => self.changes.push(change),
                None => self.unreadable.push(raw),
            }
        }
    }
}

/// Whether a change of this field may bring messages and statuses; so may one that does not say what it is.
pub(super) fn of_messages(field: &str) -> bool {
    matches!(field, "messages" | "")
}

/// What is shared by many pieces is copied into each that is kept, so only as much of it as anybody sends in earnest.
const LONGEST_SHARED: usize = 2048;

/// A webhook that holds this one piece and nothing else, so that a piece kept for later can be replayed through the
/// same parser. `contact` is the sender's contact, where the piece has one.
pub(super) fn alone(
    change: &Change<'_>,
    list: &str,
    piece: &RawValue,
    contact: Option<&RawValue>,
) -> Vec<u8> {
    let short = |raw: &&RawValue| raw.get().len() <= LONGEST_SHARED;
    let or_null = |raw: Option<&RawValue>| raw.filter(short).map_or("null", RawValue::get).to_owned();
    let contact = contact.filter(short);
    let contacts = contact.map_or_else(String::new, |raw| format!(r#""contacts":[{}],"#, raw.get()));
    format!(
        concat!(
            r#"{{"object":"whatsapp_business_account","entry":[{{"id":{},"changes":[{{"field":"messages","#,
            r#""value":{{"messaging_product":"whatsapp","metadata":{},{}"{}":[{}]}}}}]}}]}}"#
        ),
        or_null(change.entry_id),
        or_null(present(&change.value, "metadata")),
        contacts,
        list,
        piece.get(),
    )
    .into_bytes()
}
