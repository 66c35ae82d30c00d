-- Called by `outbox review list`. Reads the reports that are not sent; push_attempt_report for each.
select r.reference as "reference!", r.channel, r.received_at as "received_at!", r.push_error,
  a.opened_at as "attempted_at?", a.outcome as "outcome?", a.http_status as "http_status?", a.evidence as "evidence?"
from report.report r
left join lateral (
  select p.opened_at, p.outcome, p.http_status, p.evidence
  from report.push_attempt p
  where p.report_id = r.id
  order by p.opened_at desc
  limit 1
) a on true
where r.push_state = 'review'
order by r.received_at, r.reference
