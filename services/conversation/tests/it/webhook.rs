//! A receiver of the simulator's deliveries that stores them as `ingest` does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use bus::append::{Appender, Delivery, NewEvent, NewReceipt, NewRejection};
use bus::wake::{Notifier, Queue};
use channel::Message;
use channel::meta::inbound::{self, Item};
use conversation::config::CHANNEL;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

#[derive(Clone)]
pub(crate) struct Webhook {
    appender: Appender,
    notifier: Notifier,
    /// The trace id of the delivery that brought a message.
    traces: Arc<Mutex<HashMap<String, String>>>,
}

impl Webhook {
    /// Serves on a free port and returns the address.
    pub(crate) async fn start(pool: PgPool) -> (Self, String) {
        let notifier = Notifier::default();
        tokio::spawn(notifier.clone().run(pool.clone(), CancellationToken::new()));
        let webhook =
            Self { appender: Appender::new(pool, Duration::from_secs(10)), notifier, traces: Arc::default() };
        let router = Router::new()
            .route(
                "/",
                post(|State(webhook): State<Self>, body: Bytes| async move { webhook.take(&body).await }),
            )
            .with_state(webhook.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (webhook, url)
    }

    pub(crate) fn trace_of(&self, message_id: &str) -> String {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)[message_id].clone()
    }

    async fn take(&self, body: &[u8]) -> StatusCode {
        let items = inbound::parse(body).expect("the simulator speaks as Meta does").items;
        match self.store(CHANNEL, items, body).await {
            Ok(()) => StatusCode::OK,
            Err(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Stores messages in one delivery, in their order, as if they had come over HTTP.
    pub(crate) async fn bring(&self, messages: Vec<Message>) {
        let items = messages.into_iter().map(|message| Item::Message {
            phone_number_id: String::new(),
            message: Box::new(message),
            raw: Vec::new(),
        });
        self.store(CHANNEL, items.collect(), b"{}").await.unwrap();
    }

    /// Stores what a parser made of a body that came to a channel.
    pub(crate) async fn store_on(&self, channel: &str, items: Vec<Item>, body: &[u8]) {
        self.store(channel, items, body).await.unwrap();
    }

    /// Stores something that only looks like a message.
    pub(crate) async fn bring_payload(&self, phone: &str, payload: serde_json::Value) {
        let event = NewEvent {
            activity_id: Uuid::now_v7(),
            message_id: format!("wamid.{}", Uuid::now_v7()),
            kind: "text".to_owned(),
            user_id: None,
            phone: Some(phone.to_owned()),
            payload,
            sent_at: None,
        };
        let delivery = self.delivery(CHANNEL, b"{}");
        self.appender.append(Delivery { events: vec![event], ..delivery }).await.unwrap();
        self.notifier.notify(Queue::Inbound);
    }

    fn delivery(&self, channel: &str, body: &[u8]) -> Delivery {
        let (trace, span) = (Uuid::now_v7().simple().to_string(), Uuid::now_v7().simple().to_string());
        Delivery {
            channel: channel.to_owned(),
            delivery_id: Uuid::now_v7(),
            body: body.to_vec(),
            trace_context: Some(format!("00-{trace}-{}-01", &span[16..])),
            events: Vec::new(),
            rejections: Vec::new(),
            receipts: Vec::new(),
        }
    }

    async fn store(&self, channel: &str, items: Vec<Item>, body: &[u8]) -> Result<(), bus::append::Error> {
        let mut delivery = self.delivery(channel, body);
        let trace = delivery.trace_context.as_deref().unwrap_or_default()[3..35].to_owned();
        for item in items {
            match item {
                Item::Message { message, .. } => {
                    let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
                    traces.entry(message.message_id.clone()).or_insert_with(|| trace.clone());
                    delivery.events.push(NewEvent {
                        activity_id: Uuid::now_v7(),
                        message_id: message.message_id.clone(),
                        kind: message.kind.as_str().to_owned(),
                        user_id: message.user_id.clone(),
                        phone: message.phone.clone(),
                        sent_at: message.sent_at,
                        payload: serde_json::to_value(&message).unwrap(),
                    });
                }
                Item::Receipt {
                    provider_id,
                    status,
                    recipient,
                    occurred_at,
                    error_code,
                    callback_data,
                    ..
                } => {
                    delivery.receipts.push(NewReceipt {
                        provider_id,
                        outbound_id: callback_data.and_then(|data| Uuid::parse_str(&data).ok()),
                        status,
                        recipient,
                        error_code,
                        occurred_at,
                    });
                }
                Item::Rejected { message_id, reason, detail, raw, .. } => delivery
                    .rejections
                    .push(NewRejection { message_id, reason: reason.to_owned(), detail, raw }),
                Item::Notice { .. } => {}
            }
        }
        self.appender.append(delivery.clone()).await?;
        self.notifier.notify(Queue::Inbound);
        Ok(())
    }
}
