//! The login: one at a time for everybody, kept until shortly before it ends, dropped when it is refused.
//!
//! The password is read from its file, if it has one, at each login: it can be rotated while the service runs. How long
//! a token lives is what the answer says or what the token itself does, whichever is less; as a length, since the
//! platform's clock may not be ours, and from the moment at which it was asked for, since a slow login is part of it.
//! A token that says only when it ends is measured by the platform's own clock, the date of its answer, and by ours where
//! it has none.
//!
//! Those who wait while somebody logs in share the result, a failure included. So nobody waits longer than one
//! login takes, which the lease has room for.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use reqwest::Client;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::answer;
use crate::args::PartnerConfig;
use crate::platform::Login;
use crate::secret::Rotating;
use crate::wire::{in_json, send};
use crate::{NoPass, Pass, Proof};

/// How long before its end a token is replaced, at most; never more than a fifth of its life.
const MARGIN: Duration = Duration::from_secs(60);
/// For a platform that does not say how long its tokens live. One that ends sooner is refused and replaced.
const DEFAULT_LIFE: Duration = Duration::from_secs(300);
/// A login a day costs nothing, and the clock takes no length that has no end.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 3600);

/// A session with the platform.
pub(crate) struct Session {
    client: Client,
    endpoint: String,
    names: Login,
    user: String,
    password: Rotating<SecretString>,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    failed: Option<(Instant, NoPass)>,
}

struct Current {
    pass: Pass,
    renew_at: Instant,
}

impl Session {
    pub(crate) fn new(client: Client, partner: &PartnerConfig, timeout: Duration) -> Self {
        Self {
            client,
            endpoint: format!("{}{}", partner.base_url, partner.platform.login.path),
            names: partner.platform.login.clone(),
            user: partner.user.clone(),
            password: Rotating::new(partner.password.clone(), partner.password_file.clone(), Some),
            timeout,
            state: Mutex::default(),
        }
    }

    /// The token at hand, or a new one.
    pub(crate) async fn pass(&self) -> Result<Pass, NoPass> {
        let asked_at = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(current) = state.current.as_ref().filter(|current| asked_at < current.renew_at) {
            return Ok(current.pass.clone());
        }
        if let Some((_, why)) = state.failed.as_ref().filter(|(failed_at, _)| *failed_at >= asked_at) {
            return Err(why.clone());
        }
        self.log_in(&mut state).await
    }

    /// A new token, whatever is at hand.
    pub(crate) async fn renew(&self) -> Result<(), NoPass> {
        let mut state = self.state.lock().await;
        state.current = None;
        self.log_in(&mut state).await.map(|_| ())
    }

    /// Drops this token, unless it has been replaced meanwhile.
    pub(crate) async fn forget(&self, pass: &Pass) {
        let mut state = self.state.lock().await;
        if state.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.pass.0, &pass.0)) {
            state.current = None;
        }
    }

    async fn log_in(&self, state: &mut State) -> Result<Pass, NoPass> {
        let asked_at = Instant::now();
        match self.ask().await {
            Ok((pass, life)) => {
                let renew_at = asked_at + life.saturating_sub(MARGIN.min(life / 5));
                state.current = Some(Current { pass: pass.clone(), renew_at });
                Ok(pass)
            }
            Err(why) => {
                state.failed = Some((Instant::now(), why.clone()));
                Err(why)
            }
        }
    }

    async fn ask(&self) -> Result<(Pass, Duration), NoPass> {
        let password = self.password.now().await;
        let body: Map<String, Value> = [
            (self.names.user.clone(), Value::from(self.user.as_str())),
            (self.names.password.clone(), Value::from(password.expose_secret())),
        ]
        .into_iter()
        .collect();
        let request = in_json(self.client.post(&self.endpoint)).timeout(self.timeout).json(&body);
        let response = send(request).await.map_err(|failure| match failure.proof {
            Proof::Unbuilt => NoPass::Refused(0),
            Proof::NoConnection | Proof::NoAnswer | Proof::Answer(_) => NoPass::Unavailable(failure.detail),
        })?;
        let status = response.status().as_u16();
        match status {
            200..=299 => {}
            429 => return Err(NoPass::Throttled(answer::retry_after(response.headers()))),
            408 | 425 => return Err(NoPass::Unavailable(format!("http {status}"))),
            400..=499 => return Err(NoPass::Refused(status)),
            0..=199 | 300..=399 | 500..=u16::MAX => {
                return Err(NoPass::Unavailable(format!("http {status}")));
            }
        }
        let unreadable = || NoPass::Unavailable(format!("http {status} without a usable token"));
        let there = answer::date(response.headers());
        let body = answer::body(response, answer::MOST_BYTES).await.ok_or_else(unreadable)?;
        // Some answer with nothing but the token, as a JSON text or as it is.
        let reply = answer::json(&body).unwrap_or_else(|| String::from_utf8_lossy(&body).trim().into());
        let named = answer::at(&reply, &self.names.token).and_then(Value::as_str);
        let token = named.or_else(|| reply.as_str().filter(|text| is_jwt(text))).ok_or_else(unreadable)?;
        // It must fit into a header, or no request could be built with it.
        let fits = HeaderValue::try_from(token).is_ok_and(|value| !value.is_empty());
        if !fits {
            return Err(unreadable());
        }
        let told = answer::at(&reply, &self.names.expires_in).and_then(seconds);
        let life = told.into_iter().chain(own_life(token, there, Utc::now())).min().unwrap_or(DEFAULT_LIFE);
        Ok((Pass(token.into()), life.min(LONGEST_LIFE)))
    }
}

