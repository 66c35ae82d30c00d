//! The soaks of the bench, for seconds each: what must hold while parts of the queue freeze, restart or are cut off.
//! Nothing here depends on how fast the machine is.

use std::time::Duration;

use runtime::database::MIGRATIONS;
use sqlx::{Connection as _, PgConnection};
use xtask::postgres::Cluster;
use xtask::tree::STATE;

use crate::soaks::frozen::{Launch, Worker};
use crate::soaks::{Figure, Soak};

/// How long each goes on.
const LENGTH: Duration = Duration::from_secs(4);

/// Runs one on a database of its own.
async fn soak(soak: Soak) {
    let database = testkit::database().await;
    show(soak.run(&database.url, None, &this(), LENGTH).await.unwrap());
}

/// A worker process is a test of this program that looks first what it is.
fn this() -> Launch {
    let test = "soak::a_worker_frozen_past_its_lease_doubles_nothing_when_it_goes_on";
    let args = ["--exact", test, "--nocapture"].map(str::to_owned).to_vec();
    Launch { program: std::env::current_exe().unwrap(), args }
}

fn show(figures: Vec<Figure>) {
    for figure in figures {
        println!("{}: {} {}", figure.name, figure.value, figure.unit);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_and_settles_on_hot_chats_meet_no_deadlock() {
    soak(Soak::Hot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_is_held_elsewhere_loses_nothing() {
    soak(Soak::Held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_chats_get_through_beside_a_deep_one() {
    soak(Soak::Deep).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_frozen_past_its_lease_doubles_nothing_when_it_goes_on() {
    if let Some(worker) = Worker::from_env() {
        return worker.run().await.unwrap();
    }
    soak(Soak::Frozen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_restarted_under_load_loses_and_doubles_nothing() {
    // A durable one: what was accepted must be there after a crash.
    let mut server = Cluster::start(&STATE, true).await.unwrap();
    let url = server.url("abisu");
    MIGRATIONS.run_direct(None, &mut PgConnection::connect(&url).await.unwrap(), false).await.unwrap();
    show(Soak::Restart.run(&url, Some(&mut server), &this(), LENGTH).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_cut_and_healed_loses_and_doubles_nothing() {
    soak(Soak::Network).await;
}
