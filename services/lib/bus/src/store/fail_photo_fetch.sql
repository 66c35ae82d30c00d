-- Called by bus::photo::fail. Locks the fetch.
update report.photo_fetch
set failed_at = clock_timestamp(), owner = null, epoch = epoch + 1, error = $3, asked_until = $4
where report_id = $1 and epoch = $2
