-- Called by `report show`. Index: push_attempt_report.
select opened_at, closed_at, endpoint, outcome, http_status, partner_id, evidence, trace_id
from report.push_attempt
where report_id = $1
order by opened_at, id
