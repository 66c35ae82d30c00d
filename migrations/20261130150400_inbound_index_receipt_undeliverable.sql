-- Messages that turned out undeliverable after they were accepted: a form among them met a client that is too old.
set local lock_timeout = '5s';

create index receipt_undeliverable on inbound.receipt (channel, received_at)
  where status = 'failed' and error_code = 131026;
