-- The outbox goes out oldest first, also after an outage, when what was tried last would else come last.
-- With `push_visible_at` in no index, claims, renewals and deferrals of a report are HOT updates.
set local lock_timeout = '5s';

create index report_oldest on report.report (channel, received_at, id) where push_state = 'pending' and state = 'received';
drop index report.report_due;
