//! A running simulator, a receiver of its deliveries, and short ways to call both.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::{Value, json};
use simulator::{Config, Simulator};
use tokio::sync::Notify;

/// What the receiver got: signature header and exact bytes.
#[derive(Clone)]
pub(crate) struct Delivery {
    pub(crate) signature: Option<String>,
    pub(crate) body: Bytes,
}

impl Delivery {
    pub(crate) fn value(&self) -> Value {
        let body: Value = serde_json::from_slice(&self.body).unwrap();
        body["entry"][0]["changes"][0]["value"].clone()
    }

    pub(crate) fn message(&self) -> Value {
        self.value()["messages"][0].clone()
    }
}

/// A receiver that answers with the statuses it was told, then with 200.
#[derive(Clone, Default)]
pub(crate) struct Receiver {
    pub(crate) deliveries: Arc<Mutex<Vec<Delivery>>>,
    pub(crate) answers: Arc<Mutex<VecDeque<u16>>>,
    /// Something was delivered.
    heard: Arc<Notify>,
}

impl Receiver {
    async fn start(self) -> String {
        let app = Router::new()
            .route(
                "/webhook",
                post(async |State(receiver): State<Self>, headers: HeaderMap, body: Bytes| {
                    let signature = headers.get("x-hub-signature-256");
                    let signature = signature.map(|value| value.to_str().unwrap().to_owned());
                    receiver.deliveries.lock().unwrap().push(Delivery { signature, body });
                    receiver.heard.notify_one();
                    let status = receiver.answers.lock().unwrap().pop_front().unwrap_or(200);
                    StatusCode::from_u16(status).unwrap()
                })
                .get(async |uri: axum::http::Uri| {
                    let query = uri.query().unwrap_or_default().to_owned();
                    query
                        .split('&')
                        .find_map(|pair| pair.strip_prefix("hub.challenge=").map(str::to_owned))
                        .unwrap()
                }),
            )
            .with_state(self);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhook", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        url
    }

    /// Deliveries of messages, without those of statuses.
    pub(crate) fn messages(&self) -> Vec<Delivery> {
        let all = self.deliveries.lock().unwrap().clone();
        all.into_iter().filter(|one| one.value().get("messages").is_some()).collect()
    }

    /// Waits for the first status.
    pub(crate) async fn status(&self) -> Value {
        let awaited = async {
            loop {
                let all = self.deliveries.lock().unwrap().clone();
                let status =
                    all.iter().map(|one| one.value()["statuses"][0].clone()).find(|one| !one.is_null());
                match status {
                    Some(status) => return status,
                    None => self.heard.notified().await,
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), awaited).await.unwrap()
    }
}

pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) receiver: Receiver,
    pub(crate) http: reqwest::Client,
    pub(crate) config: Config,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Config { statuses: false, ..Config::default() }).await
    }

    pub(crate) async fn with(mut config: Config) -> Self {
        let receiver = Receiver::default();
        config.webhook_url = Some(receiver.clone().start().await);
        let simulator = Simulator::start(config.clone()).await.unwrap();
        let timeout = std::time::Duration::from_secs(20);
        let http = reqwest::Client::builder().timeout(timeout).no_proxy().build().unwrap();
        Self { simulator, receiver, http, config }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.simulator.url())
    }

    pub(crate) async fn control(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.http.post(self.url(&format!("/control{path}"))).json(&body).send().await.unwrap()).await
    }

    pub(crate) async fn look(&self, path: &str) -> (u16, Value) {
        answer(self.http.get(self.url(&format!("/control{path}"))).send().await.unwrap()).await
    }

    /// A call of the Graph API with the right token.
    pub(crate) fn graph(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let url = self.url(&format!("/meta/v26.0/{path}"));
        self.http.request(method, url).bearer_auth(&self.config.access_token)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.graph(reqwest::Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.graph(reqwest::Method::POST, path).json(body).send().await.unwrap()).await
    }

    /// Sends to the citizen with the telephone 34600000001; `body` holds what is special.
    pub(crate) async fn send(&self, body: Value) -> (u16, Value) {
        let mut message = json!({"messaging_product": "whatsapp", "to": "34600000001"});
        for (key, value) in body.as_object().unwrap() {
            message[key] = value.clone();
        }
        self.post(&format!("{}/messages", self.config.phone_number_id), &message).await
    }

    /// A citizen who has just written, so that the window is open.
    pub(crate) async fn citizen(&self) -> String {
        let (status, body) =
            self.control("/citizens", json!({"name": "Ane Ruiz de Gauna", "phone": "34600000001"})).await;
        assert_eq!(status, 200, "{body}");
        let id = body["id"].as_str().unwrap().to_owned();
        let (status, body) = self.control(&format!("/citizens/{id}/say"), json!({"text": "kaixo"})).await;
        assert_eq!((status, &body["statuses"]), (200, &json!([200])), "{body}");
        id
    }

    pub(crate) async fn fault(&self, fault: Value) {
        let (status, body) = self.control("/faults", fault).await;
        assert_eq!(status, 200, "{body}");
    }
}

pub(crate) async fn answer(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = response.bytes().await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}
