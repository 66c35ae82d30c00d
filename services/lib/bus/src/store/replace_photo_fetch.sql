-- Called by bus::photo::replace, under the chat's lock. Locks the fetch.
update report.photo_fetch
set media_id = $2, sha256 = $3, give_up_at = $4, trace_context = $5, visible_at = now(), attempts = 0, epoch = epoch + 1,
  owner = null, error = null, failed_at = null, asked_until = null
where report_id = $1 and failed_at is not null and asked_until is not null
