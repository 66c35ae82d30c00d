-- What waits for a person, and what was given up: counted by the metrics, listed by `outbox review list`. The outbox's
-- state is in an index's condition already, so no update that was HOT stops being so.
set local lock_timeout = '5s';

create index report_stuck on report.report (channel, push_state, received_at) where push_state in ('review', 'dead');
