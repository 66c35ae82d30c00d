-- Called by `outbox reconcile` for what the contractor lists and no report of that time has. Index: report_reference.
select reference as "reference!", push_state, partner_id
from report.report
where reference = any($1::text[]) and partner_id is distinct from 'synthetic'
