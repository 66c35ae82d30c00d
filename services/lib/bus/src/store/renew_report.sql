-- Called by bus::outbox::renew, in autocommit. Locks the report.
update report.report
set push_visible_at = clock_timestamp() + make_interval(secs => $3)
where id = $1 and push_epoch = $2 and push_state = 'pending'
