//! The link by which a platform that takes no bytes fetches a photo: `{base}/media/{token}`.
//!
//! The token names the photo and the moment until which it may be fetched, and is signed with a secret that only its
//! maker (`partner-push`) and its reader (`ingest`) know. Nothing is looked up to tell a true one from a false one, and
//! nothing of the citizen is in it: a photo is named by the hash of its bytes.
//!
//! ```text
//! version 1 │ end, seconds since 1970 │ SHA-256 of the photo │ HMAC-SHA-256 of all before it     base64url, 98 letters
//!    1 byte │                 8 bytes │             32 bytes │                      32 bytes
//! ```
//! The end is rounded up to the hour, so that a report that is tried again soon is the same request byte for byte.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac};
use runtime::ConfigError;
use runtime::config::{optional_secret, parse_base_url};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::secret::Rotating;

/// What names a photo: the SHA-256 of its bytes.
pub type PhotoId = [u8; 32];

/// Of what is signed, as its first byte.
const VERSION: u8 = 1;
/// Keeps the signature from being one of anything else that is signed with the same secret.
const PURPOSE: &[u8] = b"abisu media link";
const SIGNED: usize = 1 + 8 + 32;
const TOKEN: usize = SIGNED + 32;
/// One, or the old and the new one while it is rotated.
const MOST_SECRETS: usize = 2;
/// A shorter one can be guessed.
const SHORTEST_SECRET: usize = 16;
const HOUR: i64 = 3600;
/// Shorter than an hour would end before a slow platform comes; longer than a season is no expiry.
const LIFETIMES: (Duration, Duration) = (Duration::from_secs(3600), Duration::from_secs(90 * 24 * 3600));

/// The secret that links are signed with.
#[derive(Clone, clap::Args)]
pub struct MediaSecretArgs {
    /// Secret that links to photos are signed with, at least 16 characters; two, separated by a comma, while it is
    /// rotated: the first signs, both are accepted
    #[arg(long, env = "ABISU_MEDIA_SECRET", hide_env_values = true)]
    media_secret: Option<String>,
    /// File that holds the secret of the links
    #[arg(long, env = "ABISU_MEDIA_SECRET_FILE")]
    media_secret_file: Option<PathBuf>,
}

/// How links to photos are made.
#[derive(Clone, clap::Args)]
pub struct MediaArgs {
    #[command(flatten)]
    secret: MediaSecretArgs,
    /// Where ingest can be reached from outside, before /media; needed by a platform that takes photos as links
    #[arg(long, env = "ABISU_MEDIA_URL")]
    media_url: Option<String>,
    /// How long a link to a photo works (1h to 90d)
    #[arg(long, env = "ABISU_MEDIA_LIFETIME", default_value = "7d", value_parser = parse_lifetime)]
    media_lifetime: Duration,
}

/// Signs and verifies.
#[derive(Debug, Clone)]
pub struct MediaKeys {
    /// The first signs, all are accepted.
    secrets: Vec<SecretString>,
}

/// Makes links.
#[derive(Debug, Clone)]
pub struct MediaLinks {
    /// Read again for each link, where they are in a file: they are rotated while the service runs.
    keys: Rotating<MediaKeys>,
    /// Without a slash at the end.
    base_url: String,
    lifetime: Duration,
}

/// Why a token opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It was not signed with one of the secrets, or is not even of a token's form.
    #[error("the link is not one of ours")]
    Forged,
    /// It is genuine, and its time is over.
    #[error("the link has expired")]
    Expired,
}

