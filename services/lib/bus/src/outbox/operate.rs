//! What a person does to a report in the outbox by hand.
//!
//! Each is one statement that locks, checks, changes and notes who did it and why in `report.push_act`, so that it cannot
//! be done half way and cannot meet a worker half way: a report that a worker holds is left alone, and so is one whose
//! last request may still be on its way. With the owner's rights only: no service may.

use sqlx::PgConnection;

use crate::operate::Act;

/// How a report stood when it was locked, and whether the act was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acted {
    /// Its state before.
    pub push_state: String,
    /// A worker holds it, or its last request may still be on its way.
    pub under_way: bool,
    /// It was changed.
    pub done: bool,
}

/// Gives a report up without sending it: it is dead. From pending and review. None: no report has this reference.
///
/// # Errors
/// The database's.
pub async fn discard(
    on: &mut PgConnection,
    reference: &str,
    act: Act<'_>,
) -> Result<Option<Acted>, sqlx::Error> {
    sqlx::query_file_as!(Acted, "src/store/discard_report.sql", reference, act.by, act.because)
        .fetch_optional(on)
        .await
}

/// Says that the partner has a report, under this id. One that is sent already gets another id only by `force`.
///
/// # Errors
/// The database's.
pub async fn resolve_as_sent(
    on: &mut PgConnection,
    reference: &str,
    partner_id: &str,
    force: bool,
    act: Act<'_>,
) -> Result<Option<Acted>, sqlx::Error> {
    sqlx::query_file_as!(
        Acted,
        "src/store/resolve_report.sql",
        reference,
        partner_id,
        force,
        act.by,
        act.because
    )
    .fetch_optional(on)
    .await
}

/// Says that the partner does not have a report: it starts anew, its attempts given back. From review and dead; from
/// sent only by `force`, which can send a second crew.
///
/// # Errors
/// The database's.
pub async fn resend(
    on: &mut PgConnection,
    reference: &str,
    without_photo: bool,
    force: bool,
    act: Act<'_>,
) -> Result<Option<Acted>, sqlx::Error> {
    sqlx::query_file_as!(
        Acted,
        "src/store/resend_report.sql",
        reference,
        without_photo,
        force,
        act.by,
        act.because
    )
    .fetch_optional(on)
    .await
}
