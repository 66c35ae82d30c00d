//! A platform that answers as it is told and keeps what it was sent, and the adapters that speak to it.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use clap::Parser;
use partner::args::PartnerArgs;
use partner::{Incident, Partner, Photos, Picture, Timeouts};

/// A list by date.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub(crate) path: &'static str,
    pub(crate) names: (&'static str, &'static str),
    pub(crate) most: usize,
    /// A record with the code and the id that stand in it as `CODE` and `ID`.
    pub(crate) record: &'static str,
}

/// One of the platforms that an adapter is configured for.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) file: Option<&'static str>,
    pub(crate) create: &'static str,
    /// Where its records are listed, under which names, and how many at most.
    pub(crate) list: Option<List>,
    /// What a create with the photo holds, and one without it does not.
    pub(crate) pictured: &'static str,
    /// The answer to a create that was accepted, with the id `R-7`.
    pub(crate) accepted: &'static str,
    /// The same without an id that can be read.
    pub(crate) nameless: &'static str,
    /// A refusal that says that the record exists: status and body.
    pub(crate) exists: (u16, &'static str),
    /// A refusal that quotes what a citizen wrote.
    pub(crate) refused: (u16, &'static str),
    /// What stands before, between and after the records of a list.
    pub(crate) envelope: (&'static str, &'static str, &'static str),
}

pub(crate) const AGREED: Kind = Kind {
    name: "agreed",
    file: None,
    create: "/api/incidents",
    list: None,
    pictured: "YSBwaWN0dXJl",
    accepted: r#"{"id":"R-7"}"#,
    nameless: r#"{"id":null}"#,
    exists: (422, r#"{"error":"external_code already exists"}"#),
    refused: (422, r#"{"error":"note 'my neighbour Aitor' is invalid"}"#),
    envelope: ("[", ",", "]"),
};

pub(crate) const RENAMED: Kind = Kind {
    name: "renamed",
    file: Some(
        "login: {path: /auth, user: name, password: word, token: jwt, expires_in: life, scheme: JWT}
create: {path: /v2/orders, id: order}
search: {path: /v2/find, query: ref, external_code: ref, id: order}
list: {path: /v2/all, since: from, until: to, most: 4}
fields: {external_code: ref, latitude: at.lat, longitude: at.lon, note: text, address: null, photo: image, photo_data: b64}
categories: {PINTADAS: \"0417\"}
",
    ),
    create: "/v2/orders",
    list: Some(List {
        path: "/v2/all",
        names: ("from", "to"),
        most: 4,
        record: r#"{"ref":"CODE","order":"ID"}"#,
    }),
    pictured: "YSBwaWN0dXJl",
    accepted: r#"{"order":"R-7"}"#,
    nameless: r#"{"id":"R-7"}"#,
    exists: (400, r#"{"error":"Ref: ya existe"}"#),
    refused: (422, r#"{"error":"text 'my neighbour Aitor' is invalid"}"#),
    envelope: ("[", ",", "]"),
};

/// Everything that it answers is within something else.
pub(crate) const NESTED: Kind = Kind {
    name: "nested",
    file: Some(
        "login: {token: data.jwt, expires_in: data.life}
create: {path: /v3/orders, id: data.0.id}
search: {path: /v3/orders, external_code: keys.code, id: keys.id, items: data.items}
list: {path: /v3/all, most: 4, items: data.items}
",
    ),
    create: "/v3/orders",
    list: Some(List {
        path: "/v3/all",
        names: ("since", "until"),
        most: 4,
        record: r#"{"keys":{"code":"CODE","id":"ID"}}"#,
    }),
    pictured: "YSBwaWN0dXJl",
    accepted: r#"{"data":[{"id":"R-7"}]}"#,
    nameless: r#"{"id":"R-7","data":[]}"#,
    exists: (422, r#"{"errors":[{"field":"externalCode","message":"Has already been taken"}]}"#),
    refused: (422, r#"{"errors":[{"field":"note","message":"'my neighbour Aitor' is invalid"}]}"#),
    envelope: (r#"{"data":{"total":9,"items":["#, ",", "]}}"),
};

pub(crate) const OPEN311: Kind = Kind {
    name: "open311",
    file: Some(
        "adapter: open311\nopen311: {jurisdiction_id: city.example}\ncategories: {PINTADAS: \"0417\"}\n",
    ),
    create: "/requests.json",
    list: Some(List {
        path: "/requests.json",
        names: ("start_date", "end_date"),
        most: 1000,
        record: r#"{"description":"junto [1]\n[CODE]","service_request_id":"ID"}"#,
    }),
    pictured: "media_url=https%3A%2F%2Fcity.example%2Fmedia%2FAbC-_",
    accepted: r#"[{"service_request_id":"R-7"}]"#,
    nameless: r#"[{"token":"T-1"}]"#,
    exists: (400, r#"[{"code":"400","description":"This request is a duplicate of R-7"}]"#),
    refused: (400, r#"[{"code":400,"description":"description 'my neighbour Aitor' is not valid"}]"#),
    envelope: ("[", ",", "]"),
};

/// One that has no JSON.
pub(crate) const OPEN311_XML: Kind = Kind {
    name: "open311 in xml",
    file: Some("adapter: open311\nopen311: {format: xml}\n"),
    create: "/requests.xml",
    list: Some(List {
        path: "/requests.xml",
        names: ("start_date", "end_date"),
        most: 1000,
        record: "<request><service_request_id>ID</service_request_id><description>1 &lt; 2\n[CODE]</description></request>",
    }),
    pictured: OPEN311.pictured,
    accepted: "<?xml version=\"1.0\"?>\n<service_requests><request><service_request_id>R-7</service_request_id></request></service_requests>",
    nameless: "<service_requests><request><token>T-1</token></request></service_requests>",
    exists: (
        422,
        "<errors><error><code>422</code><description>External reference already exists</description></error></errors>",
    ),
    refused: (
        400,
        "<errors><error><code>400</code><description>description 'my neighbour Aitor' is not valid</description></error></errors>",
    ),
    envelope: ("<service_requests>", "", "</service_requests>"),
};

pub(crate) const KINDS: [Kind; 5] = [AGREED, RENAMED, NESTED, OPEN311, OPEN311_XML];

impl Kind {
    /// A list as the platform shows it.
    pub(crate) fn listed(&self, records: &[&str]) -> String {
        let (before, between, after) = self.envelope;
        format!("{before}{}{after}", records.join(between))
    }
}

/// What was asked of the platform.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) authorization: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) body: String,
}

#[derive(Default)]
struct Inner {
    asked: Vec<Asked>,
    creates: (u16, String, Vec<(&'static str, &'static str)>),
    others: u16,
    found: String,
    /// Seconds since 1970 and a record each.
    records: Vec<(i64, String)>,
    token: String,
}

/// A running platform of one kind, and the adapter for it.
pub(crate) struct Platform {
    pub(crate) kind: Kind,
    pub(crate) partner: Box<dyn Partner>,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    partner: PartnerArgs,
}

impl Platform {
    pub(crate) async fn start(kind: Kind) -> Self {
        let inner = Arc::new(Mutex::new(Inner { others: 200, ..Inner::default() }));
        let router = Router::new().fallback(answer).with_state((Arc::clone(&inner), kind));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("--partner-url=http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let mut flags = vec!["test".to_owned(), url, "--partner-user=abisu".to_owned()];
        flags.push("--partner-password=pass word".to_owned());
        let path = kind.file.map(|text| {
            let path =
                std::env::temp_dir().join(format!("abisu-{}-{}.yaml", kind.name, rand::random::<u64>()));
            std::fs::write(&path, text).unwrap();
            path
        });
        flags.extend(path.as_ref().map(|path| format!("--partner-platform-file={}", path.display())));
        if !kind.name.starts_with(OPEN311.name) {
            flags.push("--partner-search".to_owned());
        }
        let config = Args::try_parse_from(flags).unwrap().partner.config().unwrap();
        if let Some(path) = path {
            std::fs::remove_file(path).unwrap();
        }
        let second = std::time::Duration::from_secs(1);
        let timeouts = Timeouts { connect: second, send: second * 2, login: second * 2 };
        Self { kind, partner: partner::connect(&config, timeouts).unwrap(), inner }
    }

    /// How creates are answered.
    pub(crate) fn creates(&self, status: u16, body: &str, headers: &[(&'static str, &'static str)]) {
        self.inner.lock().unwrap().creates = (status, body.to_owned(), headers.to_vec());
    }

    /// The status of everything else.
    pub(crate) fn others(&self, status: u16) {
        self.inner.lock().unwrap().others = status;
    }

    /// The answer to a search.
    pub(crate) fn found(&self, body: &str) {
        self.inner.lock().unwrap().found = body.to_owned();
    }

    /// What a list shows: when it was made, and the record.
    pub(crate) fn records(&self, records: Vec<(i64, String)>) {
        self.inner.lock().unwrap().records = records;
    }

    /// The answer to a question for a token.
    pub(crate) fn token(&self, body: &str) {
        self.inner.lock().unwrap().token = body.to_owned();
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.inner.lock().unwrap().asked.clone()
    }

    /// The creates among what was asked.
    pub(crate) fn posted(&self) -> Vec<Asked> {
        let is_create = |one: &Asked| one.method == Method::POST && one.uri.path() == self.kind.create;
        self.asked().into_iter().filter(is_create).collect()
    }
}

async fn answer(
    State((inner, kind)): State<(Arc<Mutex<Inner>>, Kind)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut inner = inner.lock().unwrap();
    let header = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let (authorization, accept) = (header("authorization"), header("accept"));
    let body = String::from_utf8(body.to_vec()).unwrap();
    inner.asked.push(Asked { method: method.clone(), uri: uri.clone(), authorization, accept, body });
    let status = |status| StatusCode::from_u16(status).unwrap();
    if method == Method::POST && uri.path() == kind.create {
        let (code, body, extra) = inner.creates.clone();
        let mut response = (status(code), body).into_response();
        for (name, value) in extra {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    } else if method == Method::GET && uri.query().is_some_and(|query| query.contains("REF-")) {
        (status(inner.others), inner.found.clone()).into_response()
    } else if let Some(list) = kind.list.filter(|list| {
        method == Method::GET
            && uri.path() == list.path
            && uri.query().is_some_and(|it| it.contains(list.names.0))
    }) {
        let asked = |name: &str| {
            let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
            let (_, value) = pairs.into_iter().find(|(key, _)| key == name).unwrap();
            DateTime::parse_from_rfc3339(&value).unwrap().timestamp()
        };
        let (from, until) = (asked(list.names.0), asked(list.names.1));
        let within = inner.records.iter().filter(|(at, _)| (from..=until).contains(at));
        let shown: Vec<&str> = within.map(|(_, record)| record.as_str()).take(list.most).collect();
        (status(inner.others), kind.listed(&shown)).into_response()
    } else if uri.path().starts_with("/tokens/") {
        (status(inner.others), inner.token.clone()).into_response()
    } else {
        let body = r#"{"token":"t0ken","expires_in":300,"jwt":"t0ken","life":300,"data":{"jwt":"t0ken","life":"300"}}"#;
        (status(inner.others), body).into_response()
    }
}

pub(crate) fn incident(picture: Picture) -> Incident {
    Incident {
        external_code: "REF-2026-00001".to_owned(),
        category: "PINTADAS".to_owned(),
        latitude: 42.8467,
        longitude: -2.6726,
        address: Some("Calle Pintorería 12".to_owned()),
        note: Some("junto al portal".to_owned()),
        reported_at: DateTime::parse_from_rfc3339("2026-11-30T09:00:00.25Z").unwrap().into(),
        picture,
    }
}

/// Where a platform that takes no bytes fetches the photo.
pub(crate) const LINK: &str = "https://city.example/media/AbC-_";

/// The photo in the way in which the platform takes it.
pub(crate) fn photo_for(partner: &dyn Partner) -> Picture {
    match partner.photos() {
        Photos::Inline => photo(),
        Photos::Linked => Picture::Link(LINK.to_owned()),
        Photos::Unwanted => Picture::None,
    }
}

pub(crate) fn photo() -> Picture {
    Picture::Photo { content_type: "image/jpeg".to_owned(), bytes: Bytes::from_static(b"a picture") }
}
