-- Called by `outbox reconcile`. Reads the channel's received reports since a moment. What was sent to nobody (the
-- synthetic channel's) is nobody else's to have.
select reference as "reference!", push_state, partner_id
from report.report
where channel = $1 and state = 'received' and received_at >= $2 and partner_id is distinct from 'synthetic'
order by reference
