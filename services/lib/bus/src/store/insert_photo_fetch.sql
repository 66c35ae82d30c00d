-- Called by bus::photo::enqueue, in the transaction that receives the report.
insert into report.photo_fetch (report_id, channel, media_id, sha256, give_up_at, trace_context)
values ($1, $2, $3, $4, $5, $6)
