//! Several pods of geocode behind one name: lookups are shared out, one that dies costs none, a new one gets its share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conversation::lookup::addresses::Resolver;
use conversation::lookup::{Geocoder, GrpcGeocoder, LookupError, Pending};
use dialogue::{Coverage, Language, Verdict};
use proto::geocode::v1 as wire;
use proto::geocode::v1::geocode_server::{Geocode, GeocodeServer};
use testkit::eventually;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::geo::PIN;

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A pod. Dropped, it ends as a killed process does, with all of its connections.
struct Pod {
    address: SocketAddr,
    state: Arc<State>,
    runtime: Option<tokio::runtime::Runtime>,
}

struct State {
    asked: AtomicU32,
    /// While it is set, answers wait for it.
    held: AtomicBool,
    gate: Semaphore,
}

struct Service(Arc<State>);

impl Pod {
    async fn start(ip: &str) -> Self {
        let state = Arc::new(State {
            asked: AtomicU32::new(0),
            held: AtomicBool::new(false),
            gate: Semaphore::new(0),
        });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (ip, service) = (ip.to_owned(), Service(Arc::clone(&state)));
        let listening = runtime.spawn(async move {
            let listener = tokio::net::TcpListener::bind((ip, 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = tonic::transport::Server::builder().add_service(GeocodeServer::new(service));
            tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
            address
        });
        let address = listening.await.unwrap();
        Self { address, state, runtime: Some(runtime) }
    }

    fn asked(&self) -> u32 {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// From now on it takes questions and does not answer them.
    fn holds(&self) {
        self.state.held.store(true, Ordering::SeqCst);
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[tonic::async_trait]
impl Geocode for Service {
    async fn covers(
        &self,
        _: Request<wire::CoversRequest>,
    ) -> Result<Response<wire::CoversResponse>, Status> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        if self.0.held.load(Ordering::SeqCst) {
            let _never = self.0.gate.acquire().await;
        }
        Ok(Response::new(wire::CoversResponse { inside: true, ..wire::CoversResponse::default() }))
    }

    async fn reverse(
        &self,
        _: Request<wire::ReverseRequest>,
    ) -> Result<Response<wire::ReverseResponse>, Status> {
        Err(Status::failed_precondition("no area"))
    }

    async fn resolve(
        &self,
        _: Request<wire::ResolveRequest>,
    ) -> Result<Response<wire::ResolveResponse>, Status> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        Err(Status::invalid_argument("malformed"))
    }

    async fn covers_all(
        &self,
        _: Request<wire::CoversAllRequest>,
    ) -> Result<Response<wire::CoversAllResponse>, Status> {
        Err(Status::unimplemented("not asked for"))
    }
}

/// What the name stands for, as a test says. `None`: it cannot be looked up.
#[derive(Clone)]
struct Names(Arc<Mutex<Option<Vec<SocketAddr>>>>);

impl Names {
    fn of(pods: &[&Pod]) -> Self {
        let names = Self(Arc::default());
        names.now(pods);
        names
    }

    fn now(&self, pods: &[&Pod]) {
        *self.0.lock().unwrap() = Some(pods.iter().map(|pod| pod.address).collect());
    }
}

impl Resolver for Names {
    fn addresses(&self) -> Pending<'_, std::io::Result<Vec<SocketAddr>>> {
        let known = self.0.lock().unwrap().clone();
        Box::pin(async move { known.ok_or_else(|| std::io::ErrorKind::NotFound.into()) })
    }
}

/// A client that looks at the names every few milliseconds.
fn client(names: &Names) -> GrpcGeocoder {
    let origin = "http://geocode:50051".parse().unwrap();
    let geocoder = GrpcGeocoder::at(origin, Box::new(names.clone()), TIMEOUT);
    let follower = geocoder.clone();
    tokio::spawn(async move { follower.follow(Duration::from_millis(5), CancellationToken::new()).await });
    geocoder
}

async fn is_covered(geocoder: &GrpcGeocoder) {
    let covered = geocoder.covers(PIN).await.unwrap();
    assert!(matches!(covered, Coverage::Inside { .. }));
}

#[tokio::test]
async fn lookups_are_shared_out_over_all_addresses() {
    let (one, two) = (Pod::start("127.0.0.1").await, Pod::start("127.0.0.2").await);
    let geocoder = client(&Names::of(&[&one, &two]));
    for _ in 0..20 {
        futures::future::join_all((0..5).map(|_| is_covered(&geocoder))).await;
    }
    assert_eq!(one.asked() + two.asked(), 100);
    assert!(one.asked().min(two.asked()) >= 40, "{} and {}", one.asked(), two.asked());
}

#[tokio::test]
async fn a_pod_that_dies_in_the_middle_of_lookups_loses_none() {
    let (one, two) = (Pod::start("127.0.0.1").await, Pod::start("127.0.0.2").await);
    let geocoder = client(&Names::of(&[&one, &two]));
    one.holds();
    let lookups = futures::future::join_all((0..20).map(|_| is_covered(&geocoder)));
    let death = async {
        eventually("it has taken questions", async || (one.asked() >= 5).then_some(())).await;
        drop(one);
    };
    tokio::join!(lookups, death);
    assert_eq!(two.asked(), 20, "all were answered by the other");
    // Its address is still named; nobody waits for it.
    futures::future::join_all((0..20).map(|_| is_covered(&geocoder))).await;
    assert_eq!(two.asked(), 40);
}

#[tokio::test]
async fn a_pod_that_says_nothing_delays_a_pin_and_does_not_lose_it() {
    let (one, two) = (Pod::start("127.0.0.1").await, Pod::start("127.0.0.2").await);
    let geocoder = client(&Names::of(&[&one, &two]));
    one.holds();
    futures::future::join_all((0..4).map(|_| is_covered(&geocoder))).await;
    assert!(one.asked() >= 1 && two.asked() == 4);
}

#[tokio::test]
async fn a_new_pod_gets_its_share_and_one_that_left_gets_nothing_more() {
    let (one, two) = (Pod::start("127.0.0.1").await, Pod::start("127.0.0.2").await);
    let names = Names::of(&[&one]);
    let geocoder = client(&names);
    is_covered(&geocoder).await;
    names.now(&[&one, &two]);
    eventually("the new one is asked", async || {
        is_covered(&geocoder).await;
        (two.asked() > 0).then_some(())
    })
    .await;
    names.now(&[&two]);
    eventually("the old one is asked no more", async || {
        let before = one.asked();
        futures::future::join_all((0..10).map(|_| is_covered(&geocoder))).await;
        (one.asked() == before).then_some(())
    })
    .await;
    // While the name cannot be looked up, what was known stands.
    *names.0.lock().unwrap() = None;
    for _ in 0..10 {
        is_covered(&geocoder).await;
    }
}

#[tokio::test]
async fn without_a_pod_every_lookup_is_unavailable_at_once() {
    let pod = Pod::start("127.0.0.1").await;
    let gone = Names::of(&[&pod]);
    drop(pod);
    let nowhere = Names::of(&[]);
    let unknown = Names(Arc::default());
    for names in [gone, nowhere, unknown] {
        let geocoder = client(&names);
        let asked = geocoder.covers(PIN);
        // A quarter of what a lookup may take, so that a citizen is answered and not kept waiting.
        let answer = tokio::time::timeout(TIMEOUT / 4, asked).await.unwrap();
        assert!(matches!(answer, Err(LookupError::Unavailable(_))), "{answer:?}");
    }
}

#[tokio::test]
async fn what_all_would_refuse_is_asked_once() {
    let (one, two) = (Pod::start("127.0.0.1").await, Pod::start("127.0.0.2").await);
    let geocoder = client(&Names::of(&[&one, &two]));
    let refused: Result<Verdict, _> = geocoder.resolve("x", Language::Es, None).await;
    assert!(matches!(refused, Err(LookupError::Refused(_))));
    assert_eq!(one.asked() + two.asked(), 1);
    let unavailable = geocoder.reverse(PIN, Language::Es).await;
    assert!(matches!(unavailable, Err(LookupError::Unavailable(_))));
}