impl MediaSecretArgs {
    /// The file that holds the secret, where one was given.
    pub fn file(&self) -> Option<&Path> {
        self.media_secret_file.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// The keys, if a secret is given.
    ///
    /// # Errors
    /// It stands in two places, its file cannot be read, or it is none that may be used.
    pub fn config(self) -> Result<Option<MediaKeys>, ConfigError> {
        let Self { media_secret, media_secret_file } = self;
        optional_secret("ABISU_MEDIA_SECRET", media_secret, media_secret_file)?
            .map(|secret| MediaKeys::parse(&secret))
            .transpose()
    }
}

impl MediaArgs {
    /// What makes links, if that is configured.
    ///
    /// # Errors
    /// The secret or the address is not usable, or one is given without the other.
    pub fn config(self) -> Result<Option<MediaLinks>, ConfigError> {
        let Self { secret, media_url, media_lifetime } = self;
        let file = secret.file().map(Path::to_owned);
        let given = |name, problem: &str| Err(ConfigError::invalid(name, problem));
        match (secret.config()?, media_url.filter(|url| !url.is_empty())) {
            (None, None) => Ok(None),
            (Some(_), None) => {
                given("ABISU_MEDIA_URL", "not set, but ABISU_MEDIA_SECRET is; set both or neither")
            }
            (None, Some(_)) => {
                given("ABISU_MEDIA_SECRET", "not set, but ABISU_MEDIA_URL is; set both or neither")
            }
            (Some(keys), Some(url)) => {
                let base_url = parse_base_url(&url)
                    .and_then(crate::args::without_extras)
                    .map_err(|problem| ConfigError::invalid("ABISU_MEDIA_URL", problem))?;
                let keys = Rotating::new(keys, file, |text| MediaKeys::parse(&text).ok());
                Ok(Some(MediaLinks { keys, base_url, lifetime: media_lifetime }))
            }
        }
    }
}

impl MediaKeys {
    /// One secret, or two separated by a comma.
    ///
    /// # Errors
    /// None, too many, or one that is too short.
    pub fn parse(joined: &SecretString) -> Result<Self, ConfigError> {
        let secrets: Vec<SecretString> = joined
            .expose_secret()
            .split(',')
            .map(str::trim)
            .filter(|secret| !secret.is_empty())
            .map(SecretString::from)
            .collect();
        let refuse = |problem: &str| Err(ConfigError::invalid("ABISU_MEDIA_SECRET", problem));
        if secrets.is_empty() || secrets.len() > MOST_SECRETS {
            return refuse("must be one secret, or two separated by a comma");
        }
        if secrets.iter().any(|secret| secret.expose_secret().len() < SHORTEST_SECRET) {
            return refuse("must have at least 16 characters");
        }
        Ok(Self { secrets })
    }

