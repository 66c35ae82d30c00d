//! A contractor's platform for tests: it takes nothing but the agreed body, makes a record per accepted create
//! (never deduplicates), and answers as it is told.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// How one create is answered.
#[derive(Clone, Copy)]
pub(crate) enum Reply {
    /// Makes the record and says so.
    Accept,
    /// Makes no record.
    Refuse(u16),
    /// Makes no record and asks for a pause.
    Throttle(&'static str),
    /// Makes the record and answers with an error all the same.
    AcceptAndFail(u16),
    /// Makes the record and does not say under which id.
    AcceptWithoutId,
    /// Makes the record and answers when [`Platform::release`] is called.
    Hold,
}

struct Inner {
    books: Mutex<Books>,
    held: Semaphore,
    held_logins: Semaphore,
}

#[derive(Default)]
struct Books {
    script: VecDeque<Reply>,
    records: Vec<Value>,
    creates: usize,
    logins: usize,
    reads: usize,
    login_status: Option<u16>,
    hold_logins: bool,
    photo: Option<usize>,
    failing_searches: usize,
    failing_creates: Option<Reply>,
    failing_reads: bool,
    refused_category: Option<(&'static str, u16)>,
    untold: Option<&'static str>,
}

/// A running platform; ends with this value.
pub(crate) struct Platform {
    pub(crate) url: String,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Platform {
    pub(crate) async fn start() -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) async fn start_at(address: SocketAddr) -> Self {
        let inner = Arc::new(Inner {
            books: Mutex::default(),
            held: Semaphore::new(0),
            held_logins: Semaphore::new(0),
        });
        let router = Router::new()
            .route("/api/login", post(login))
            .route("/api/incidents", get(search).post(create))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&inner));
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, server }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.inner.books.lock().unwrap()
    }

    /// The next creates are answered like this; after them, all are accepted.
    pub(crate) fn answer(&self, replies: &[Reply]) {
        self.books().script.extend(replies);
    }

    /// Logins are answered with this status; none: as they should be.
    pub(crate) fn answer_logins(&self, status: Option<u16>) {
        self.books().login_status = status;
    }

    /// Logins wait until [`Platform::release_logins`].
    pub(crate) fn hold_logins(&self) {
        self.books().hold_logins = true;
    }

    pub(crate) fn release_logins(&self) {
        self.books().hold_logins = false;
        self.inner.held_logins.add_permits(1);
    }

    /// Lets one held create be answered.
    pub(crate) fn release(&self) {
        self.inner.held.add_permits(1);
    }

    /// Photos of more bytes than this, as base64, are refused with 413.
    pub(crate) fn limit_photos(&self, base64_bytes: usize) {
        self.books().photo = Some(base64_bytes);
    }

    /// All creates are answered like this; none: as they should be.
    pub(crate) fn fail_creates(&self, reply: Option<Reply>) {
        self.books().failing_creates = reply;
    }

    /// A category that is refused, whatever becomes of the others.
    pub(crate) fn refuse_category(&self, refused: Option<(&'static str, u16)>) {
        self.books().refused_category = refused;
    }

    /// A search for a code that begins like this finds records of others.
    pub(crate) fn tell_nothing_of(&self, beginning: &'static str) {
        self.books().untold = Some(beginning);
    }

    /// Whether every read fails.
    pub(crate) fn fail_reads(&self, fail: bool) {
        self.books().failing_reads = fail;
    }

    /// So many searches fail.
    pub(crate) fn fail_searches(&self, count: usize) {
        self.books().failing_searches = count;
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        self.books().records.clone()
    }

    /// External codes of the records, sorted.
    pub(crate) fn codes(&self) -> Vec<String> {
        let mut codes: Vec<String> = self
            .books()
            .records
            .iter()
            .map(|one| one["external_code"].as_str().unwrap().to_owned())
            .collect();
        codes.sort();
        codes
    }

    /// How many creates came, refused ones included.
    pub(crate) fn creates(&self) -> usize {
        self.books().creates
    }

    pub(crate) fn logins(&self) -> usize {
        self.books().logins
    }

    pub(crate) fn reads(&self) -> usize {
        self.books().reads
    }
}

fn error(status: u16, text: &str) -> Response {
    (StatusCode::from_u16(status).unwrap(), Json(json!({ "error": text }))).into_response()
}

