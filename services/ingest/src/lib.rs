//! The door: signed deliveries in, events stored before the answer.
