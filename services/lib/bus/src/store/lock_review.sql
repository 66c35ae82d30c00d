-- Called by bus::outbox::lock_review. Locks the report, if it still stands in review as it was found.
select id from report.report where id = $1 and push_epoch = $2 and push_state = 'review' for no key update