async fn login(State(inner): State<Arc<Inner>>, Json(body): Json<Value>) -> Response {
    let (status, hold, number) = {
        let mut books = inner.books.lock().unwrap();
        books.logins += 1;
        (books.login_status, books.hold_logins, books.logins)
    };
    if hold {
        inner.held_logins.acquire().await.unwrap().forget();
    }
    if let Some(status) = status {
        return error(status, "not now");
    }
    if body != json!({ "user": "abisu", "password": "pass word" }) {
        return error(401, "wrong user or password");
    }
    Json(json!({ "token": format!("token-{number}"), "expires_in": 300 })).into_response()
}

/// One of ours. Each replica has its own.
fn known_token(inner: &Inner, headers: &HeaderMap) -> bool {
    let logins = inner.books.lock().unwrap().logins;
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    let number = token.and_then(|token| token.strip_prefix("Bearer token-")?.parse::<usize>().ok());
    number.is_some_and(|number| (1..=logins).contains(&number))
}

async fn create(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    let (reply, limit) = {
        let mut books = inner.books.lock().unwrap();
        books.creates += 1;
        let always = books.failing_creates;
        (always.or_else(|| books.script.pop_front()).unwrap_or(Reply::Accept), books.photo)
    };
    if !known_token(&inner, &headers) {
        return error(401, "the token is spent");
    }
    let record = match check(&body) {
        Ok(record) => record,
        Err(problem) => return error(422, &problem),
    };
    let refused = inner.books.lock().unwrap().refused_category;
    if let Some((_, status)) = refused.filter(|(code, _)| record["category"] == *code) {
        return error(status, "not this one");
    }
    if limit.is_some_and(|limit| record["photo"]["data"].as_str().is_some_and(|data| data.len() > limit)) {
        return error(413, "too large");
    }
    let make = || {
        let mut books = inner.books.lock().unwrap();
        let id = format!("INC-{}", books.records.len() + 1);
        let mut record = record.clone();
        record["id"] = json!(id);
        books.records.push(record);
        (StatusCode::CREATED, Json(json!({ "id": id }))).into_response()
    };
    match reply {
        Reply::Accept => make(),
        Reply::Refuse(status) => error(status, "no"),
        Reply::Throttle(wait) => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", wait)]).into_response(),
        Reply::AcceptAndFail(status) => {
            make();
            error(status, "oh")
        }
        Reply::AcceptWithoutId => {
            make();
            StatusCode::CREATED.into_response()
        }
        Reply::Hold => {
            let made = make();
            inner.held.acquire().await.unwrap().forget();
            made
        }
    }
}

#[derive(serde::Deserialize)]
struct Search {
    #[serde(default)]
    external_code: String,
}

async fn search(
    State(inner): State<Arc<Inner>>,
    headers: HeaderMap,
    Query(search): Query<Search>,
) -> Response {
    if !known_token(&inner, &headers) {
        return error(401, "the token is spent");
    }
    let mut books = inner.books.lock().unwrap();
    books.reads += 1;
    if books.failing_reads {
        return error(500, "not now");
    }
    if books.failing_searches > 0 {
        books.failing_searches -= 1;
        return error(500, "not now");
    }
    if books.untold.is_some_and(|beginning| search.external_code.starts_with(beginning)) {
        return Json(json!([{ "external_code": "REF-1999-00001", "id": "INC-0" }])).into_response();
    }
    let found: Vec<&Value> =
        books.records.iter().filter(|one| one["external_code"] == search.external_code.as_str()).collect();
    Json(&found).into_response()
}

/// Exactly the agreed fields, of the agreed types.
fn check(body: &[u8]) -> Result<Value, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let object = body.as_object().ok_or("not an object")?;
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    let agreed =
        ["address", "category", "external_code", "latitude", "longitude", "note", "photo", "reported_at"];
    if keys != agreed {
        return Err(format!("fields are {keys:?}"));
    }
    for text in ["address", "category", "external_code", "note", "reported_at"] {
        object[text].as_str().ok_or(text)?;
    }
    for number in ["latitude", "longitude"] {
        object[number].as_f64().ok_or(number)?;
    }
    for text in ["content_type", "data"].into_iter().filter(|_| !object["photo"].is_null()) {
        object["photo"][text].as_str().ok_or(text)?;
    }
    Ok(body)
}
