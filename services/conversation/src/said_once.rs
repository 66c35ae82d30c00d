//! Words that the shell says on its own account, each once for what causes it.
//!
//! The id of such a reply is made from its cause, so however often the cause is met, by whatever process, one reply
//! comes of it.

use bus::outbound::{NewOutbound, enqueue_once};
use chrono::{DateTime, Utc};
use dialogue::{Notice, Session};
use sqlx::PgConnection;
use uuid::Uuid;

/// Where a word is said.
#[derive(Debug, Clone)]
pub(crate) struct Ear {
    pub(crate) channel: String,
    pub(crate) chat_id: Uuid,
    /// When its window closes.
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) trace_context: Option<String>,
}

/// Says `notice` to a chat, once for `cause`. True: it was said now. Locks the sender.
pub(crate) async fn say_once(
    tx: &mut PgConnection,
    ear: &Ear,
    session: &Session,
    cause: Uuid,
    notice: Notice,
) -> Result<bool, bus::Error> {
    // A notice is one message.
    let Some(reply) = dialogue::notice(session, notice).into_iter().next() else { return Ok(false) };
    let outbound = NewOutbound {
        id: id_of(cause, notice),
        payload: serde_json::to_value(&reply.body).map_err(|error| sqlx::Error::Encode(error.into()))?,
        prompt: reply.prompt,
        // Not a step of a report: neither its form nor its reference.
        report_id: None,
    };
    enqueue_once(tx, &ear.channel, ear.chat_id, ear.expires_at, ear.trace_context.as_deref(), outbound).await
}

/// A UUID of version 8, another for every pair of cause and notice.
fn id_of(cause: Uuid, notice: Notice) -> Uuid {
    let salt: u8 = match notice {
        Notice::OneMoment => 1,
        Notice::FormDelayed => 2,
        Notice::UpdateApp => 3,
        Notice::PhotoAgain => 4,
        Notice::DraftGone => 5,
    };
    let mut bytes = cause.into_bytes();
    bytes[6] = 0x80 | (bytes[6] & 0x0f);
    // The last byte of a cause is random; turning it with a salt keeps causes apart.
    bytes[15] ^= salt;
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_one_id_for_each_notice_and_never_its_own() {
        let cause = Uuid::now_v7();
        let all = [
            Notice::OneMoment,
            Notice::FormDelayed,
            Notice::UpdateApp,
            Notice::PhotoAgain,
            Notice::DraftGone,
        ];
        let mut ids: Vec<Uuid> = all.map(|notice| id_of(cause, notice)).to_vec();
        assert_eq!(ids[0], id_of(cause, Notice::OneMoment));
        assert_eq!(ids[0].get_version_num(), 8);
        ids.push(cause);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all.len() + 1);
    }
}
