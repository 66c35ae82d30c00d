//! An HTTP server that answers each request with the next of the answers it was given, and keeps what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use channel::meta::{GraphClient, GraphConfig};

/// What the server was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// How it answers.
pub(crate) enum Reply {
    With { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    Never,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<(VecDeque<Reply>, Vec<Asked>)>>);

pub(crate) struct Server {
    pub(crate) url: String,
    shared: Shared,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let shared = Shared::default();
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/meta", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, shared }
    }

    pub(crate) fn replies(&self, reply: Reply) {
        self.shared.0.lock().unwrap().0.push_back(reply);
    }

    pub(crate) fn replies_json(&self, status: u16, body: &serde_json::Value) {
        self.replies(Reply::With {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        });
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.0.lock().unwrap().1.clone()
    }

    pub(crate) fn client(&self) -> GraphClient {
        client(&self.url, Duration::from_secs(5))
    }
}

pub(crate) fn client(url: &str, timeout: Duration) -> GraphClient {
    GraphClient::new(GraphConfig {
        base_url: url.to_owned(),
        version: "v26.0".to_owned(),
        phone_number_id: "100200300".to_owned(),
        token: "t0ken".to_owned().into(),
        timeout,
    })
    .unwrap()
}

async fn answer(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let reply = {
        let mut shared = shared.0.lock().unwrap();
        shared.1.push(Asked { method, path: uri.to_string(), headers, body });
        shared.0.pop_front().expect("an answer for every request")
    };
    match reply {
        Reply::Never => std::future::pending().await,
        Reply::With { status, headers, body } => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        }
    }
}
