-- Messages that failed after they were accepted, by the time of the receipt: what may pass is said again, what a person
-- must put right pauses the channel. Few rows, and the table is read once to find them; who appends meanwhile waits for
-- less time than the provider does before it delivers again.
set local lock_timeout = '5s';

create index receipt_failed on inbound.receipt (channel, received_at) where status = 'failed' and error_code is not null;
