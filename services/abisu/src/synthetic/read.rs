//! What the services made of the messages, read back from the database.

use std::time::Duration;

use anyhow::anyhow;
use channel::config::SYNTHETIC;
use flow_json::{Kind, Taxonomy};
use serde_json::Value;
use sqlx::PgConnection;
use tokio::time::Instant;
use uuid::Uuid;

use crate::Failure;

/// How often the rows are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Where the report is.
pub(super) struct Place {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// What is reported.
pub(super) struct Leaf {
    pub(super) route: String,
    /// `None`: the conversation's own.
    pub(super) version: Option<String>,
}

/// The reply that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Language,
    Place,
    Form,
}

impl Waiting {
    fn member(self) -> &'static str {
        match self {
            Self::Language => "buttons",
            Self::Place => "location_request",
            Self::Form => "form",
        }
    }

    /// What is at fault most likely when it does not come.
    fn missing(self) -> &'static str {
        match self {
            Self::Language => {
                "the greeting is not answered: conversation is away, or does not work the channel synthetic (is \
                 ABISU_SYNTHETIC_CHANNEL_SECRET set for it?)"
            }
            Self::Place => "the language is not answered: conversation is away",
            Self::Form => {
                "the place is not answered with the form: geocode is away, or the area does not cover the place"
            }
        }
    }
}

/// A reply as it stands in the database.
pub(super) struct Reply {
    payload: Value,
    /// The token that its answer carries.
    pub(super) prompt: Option<Uuid>,
}

impl Reply {
    /// The id of its first button.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn first_button(&self) -> Result<&str, Failure> {
        self.payload["buttons"]["buttons"][0][0]
            .as_str()
            .ok_or_else(|| Failure::Failed(anyhow!("the greeting was answered without a button to tap")))
    }
}

/// A received report.
pub(super) struct Received {
    id: Uuid,
    pub(super) reference: String,
    pub(super) replies: i64,
}

/// The database, as far as it concerns one run.
pub(super) struct Books {
    on: PgConnection,
    from: String,
    until: Instant,
    patience: Duration,
}

impl Books {
    pub(super) fn new(on: PgConnection, from: String, until: Instant, patience: Duration) -> Self {
        Self { on, from, until, patience }
    }

    /// A place that the city serves.
    ///
    /// # Errors
    /// No area is loaded.
    pub(super) async fn place(&mut self) -> Result<Place, Failure> {
        let place = sqlx::query_file_as!(Place, "src/synthetic/store/find_place.sql")
            .fetch_optional(&mut self.on)
            .await?;
        place
            .ok_or_else(|| Failure::Failed(anyhow!("no service area is loaded; run `abisu area load` first")))
    }

    /// Something that may be reported: from the newest release, else of the built-in city.
    ///
    /// # Errors
    /// A release that cannot be read.
    pub(super) async fn leaf(&mut self) -> Result<Leaf, Failure> {
        let compiled: Option<Value> = sqlx::query_scalar!(
            "select compiled from flow.release where state = 'published' order by published_at desc limit 1"
        )
        .fetch_optional(&mut self.on)
        .await?;
        let (taxonomy, released) = match compiled {
            Some(compiled) => {
                (Taxonomy::from_compiled(&compiled).map_err(|error| Failure::Failed(error.into()))?, true)
            }
            None => {
                let builtin = Taxonomy::builtin();
                (builtin.map_err(|_| Failure::Failed(anyhow!("the built-in taxonomy is not valid")))?, false)
            }
        };
        let leaf = taxonomy.leaves().find(|leaf| leaf.kind == Kind::Report);
        let leaf =
            leaf.ok_or_else(|| Failure::Failed(anyhow!("the newest release has nothing to report")))?;
        let version = released.then(|| taxonomy.version().to_owned());
        Ok(Leaf { route: leaf.route.clone(), version })
    }

    /// Waits for a reply.
    ///
    /// # Errors
    /// It does not come, and what is at fault most likely.
    pub(super) async fn reply(&mut self, waiting: Waiting) -> Result<Reply, Failure> {
        loop {
            let found = sqlx::query_file_as!(
                Reply,
                "src/synthetic/store/newest_reply.sql",
                SYNTHETIC,
                self.from,
                waiting.member()
            )
            .fetch_optional(&mut self.on)
            .await?;
            if let Some(reply) = found {
                return Ok(reply);
            }
            self.wait(waiting.missing()).await?;
        }
    }

    /// Waits for the report.
    ///
    /// # Errors
    /// It does not come.
    pub(super) async fn received(&mut self) -> Result<Received, Failure> {
        loop {
            let found =
                sqlx::query_file_as!(Received, "src/synthetic/store/find_received.sql", SYNTHETIC, self.from)
                    .fetch_optional(&mut self.on)
                    .await?;
            if let Some(received) = found {
                return Ok(received);
            }
            self.wait(
                "the form is not received: its route may be of another version than conversation knows",
            )
            .await?;
        }
    }

    /// Waits until every reply is sunk, and looks that the push is and that everything is marked.
    ///
    /// # Errors
    /// It is not, and what.
    pub(super) async fn sunk(&mut self, received: &Received) -> Result<(), Failure> {
        loop {
            let state = sqlx::query_file!("src/synthetic/store/read_sunk.sql", received.id, SYNTHETIC)
                .fetch_one(&mut self.on)
                .await?;
            let reference = &received.reference;
            if !state.push_sunk {
                return Err(Failure::Failed(anyhow!("the push of {reference} is not sunk: it would leave")));
            }
            if !state.marked {
                return Err(Failure::Failed(anyhow!("rows of {reference} are not marked as synthetic")));
            }
            if state.replies_sunk {
                return Ok(());
            }
            self.wait("the replies are not sunk: the sender of conversation is away").await?;
        }
    }

    async fn wait(&self, what: &str) -> Result<(), Failure> {
        if Instant::now() >= self.until {
            return Err(Failure::Failed(anyhow!("after {} s {what}", self.patience.as_secs())));
        }
        tokio::time::sleep(LOOK).await;
        Ok(())
    }
}
