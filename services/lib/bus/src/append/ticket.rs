//! One delivery on its way: what of it is stored, and who waits for the answer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Delivery, Error, NewEvent, NewReceipt};

/// A delivery whose pieces are on their way. Answered when all of them are stored, or the first cannot be.
pub(super) struct Ticket {
    pub(super) channel: Arc<str>,
    pub(super) delivery_id: Uuid,
    pub(super) trace_context: Option<String>,
    pub(super) deadline: Instant,
    /// Some statement with a piece of it was sent.
    pub(super) tried: AtomicBool,
    state: Mutex<State>,
    /// Held until the last piece is gone, whoever still waits.
    _room: Place,
}

struct State {
    /// Pieces that are not stored yet.
    left: usize,
    /// The body, until a statement takes it along.
    body: Vec<u8>,
    /// Rejections that no delivery row tells of yet.
    untold: i32,
    tally: Tally,
    answer: Option<oneshot::Sender<Result<Tally, Error>>>,
}

/// What became of the pieces.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) created: HashSet<Uuid>,
    pub(super) duplicates: usize,
    pub(super) rejected: usize,
    pub(super) receipts: usize,
}

impl Ticket {
    pub(super) fn new(
        delivery: &mut Delivery,
        pieces: usize,
        deadline: Instant,
        room: Place,
    ) -> (Arc<Self>, oneshot::Receiver<Result<Tally, Error>>) {
        let (answer, answered) = oneshot::channel();
        let ticket = Self {
            channel: delivery.channel.as_str().into(),
            delivery_id: delivery.delivery_id,
            trace_context: delivery.trace_context.clone(),
            deadline,
            tried: AtomicBool::new(false),
            state: Mutex::new(State {
                left: pieces,
                body: std::mem::take(&mut delivery.body),
                untold: i32::try_from(delivery.rejections.len()).unwrap_or(i32::MAX),
                tally: Tally::default(),
                answer: Some(answer),
            }),
            _room: room,
        };
        (Arc::new(ticket), answered)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the delivery row of a statement says: the body and the rejections that no other has told of.
    pub(super) fn take_row(&self) -> (Vec<u8>, i32) {
        let mut state = self.state();
        (std::mem::take(&mut state.body), std::mem::take(&mut state.untold))
    }

    /// The statement was not carried out.
    pub(super) fn give_row_back(&self, (body, rejected): (Vec<u8>, i32)) {
        let mut state = self.state();
        state.untold += rejected;
        if !body.is_empty() {
            state.body = body;
        }
    }

    /// A piece was refused for its data and is kept as a rejection. It still needs a row that tells of it.
    pub(super) fn rejected(&self) {
        let mut state = self.state();
        state.untold += 1;
        state.tally.rejected += 1;
    }

    /// A piece is stored.
    pub(super) fn stored(&self, count: impl FnOnce(&mut Tally)) {
        let mut state = self.state();
        count(&mut state.tally);
        state.left -= 1;
        if state.left == 0
            && let Some(answer) = state.answer.take()
        {
            // Nobody waits any more: then nobody is told.
            let _ = answer.send(Ok(std::mem::take(&mut state.tally)));
        }
    }

    /// A piece is not stored, so the delivery is not.
    pub(super) fn failed(&self, error: Error) {
        if let Some(answer) = self.state().answer.take() {
            let _ = answer.send(Err(error));
        }
    }
}

/// A piece of a delivery: what one row stores.
pub(super) struct Item {
    pub(super) ticket: Arc<Ticket>,
    /// Pieces of one group belong to one chat, as far as the delivery tells, and keep their order.
    pub(super) group: u64,
    /// About how much memory it takes.
    pub(super) bytes: usize,
    pub(super) what: What,
}

pub(super) enum What {
    Event(NewEvent),
    Receipt(NewReceipt),
    /// Only the delivery's own row.
    Nothing,
}

/// How much may wait to be stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

/// What is taken of the limits.
#[derive(Default)]
pub(super) struct Room {
    rows: AtomicUsize,
    bytes: AtomicUsize,
}

/// A place in the room; given back when it is dropped.
pub(super) struct Place {
    room: Arc<Room>,
    rows: usize,
    bytes: usize,
}

impl Room {
    /// Takes a place. `None`: it is full. One that is larger than the whole room finds one when nobody else is there.
    pub(super) fn enter(self: &Arc<Self>, limits: Limits, rows: usize, bytes: usize) -> Option<Place> {
        let before =
            (self.rows.fetch_add(rows, Ordering::AcqRel), self.bytes.fetch_add(bytes, Ordering::AcqRel));
        let place = Place { room: Arc::clone(self), rows, bytes };
        let fits = before.0 + rows <= limits.rows && before.1 + bytes <= limits.bytes;
        (fits || before.0 == 0).then_some(place)
    }

    /// Rows that wait or are being stored.
    pub(super) fn rows(&self) -> usize {
        self.rows.load(Ordering::Acquire)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.rows.fetch_sub(self.rows, Ordering::AcqRel);
        self.room.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}
