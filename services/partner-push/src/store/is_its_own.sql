-- Called by push when a report is refused for a path or a right. Indexes: push_attempt_report, push_breaker_pkey. Locks
-- nothing. What refused this report before opened the breaker, and only an answer to another report has closed it since.
select exists (select from report.push_attempt a where a.report_id = $1 and a.outcome = 'misconfigured')
  and not exists (select from report.push_breaker b where b.channel = $2 and b.state <> 'closed') as "its_own!"
