-- Called by bus::photo::retry, in autocommit. Locks the fetch.
update report.photo_fetch
set visible_at = clock_timestamp() + make_interval(secs => $3), owner = null, epoch = epoch + 1, error = $4
where report_id = $1 and epoch = $2
