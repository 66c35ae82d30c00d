-- Called by bus::outbound::record_dropped. What was sent stays sent.
update chat.outbound
set outcome = 'dropped', outcome_at = now(), attempts = attempts + 1, error = $2
where id = $1 and outcome is null
