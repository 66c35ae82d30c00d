-- A send whose answer was lost is looked for among the receipts, by our own id. Not built concurrently: that waits for
-- every other session, also for a second migrator that waits for this one; before the first release the table is empty.
set local lock_timeout = '5s';

create index receipt_outbound on inbound.receipt (outbound_id) where outbound_id is not null;
