//! The login: one at a time for everybody, kept until shortly before it ends, dropped when it is refused.
//!
//! The password is read from its file, if it has one, at each login: it can be rotated while the service runs. How long
//! a token lives is what the answer says or what the token itself does, whichever is less; as a length, since the
//! platform's clock may not be ours, and from the moment at which it was asked for, since a slow login is part of it.
//!
//! Those who wait while somebody logs in share the result, a failure included. So nobody waits longer than one
//! login takes, which the lease has room for.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
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
use crate::wire::send;
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
        let request = self.client.post(&self.endpoint).timeout(self.timeout).json(&body);
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
        let body = answer::body(response, answer::MOST_BYTES).await.ok_or_else(unreadable)?;
        let reply = answer::json(&body).ok_or_else(unreadable)?;
        let token = answer::at(&reply, &self.names.token).and_then(Value::as_str).ok_or_else(unreadable)?;
        // It must fit into a header, or no request could be built with it.
        let fits = HeaderValue::try_from(token).is_ok_and(|value| !value.is_empty());
        if !fits {
            return Err(unreadable());
        }
        let told = answer::at(&reply, &self.names.expires_in).and_then(seconds);
        let life = told.into_iter().chain(own_life(token)).min().unwrap_or(DEFAULT_LIFE);
        Ok((Pass(token.into()), life.min(LONGEST_LIFE)))
    }
}

/// A length in seconds, number or text. None that is no length at all.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|length| !length.is_zero())
}

/// How long a JWT lives by its own claims. Nothing is verified: the platform does that.
fn own_life(token: &str) -> Option<Duration> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let ends = claims.get("exp")?.as_f64()?;
    let begins = claims.get("iat").or_else(|| claims.get("nbf"))?.as_f64()?;
    Duration::try_from_secs_f64(ends - begins).ok().filter(|length| !length.is_zero())
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
        let life = |claims| own_life(&token(claims)).map(|life| life.as_secs());
        assert_eq!(life(json!({ "iat": 1_000, "exp": 1_090 })), Some(90));
        assert_eq!(life(json!({ "nbf": 1_000.5, "exp": 1_090.5 })), Some(90));
        // Without its beginning, only a clock that is the same as theirs would tell.
        assert_eq!(life(json!({ "exp": 1_090 })), None);
        assert_eq!(life(json!({ "iat": 1_090, "exp": 1_000 })), None);
        for other in ["opaque", "a.b", "a.e30.c", ""] {
            assert_eq!(own_life(other), None, "{other}");
        }
    }
}
