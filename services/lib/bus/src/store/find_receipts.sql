-- Called by bus::outbound::receipts_of. Index: receipt_outbound.
select distinct provider_id from inbound.receipt where outbound_id = $1
