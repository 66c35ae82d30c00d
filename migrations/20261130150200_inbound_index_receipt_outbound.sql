-- no-transaction
-- A send whose answer was lost is looked for among the receipts, by our own id.
create index concurrently if not exists receipt_outbound on inbound.receipt (outbound_id) where outbound_id is not null;
