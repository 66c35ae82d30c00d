-- Called by bus::outbox::settle. Locks the report. Proof of a record (state sent) also resolves a review.
update report.report
set push_state = $3,
    push_visible_at = clock_timestamp() + make_interval(secs => $4),
    push_owner = null,
    push_epoch = push_epoch + 1,
    push_attempts = push_attempts - $6,
    push_error = $7,
    push_sent_at = case when $3 = 'sent' then clock_timestamp() end,
    partner_id = coalesce($5, partner_id)
where id = $1
  and (push_epoch = $2 and push_state = 'pending' or $3 = 'sent' and push_state in ('pending', 'review'))
