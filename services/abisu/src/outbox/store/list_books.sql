-- Called by `outbox reconcile`. Reads the channel's received reports since a moment.
select reference as "reference!", push_state, partner_id
from report.report
where channel = $1 and state = 'received' and received_at >= $2
order by reference
