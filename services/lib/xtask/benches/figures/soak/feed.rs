//! Messages, as a provider sends them: the same again until it is accepted.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bus::append::{Appender, Delivery, NewEvent};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

pub(super) const CHANNEL: &str = "whatsapp";
/// As `ingest` has it: what is not stored by then is refused.
const STORE_WITHIN: Duration = Duration::from_millis(2_400);
/// A provider's pause before it sends the same again.
const REPEAT_AFTER: Duration = Duration::from_millis(50);
/// How long it insists before the soak is given up.
const GIVE_UP: Duration = Duration::from_secs(60);

/// Who sends, and how much.
#[derive(Clone)]
pub(super) struct Feed {
    /// One for each process of the door.
    pub(super) appenders: Vec<Appender>,
    /// Deliveries under way at a time.
    pub(super) callers: usize,
    /// Numbers of the citizens who write: each delivery has messages of some of them, by chance.
    pub(super) citizens: Range<usize>,
    /// Messages of a delivery.
    pub(super) batch: usize,
    /// Messages a second; as many as go, where nothing is said.
    pub(super) per_second: Option<usize>,
    /// What was accepted before, on the same database.
    pub(super) before: i64,
}

/// What was accepted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    /// Messages, all feeds of the database together.
    pub(crate) all: i64,
    /// Deliveries that were not accepted at the first attempt.
    pub(super) repeated: i64,
}

impl Feed {
    /// A door with one process.
    pub(super) fn new(pool: &PgPool, citizens: Range<usize>) -> Self {
        let appenders = vec![Appender::new(pool.clone(), STORE_WITHIN)];
        Self { appenders, callers: 8, citizens, batch: 5, per_second: None, before: 0 }
    }

    /// Sends until it is over and the last is accepted.
    pub(super) async fn run(&self, over: watch::Receiver<bool>) -> anyhow::Result<Sent> {
        let mut tasks = JoinSet::new();
        for caller in 0..self.callers {
            let (feed, over) = (self.clone(), over.clone());
            let appender = self.appenders[caller % self.appenders.len()].clone();
            tasks.spawn(async move { feed.call(&appender, over).await });
        }
        let mut sent = Sent { all: self.before, repeated: 0 };
        while let Some(one) = tasks.join_next().await {
            let one = one??;
            sent.all += one.all;
            sent.repeated += one.repeated;
        }
        Ok(sent)
    }

    /// Sends one message of each citizen, evenly over `length`.
    pub(super) async fn each_once(&self, length: Duration) -> anyhow::Result<Sent> {
        let mut sent = Sent { all: self.before, repeated: 0 };
        let mut ticks = tokio::time::interval(length / u32::try_from(self.citizens.len().max(1))?);
        for citizen in self.citizens.clone() {
            ticks.tick().await;
            sent.repeated += deliver(&self.appenders[0], &[citizen]).await?;
            sent.all += 1;
        }
        Ok(sent)
    }

    /// Puts so many messages into the chat of the first citizen.
    pub(super) async fn fill(&self, messages: usize) -> anyhow::Result<Sent> {
        const ROWS: usize = 200;
        let mut sent = Sent { all: self.before, repeated: 0 };
        let mut left = messages;
        while left > 0 {
            let rows = left.min(ROWS);
            let citizens = vec![self.citizens.start; rows];
            sent.repeated += deliver(&self.appenders[0], &citizens).await?;
            sent.all += i64::try_from(rows)?;
            left -= rows;
        }
        Ok(sent)
    }

    async fn call(&self, appender: &Appender, over: watch::Receiver<bool>) -> anyhow::Result<Sent> {
        let every = self.per_second.map(|rate| (self.callers * self.batch) as f64 / rate as f64);
        let mut ticks = every.map(|every| tokio::time::interval(Duration::from_secs_f64(every)));
        let mut sent = Sent::default();
        while !*over.borrow() {
            if let Some(ticks) = &mut ticks {
                ticks.tick().await;
            }
            let citizens: Vec<usize> =
                (0..self.batch).map(|_| rand::random_range(self.citizens.clone())).collect();
            sent.repeated += deliver(appender, &citizens).await?;
            sent.all += i64::try_from(self.batch)?;
        }
        Ok(sent)
    }
}

/// Sends a message of each until all are accepted. Returns how often it was sent in vain.
async fn deliver(appender: &Appender, citizens: &[usize]) -> anyhow::Result<i64> {
    let until = Instant::now() + GIVE_UP;
    let messages: Vec<(usize, String)> =
        citizens.iter().map(|&citizen| (citizen, format!("wamid.{}", Uuid::now_v7().simple()))).collect();
    let mut repeated = 0;
    loop {
        match appender.append(delivery(&messages)).await {
            Ok(stored) => {
                let told = stored.created.len() + stored.duplicates;
                ensure!(told == messages.len() && stored.rejected == 0, "a delivery ended as {stored:?}");
                return Ok(repeated);
            }
            Err(error) if Instant::now() > until => {
                return Err(error).context("a delivery is never accepted");
            }
            Err(_) => repeated += 1,
        }
        tokio::time::sleep(REPEAT_AFTER).await;
    }
}

/// A delivery with ids of its own; the messages keep theirs.
fn delivery(messages: &[(usize, String)]) -> Delivery {
    let event = |(citizen, id): &(usize, String)| NewEvent {
        activity_id: Uuid::now_v7(),
        message_id: id.clone(),
        kind: "text".to_owned(),
        user_id: None,
        phone: Some(format!("346{citizen:08}")),
        payload: serde_json::json!({"kind": "text", "text": "Hay botellas en la acera desde el domingo"}),
        sent_at: None,
    };
    Delivery {
        channel: CHANNEL.to_owned(),
        delivery_id: Uuid::now_v7(),
        body: vec![b'x'; 300 * messages.len()],
        trace_context: None,
        events: messages.iter().map(event).collect(),
        rejections: Vec::new(),
        receipts: Vec::new(),
    }
}