    /// What opens `photo` until `end`, in seconds since 1970.
    pub fn token(&self, photo: &PhotoId, end: i64) -> String {
        let mut bytes = Vec::with_capacity(TOKEN);
        bytes.push(VERSION);
        bytes.extend_from_slice(&end.to_be_bytes());
        bytes.extend_from_slice(photo);
        // There is always a first one.
        if let Some(secret) = self.secrets.first() {
            let signature = mac(secret, &bytes).finalize().into_bytes();
            bytes.extend_from_slice(&signature);
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The photo that a token opens at `now`, in seconds since 1970. The signature is compared in constant time.
    ///
    /// # Errors
    /// It opens nothing.
    pub fn open(&self, token: &str, now: i64) -> Result<PhotoId, Refused> {
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Refused::Forged)?;
        let (signed, signature) = bytes.split_at_checked(SIGNED).ok_or(Refused::Forged)?;
        let genuine = self.secrets.iter().any(|secret| mac(secret, signed).verify_slice(signature).is_ok());
        let (&version, rest) = signed.split_first().ok_or(Refused::Forged)?;
        let (end, photo) = rest.split_first_chunk::<8>().ok_or(Refused::Forged)?;
        let photo = photo.try_into().map_err(|_| Refused::Forged)?;
        match genuine && version == VERSION {
            false => Err(Refused::Forged),
            true if now >= i64::from_be_bytes(*end) => Err(Refused::Expired),
            true => Ok(photo),
        }
    }
}

impl MediaLinks {
    /// The address at which a photo can be fetched from `now` on for at least the lifetime.
    pub async fn link(&self, bytes: &[u8], now: DateTime<Utc>) -> String {
        // A lifetime is at most 90 days.
        let lifetime = i64::try_from(self.lifetime.as_secs()).unwrap_or(i64::MAX);
        let end = now.timestamp().saturating_add(lifetime);
        let end = end.saturating_add(HOUR - 1).div_euclid(HOUR).saturating_mul(HOUR);
        let token = self.keys.now().await.token(&Sha256::digest(bytes).into(), end);
        format!("{}/media/{token}", self.base_url)
    }
}

fn mac(secret: &SecretString, signed: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes());
    mac.expect("HMAC takes a key of any length").chain_update(PURPOSE).chain_update(signed)
}

/// `7d`, `12h`, `90m`, `3600s`.
fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let problem = || "a length from 1h to 90d, as 7d, 12h or 90m".to_owned();
    let (at, unit) = text.char_indices().last().ok_or_else(problem)?;
    let count: u64 = text[..at].parse().map_err(|_| problem())?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return Err(problem()),
    };
    let lifetime = count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(problem)?;
    if (LIFETIMES.0..=LIFETIMES.1).contains(&lifetime) { Ok(lifetime) } else { Err(problem()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHOTO: PhotoId = [7; 32];

    fn keys(secret: &str) -> MediaKeys {
        MediaKeys::parse(&secret.into()).unwrap()
    }

    #[test]
    fn a_token_opens_its_photo_until_its_end() {
        let keys = keys("a secret of sixteen");
        let token = keys.token(&PHOTO, 1000);
        assert_eq!(token.len(), 98);
        assert_eq!(keys.open(&token, 999), Ok(PHOTO));
        assert_eq!(keys.open(&token, 1000), Err(Refused::Expired));
    }

    #[test]
    fn no_letter_of_a_token_can_be_changed_added_or_left_out() {
        let keys = keys("a secret of sixteen");
        let token = keys.token(&PHOTO, 1000);
        for place in 0..token.len() {
            let other = if &token[place..=place] == "A" { "B" } else { "A" };
            let changed = format!("{}{other}{}", &token[..place], &token[place + 1..]);
            assert_eq!(keys.open(&changed, 0), Err(Refused::Forged), "{place}");
            assert_eq!(keys.open(&token[..place], 0), Err(Refused::Forged), "{place}");
        }
        for longer in [format!("{token}A"), format!("{token}AA"), format!("{token}=")] {
            assert_eq!(keys.open(&longer, 0), Err(Refused::Forged), "{longer}");
        }
    }

    #[test]
    fn a_secret_is_rotated_without_a_link_that_breaks() {
        let (old, both, new) = (
            keys("the old secret of ours"),
            keys("the new secret of ours, the old secret of ours"),
            keys("the new secret of ours"),
        );
        assert_eq!(both.open(&old.token(&PHOTO, 1000), 0), Ok(PHOTO));
        assert_eq!(new.open(&both.token(&PHOTO, 1000), 0), Ok(PHOTO));
        assert_eq!(new.open(&old.token(&PHOTO, 1000), 0), Err(Refused::Forged));
        // Who forges an expired link hears that it is forged.
        assert_eq!(new.open(&old.token(&PHOTO, 1000), 2000), Err(Refused::Forged));
    }

    #[tokio::test]
    async fn a_link_lasts_its_lifetime_and_is_the_same_for_an_hour() {
        let keys = keys("a secret of sixteen");
        let links = MediaLinks {
            keys: Rotating::new(keys.clone(), None, |_| None),
            base_url: "https://city.example".to_owned(),
            lifetime: Duration::from_secs(7 * 24 * 3600),
        };
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        let link = links.link(b"a picture", at(3601)).await;
        assert_eq!(link, links.link(b"a picture", at(7200)).await);
        assert_ne!(link, links.link(b"a picture", at(7201)).await);
        let token = link.strip_prefix("https://city.example/media/").unwrap();
        let photo: PhotoId = Sha256::digest(b"a picture").into();
        assert_eq!(keys.open(token, 7200 + 7 * 24 * 3600 - 1), Ok(photo));
    }

    #[tokio::test]
    async fn a_secret_in_a_file_signs_as_soon_as_it_is_there() {
        let file = std::env::temp_dir().join(format!("abisu-media-{}", std::process::id()));
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        write("the old secret of ours\n");
        let args = MediaArgs {
            secret: MediaSecretArgs { media_secret: None, media_secret_file: Some(file.clone()) },
            media_url: Some("https://city.example".to_owned()),
            media_lifetime: Duration::from_secs(3600),
        };
        let links = args.config().unwrap().unwrap();
        let opened_by = async |secret: &str| {
            let link = links.link(b"a picture", DateTime::UNIX_EPOCH).await;
            keys(secret).open(link.rsplit('/').next().unwrap(), 0).is_ok()
        };
        assert!(opened_by("the old secret of ours").await);
        write("the new secret of ours,the old secret of ours");
        assert!(opened_by("the new secret of ours").await);
        // A rotation that goes wrong leaves the links as they were then, not as they were at the start.
        for wrong in
            ["short", "", "\n", "one of sixteen or more,two of sixteen or more,three of sixteen or more"]
        {
            write(wrong);
            assert!(opened_by("the new secret of ours").await, "{wrong}");
            assert!(!opened_by("the old secret of ours").await, "{wrong}");
        }
        std::fs::remove_file(&file).unwrap();
        assert!(opened_by("the new secret of ours").await, "the file is gone");
        write("the third secret of ours");
        assert!(opened_by("the third secret of ours").await, "it is looked at again");
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused() {
        for bad in ["", " , ", "short", "a secret of sixteen,short", "a,b,c"] {
            assert!(MediaKeys::parse(&bad.into()).is_err(), "{bad}");
        }
        assert!(!format!("{:?}", keys("a secret of sixteen")).contains("sixteen"));
    }

    #[test]
    fn a_lifetime_is_a_length_with_its_unit() {
        assert_eq!(parse_lifetime("90m"), Ok(Duration::from_secs(5400)));
        for bad in ["", "7", "d", "59m", "91d", "-1d", "1w", "99999999999999999999d", "7é"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }
}
