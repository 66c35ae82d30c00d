//! Citizens: who they are, and what they see.

use std::time::{Duration, SystemTime};

use axum::{
    Json,
    extract::{Path, Query, State as Extract},
    http::StatusCode,
};
use rand::{Rng as _, distr::Alphanumeric};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Answer, ControlError};
use crate::{
    meta::is_user_id,
    state::{Citizen, Shared},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    name: String,
    /// Absent or null: the person is known by the business-scoped id alone.
    phone: Option<String>,
    user_id: Option<String>,
    language: Option<String>,
}

pub(super) async fn create(Extract(state): Extract<Shared>, Json(body): Json<Create>) -> Answer {
    let Create { name, phone, user_id, language } = body;
    let phone = phone.map(|phone| phone.trim_start_matches('+').to_owned());
    if phone.as_ref().is_some_and(|phone| {
        !(7..=15).contains(&phone.len()) || !phone.bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return Err(ControlError::unprocessable("phone must be 7 to 15 digits"));
    }
    let user_id = user_id.unwrap_or_else(|| {
        let letters = rand::rng().sample_iter(Alphanumeric).take(24).map(char::from);
        format!("ES.{}", letters.collect::<String>())
    });
    if !is_user_id(&user_id) {
        return Err(ControlError::unprocessable("user_id is not a business-scoped user id"));
    }
    let mut inner = state.lock();
    let taken = |other: &Citizen| other.user_id == user_id || (phone.is_some() && other.phone == phone);
    if inner.citizens.iter().any(taken) {
        return Err(ControlError::new(StatusCode::CONFLICT, "phone or user_id is taken"));
    }
    let id = (inner.citizens.len() + 1).to_string();
    let citizen = Citizen {
        id: id.clone(),
        name,
        phone,
        user_id: user_id.clone(),
        language,
        wrote_at: None,
        messages: Vec::new(),
        seen: watch::Sender::default(),
    };
    inner.citizens.push(citizen);
    Ok(Json(json!({"id": id, "user_id": user_id})))
}

pub(super) async fn list(Extract(state): Extract<Shared>) -> Json<Value> {
    let inner = state.lock();
    let shown = inner.citizens.iter().map(|one| {
        json!({"id": one.id, "name": one.name, "phone": one.phone, "user_id": one.user_id,
               "language": one.language, "messages": one.messages.len()})
    });
    Json(shown.collect())
}

pub(super) async fn messages(Extract(state): Extract<Shared>, Path(id): Path<String>) -> Answer {
    let mut inner = state.lock();
    let citizen = inner.citizen(&id).ok_or_else(|| ControlError::not_found("citizen"))?;
    Ok(Json(citizen.messages.iter().map(|message| message.to_json()).collect()))
}

#[derive(Deserialize)]
pub(super) struct Wait {
    /// Indexes start at 1, so 0 means from the beginning.
    #[serde(default)]
    after: i64,
    direction: Option<String>,
    count: Option<usize>,
    timeout_ms: Option<u64>,
}

/// Waits until at least `count` messages came after an index, then returns all of them.
pub(super) async fn wait(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(wait): Query<Wait>,
) -> Answer {
    let outgoing = match wait.direction.as_deref() {
        Some("out") => Some(true),
        Some("in") => Some(false),
        None => None,
        Some(_) => return Err(ControlError::unprocessable("direction is in or out")),
    };
    let mut changes = {
        let mut inner = state.lock();
        inner.citizen(&id).ok_or_else(|| ControlError::not_found("citizen"))?.seen.subscribe()
    };
    let enough = async {
        loop {
            changes.mark_unchanged();
            let found: Vec<Value> = {
                let mut inner = state.lock();
                let citizen = inner.citizen(&id).ok_or_else(|| ControlError::not_found("citizen"))?;
                let after = |index: usize| i64::try_from(index).unwrap_or(i64::MAX) > wait.after;
                citizen
                    .messages
                    .iter()
                    .filter(|one| after(one.index) && outgoing.is_none_or(|way| way == one.outgoing))
                    .map(|one| one.to_json())
                    .collect()
            };
            if found.len() >= wait.count.unwrap_or(1) {
                return Ok(Json(Value::Array(found)));
            }
            // The sender lives in the state, which outlives this request.
            drop(changes.changed().await);
        }
    };
    let limit = Duration::from_millis(wait.timeout_ms.unwrap_or(10_000));
    let late = |_| ControlError::new(StatusCode::REQUEST_TIMEOUT, "the messages did not come in time");
    tokio::time::timeout(limit, enough).await.map_err(late)?
}

#[derive(Deserialize)]
pub(super) struct Feed {
    /// Messages of all conversations that are known already.
    #[serde(default)]
    after: usize,
    timeout_ms: Option<u64>,
}

/// Waits until more messages are on anybody's phone than are known, then returns those, each with whose it is. One
/// question for a whole crowd.
pub(super) async fn feed(Extract(state): Extract<Shared>, Query(feed): Query<Feed>) -> Answer {
    let mut changes = state.subscribe();
    let more = changes.wait_for(|seen| *seen > feed.after);
    let limit = Duration::from_millis(feed.timeout_ms.unwrap_or(10_000));
    let late = |_| ControlError::new(StatusCode::REQUEST_TIMEOUT, "nobody got a message in time");
    // The sender lives in the state, which outlives this request.
    drop(tokio::time::timeout(limit, more).await.map_err(late)?);
    let inner = state.lock();
    let new = inner.feed.iter().skip(feed.after).map(|&(place, index)| {
        let citizen = &inner.citizens[place];
        let mut shown = citizen.messages[index - 1].to_json();
        shown["citizen"] = json!(citizen.id);
        shown
    });
    Ok(Json(new.collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Silence {
    hours: u64,
}

/// Moves the citizen's last message into the past, to close the 24-hour window.
pub(super) async fn silence(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Json(Silence { hours }): Json<Silence>,
) -> Answer {
    let mut inner = state.lock();
    let citizen = inner.citizen(&id).ok_or_else(|| ControlError::not_found("citizen"))?;
    citizen.wrote_at = SystemTime::now().checked_sub(Duration::from_secs(hours.saturating_mul(3600)));
    Ok(Json(json!({})))
}
