//! The queues on Postgres: append, claim, settle, renew, outbox, wake-up.