/// A length in seconds, number or text. None that is no length at all.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|length| !length.is_zero())
}

/// Whether a text by itself can only be a token: three parts, the first two of them JSON.
fn is_jwt(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    matches!(parts[..], [head, claims, _] if decode(head).is_some() && decode(claims).is_some())
}

/// A part of a JWT.
fn decode(part: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()?).ok()
}

/// How long a JWT lives by its own claims: from now on, by the clock of who made it, else from its own beginning, else from
/// now on by ours. A length that cannot be is that of another clock. Nothing is verified: the platform does that.
fn own_life(token: &str, there: Option<DateTime<Utc>>, here: DateTime<Utc>) -> Option<Duration> {
    let claims = decode(token.split('.').nth(1)?)?;
    let ends = claims.get("exp")?.as_f64()?;
    let seconds = |at: DateTime<Utc>| at.timestamp_micros() as f64 / 1e6;
    let begins = claims.get("iat").or_else(|| claims.get("nbf")).and_then(Value::as_f64);
    let since = [there.map(seconds), begins, Some(seconds(here))];
    let lengths = since.into_iter().flatten().map(|begins| Duration::try_from_secs_f64(ends - begins));
    lengths.filter_map(Result::ok).find(|length| !length.is_zero())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_life_is_a_number_or_a_text_of_seconds() {
        for (value, expected) in [
            (json!(300), Some(300)),
            (json!(300.5), Some(300)),
            (json!("3600"), Some(3600)),
            (json!(0), None),
            (json!(-1), None),
            (json!("soon"), None),
            (json!(null), None),
            (json!(1e300), None),
        ] {
            assert_eq!(seconds(&value).map(|life| life.as_secs()), expected, "{value}");
        }
    }

    #[test]
    fn a_token_says_how_long_it_lives_whatever_the_time_is_there() {
        let token = |claims: Value| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        let life = |claims, there: Option<i64>| {
            own_life(&token(claims), there.map(at), at(1_000_000)).map(|life| life.as_secs())
        };
        assert_eq!(life(json!({ "iat": 1_000, "exp": 1_090 }), None), Some(90));
        assert_eq!(life(json!({ "nbf": 1_000.5, "exp": 1_090.5 }), None), Some(90));
        // One that was made before and is given out again.
        assert_eq!(life(json!({ "iat": 1_000, "exp": 1_090 }), Some(1_060)), Some(30));
        // Without its beginning, by their clock, else by ours.
        assert_eq!(life(json!({ "exp": 1_090 }), Some(1_060)), Some(30));
        assert_eq!(life(json!({ "exp": 1_000_060 }), None), Some(60));
        assert_eq!(life(json!({ "exp": 1_000_060 }), Some(2_000_000)), Some(60));
        assert_eq!(life(json!({ "exp": 1_090 }), None), None, "their clock is another");
        assert_eq!(life(json!({ "iat": 1_090, "exp": 1_000 }), None), None);
        for other in ["opaque", "a.b", "a.e30.c", ""] {
            assert_eq!(own_life(other, None, at(0)), None, "{other}");
        }
    }

    #[test]
    fn only_a_token_is_taken_for_one_where_nothing_names_it() {
        assert!(is_jwt(&format!("{}.{}.", URL_SAFE_NO_PAD.encode("{}"), URL_SAFE_NO_PAD.encode("{}"))));
        for other in ["", "welcome", "www.city.example", "not. a. token", "<html>.<body>.x", "e30.e30"] {
            assert!(!is_jwt(other), "{other}");
        }
    }
}
