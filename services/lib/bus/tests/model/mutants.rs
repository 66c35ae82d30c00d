//! The protocol without one of its rules breaks a promise. So the model would notice, and each rule is there for a
//! reason; of the one that is not, the test says so.

use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model};

use crate::WORLD;
use crate::properties::{
    ATTEMPTS, CURRENT_EPOCH, ENDS_DONE, HAS_HEAD, IN_ORDER, INNOCENT, KILLS_FEW, NO_EMPTY_WAKE_UP,
    NO_LOST_WAKE_UP, NOT_CUT_SHORT, NOT_HIDDEN, ONCE, ONE_WORKER, OWNER_IS_LOAN, STORED_ONCE,
};
use crate::protocol::Protocol;
use crate::rules::{Rule, Rules};

/// Explores until all of these promises are broken.
fn breaks(protocol: Protocol, promises: &[&'static str]) {
    let promises: BTreeSet<&'static str> = promises.iter().copied().collect();
    let checker = protocol.checker().finish_when(HasDiscoveries::AllOf(promises.clone())).spawn_bfs().join();
    println!("{:?}: {} states", protocol.rules.broken, checker.unique_state_count());
    for promise in promises {
        let steps = checker.assert_any_discovery(promise).into_actions();
        println!("  not so that {promise}: {steps:?}");
    }
}

fn without(broken: &'static [Rule]) -> Protocol {
    Protocol { rules: Rules { broken }, ..WORLD }
}

#[test]
fn without_the_fence_on_the_epoch_a_worker_that_lost_its_chat_writes() {
    breaks(without(&[Rule::SettleFencedByEpoch]), &[CURRENT_EPOCH]);
}

#[test]
fn without_a_new_epoch_at_the_claim_a_worker_that_lost_its_chat_writes() {
    breaks(without(&[Rule::ClaimRaisesEpoch]), &[CURRENT_EPOCH]);
}

#[test]
fn without_either_fence_effects_are_written_twice_and_out_of_order() {
    breaks(
        without(&[Rule::SettleFencedByEpoch, Rule::SettleFencedByWatermark]),
        &[CURRENT_EPOCH, IN_ORDER, ONCE],
    );
}

/// The watermark moves only where the epoch does, so while a settle ends the lease the second fence has nothing to do.
/// It is the belt for the day that a settle does not: compare with the next two.
#[test]
fn the_fence_on_the_watermark_alone_may_go_as_long_as_a_settle_ends_the_lease() {
    let rules = Rules { broken: &[Rule::SettleFencedByWatermark] };
    Protocol { messages: [3, 0], misfortunes: 4, rules, ..WORLD }
        .checker()
        .spawn_bfs()
        .join()
        .assert_properties();
}

#[test]
fn a_settle_that_does_not_end_the_lease_miscounts_and_lets_a_late_renewal_hide_the_chat() {
    breaks(without(&[Rule::SettleEndsLease]), &[ATTEMPTS, NOT_HIDDEN, OWNER_IS_LOAN, NO_EMPTY_WAKE_UP]);
}

#[test]
fn a_settle_that_neither_ends_the_lease_nor_minds_the_watermark_writes_twice_when_repeated() {
    breaks(without(&[Rule::SettleEndsLease, Rule::SettleFencedByWatermark]), &[ONCE, IN_ORDER]);
}

#[test]
fn a_settle_that_believes_what_the_claim_saw_leaves_the_chat_asleep_for_ever() {
    breaks(without(&[Rule::SettleReadsLockedRow]), &[NO_LOST_WAKE_UP, ENDS_DONE]);
}

#[test]
fn a_release_that_keeps_its_attempt_charges_an_event_that_never_ran() {
    breaks(without(&[Rule::ReleaseRefunds]), &[ATTEMPTS]);
}

#[test]
fn a_defer_that_keeps_its_attempt_charges_an_event_for_the_fault_of_others() {
    breaks(without(&[Rule::DeferRefunds]), &[ATTEMPTS]);
}

#[test]
fn effects_that_are_written_before_the_fence_are_written_twice() {
    breaks(without(&[Rule::FenceBeforeEffects]), &[ONCE, CURRENT_EPOCH]);
}

#[test]
fn a_claim_that_reads_events_in_the_snapshot_that_found_the_chat_misses_its_head() {
    breaks(without(&[Rule::ClaimReadsInNewSnapshot]), &[HAS_HEAD]);
}

#[test]
fn an_append_that_always_wakes_its_chat_puts_two_workers_on_it() {
    breaks(without(&[Rule::AppendWakesOnlyTheIdle]), &[NOT_CUT_SHORT, ONE_WORKER]);
}

#[test]
fn an_append_that_remembers_no_keys_stores_a_copy() {
    breaks(without(&[Rule::AppendDropsCopies]), &[STORED_ONCE]);
}

#[test]
fn chats_that_lost_two_leases_and_still_run_beside_others_charge_the_innocent() {
    let rules = Rules { broken: &[Rule::LostTwiceRunsAlone] };
    breaks(Protocol { misfortunes: 0, poison: Some(2), rules, ..WORLD }, &[INNOCENT]);
}

#[test]
fn a_poison_that_is_never_buried_kills_without_end() {
    let rules = Rules { broken: &[Rule::SixthClaimBuries] };
    breaks(Protocol { misfortunes: 0, poison: Some(2), rules, ..WORLD }, &[KILLS_FEW]);
}
