//! A service that dies twice in a row at the same step of a send: once it has come back, before it has got any further.
//! The reply that it was about comes all the same.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::eventually;

use crate::crash::accounted_for;
use crate::town::{Town, Trouble, report};

/// The message before which the first death is armed: the one that is answered with the form.
const STEP: usize = 2;

/// Arms a place before one message.
struct Arm<'a> {
    file: &'a PathBuf,
    armed: &'a AtomicBool,
}

impl Trouble for Arm<'_> {
    fn before(&self, step: usize) {
        if step == STEP {
            std::fs::write(self.file, "").unwrap();
            self.armed.store(true, Ordering::SeqCst);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_dying_twice_in_a_row_around_a_send_loses_no_reply() {
    let folder = std::env::temp_dir().join(format!("abisu-places-twice-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let town = Town::start("dying-twice", &[("ABISU_FAILPOINTS", folder.to_str().unwrap())]).await;
    let mut reports = Vec::new();
    let places =
        ["send.leased", "send.read", "send.reserved", "send.accepted", "send.recorded", "send.settled"];
    for place in places {
        let citizen = town.citizen(place).await;
        let (file, armed) = (folder.join(place), AtomicBool::new(false));
        let arm = Arm { file: &file, armed: &armed };
        let dies = async |time: &str| {
            let what = format!("a service dies at {place} for the {time} time");
            eventually(&what, async || (armed.load(Ordering::SeqCst) && !file.exists()).then_some(())).await;
        };
        let again = async {
            dies("first").await;
            std::fs::write(&file, "").unwrap();
            dies("second").await;
        };
        let note = format!("{place} dos veces");
        let (reported, ()) = tokio::join!(report(&citizen, &note, 1, &arm), again);
        reports.push(reported);
    }
    accounted_for(&town, &reports, 2 * places.len()).await;
    std::fs::remove_dir_all(&folder).unwrap();
}
