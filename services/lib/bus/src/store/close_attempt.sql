-- Called by bus::outbox::close_attempt. By the attempt's own id: evidence is never fenced, the first answer stands.
update report.push_attempt
set closed_at = clock_timestamp(), outcome = $2, http_status = $3, partner_id = $4, evidence = $5
where id = $1 and closed_at is null
