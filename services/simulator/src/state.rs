//! Everything the simulator remembers, behind one lock that is never held across an await.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use rand::Rng as _;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{config::Config, faults::Fault, journal::Entry, meta::Flow, partner::Incident};

pub(crate) type Shared = Arc<State>;

/// What Meta itself waits for a receiver is not documented; clients report three to ten seconds.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct State {
    pub(crate) config: Config,
    /// Base address of this simulator.
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    pub(crate) stop: CancellationToken,
    /// Signs the contractor's tokens; new with every start, so that old tokens are refused.
    pub(crate) token_key: [u8; 32],
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) webhook_url: Option<String>,
    pub(crate) citizens: Vec<Citizen>,
    /// All messages in the order in which they appeared on somebody's phone: place of the person, index of the message.
    pub(crate) feed: Vec<(usize, usize)>,
    /// Ids of what citizens sent.
    inbound: HashSet<String>,
    /// How many messages there are in the feed.
    seen: watch::Sender<usize>,
    pub(crate) media: HashMap<String, Media>,
    pub(crate) links: HashMap<String, Link>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) journal: VecDeque<Entry>,
    pub(crate) posts: Vec<Value>,
    pub(crate) incidents: Vec<Incident>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) fault_ids: u64,
}

impl State {
    pub(crate) fn new(config: Config, url: String, stop: CancellationToken) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(WEBHOOK_TIMEOUT)
            .connect_timeout(Duration::from_secs(2))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent("facebookexternalua")
            .no_proxy()
            .build()?;
        let inner = Inner { webhook_url: config.webhook_url.clone(), ..Inner::default() };
        Ok(Self { config, url, http, stop, token_key: rand::random(), inner: Mutex::new(inner) })
    }

    /// A panic of one request must not end the simulator, and every change here is one step.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes with every message of anybody.
    pub(crate) fn subscribe(&self) -> watch::Receiver<usize> {
        self.lock().seen.subscribe()
    }

    /// Keeps a file that a citizen sent and gives it an id.
    pub(crate) fn store_media(&self, bytes: Bytes, mime_type: String) -> (String, Media) {
        let id = numeric_id();
        let media = Media { bytes, mime_type, since: Instant::now() };
        self.lock().media.insert(id.clone(), media.clone());
        (id, media)
    }

    /// A link to a file, alive as long as the configuration says.
    pub(crate) fn link(&self, media_id: &str) -> String {
        let token = random_hex();
        let link = Link { media_id: media_id.to_owned(), since: Instant::now() };
        self.lock().links.insert(token.clone(), link);
        format!("{}/meta/media-download/{token}", self.url)
    }
}

impl Inner {
    pub(crate) fn citizen(&mut self, id: &str) -> Option<&mut Citizen> {
        let place = self.place(id)?;
        self.citizens.get_mut(place)
    }

    /// Where a person stands in the list. Ids count from 1, so that a crowd is not searched through for each message.
    pub(crate) fn place(&self, id: &str) -> Option<usize> {
        let place = id.parse::<usize>().ok()?.checked_sub(1)?;
        self.citizens.get(place).filter(|citizen| citizen.id == id).map(|_| place)
    }

    /// Puts a message on the phone of the person at a place, wakes who waits for it, and returns its index.
    pub(crate) fn push(&mut self, place: usize, mut message: Message) -> usize {
        let citizen = &mut self.citizens[place];
        // Counted from 1.
        message.index = citizen.messages.len() + 1;
        let index = message.index;
        if !message.outgoing {
            self.inbound.insert(message.wamid.clone());
        }
        citizen.messages.push(message);
        citizen.seen.send_replace(index);
        self.feed.push((place, index));
        self.seen.send_replace(self.feed.len());
        index
    }

    /// Whether a citizen ever sent this message.
    pub(crate) fn knows_inbound(&self, wamid: &str) -> bool {
        self.inbound.contains(wamid)
    }
}

#[derive(Clone)]
pub(crate) struct Media {
    pub(crate) bytes: Bytes,
    pub(crate) mime_type: String,
    pub(crate) since: Instant,
}

pub(crate) struct Link {
    pub(crate) media_id: String,
    pub(crate) since: Instant,
}

/// A person with a phone.
pub(crate) struct Citizen {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Digits only; without it the person is known by the business-scoped id alone.
    pub(crate) phone: Option<String>,
    pub(crate) user_id: String,
    pub(crate) language: Option<String>,
    /// When the person last wrote: the 24-hour window.
    pub(crate) wrote_at: Option<SystemTime>,
    pub(crate) messages: Vec<Message>,
    /// Changes with every message of this person: a crowd that waits is not woken for one.
    pub(crate) seen: watch::Sender<usize>,
}

impl Citizen {
    /// The person without the conversation.
    pub(crate) fn who(&self) -> Self {
        Self {
            id: self.id.clone(),
            name: self.name.clone(),
            phone: self.phone.clone(),
            user_id: self.user_id.clone(),
            language: self.language.clone(),
            wrote_at: self.wrote_at,
            messages: Vec::new(),
            seen: watch::Sender::default(),
        }
    }
}

/// A message of a conversation, as a person sees it.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) index: usize,
    /// True for what the service sent.
    pub(crate) outgoing: bool,
    pub(crate) kind: &'static str,
    pub(crate) text: Option<String>,
    pub(crate) buttons: Vec<Button>,
    pub(crate) flow: Option<SentFlow>,
    pub(crate) wamid: String,
    pub(crate) at: String,
}

#[derive(Clone)]
pub(crate) struct Button {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
}

/// A form as it was sent; it keeps the form's document of that moment, as a phone does.
#[derive(Clone)]
pub(crate) struct SentFlow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) cta: String,
    pub(crate) token: Option<String>,
    pub(crate) mode: &'static str,
    pub(crate) screen: String,
    pub(crate) data: Map<String, Value>,
    pub(crate) document: Arc<Value>,
}

impl Message {
    pub(crate) fn new(outgoing: bool, kind: &'static str, text: Option<String>) -> Self {
        Self {
            index: 0,
            outgoing,
            kind,
            text,
            buttons: Vec::new(),
            flow: None,
            wamid: wamid(),
            at: now_text(),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let buttons: Vec<Value> =
            self.buttons.iter().map(|one| json!({"id": one.id, "title": one.title})).collect();
        let flow = self.flow.as_ref().map(|flow| {
            json!({"id": flow.id, "name": flow.name, "cta": flow.cta, "token": flow.token,
                   "mode": flow.mode, "screen": flow.screen, "data": flow.data})
        });
        json!({
            "index": self.index,
            "direction": if self.outgoing { "out" } else { "in" },
            "kind": self.kind,
            "text": self.text,
            "buttons": buttons,
            "flow": flow,
            "wamid": self.wamid,
            "at": self.at,
        })
    }
}

/// Seconds since 1970, as text, as Meta writes times.
pub(crate) fn unix_seconds() -> String {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string()
}

/// RFC 3339 with milliseconds.
pub(crate) fn now_text() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A message id: base64 with all its awkward characters, as Meta's are.
pub(crate) fn wamid() -> String {
    format!("wamid.{}", STANDARD.encode(rand::random::<[u8; 32]>()))
}

/// Sixteen digits: more than a double can hold exactly, as Meta's ids are.
pub(crate) fn numeric_id() -> String {
    rand::rng().random_range(9_100_000_000_000_000_u64..9_999_999_999_999_999).to_string()
}

pub(crate) fn random_hex() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}
