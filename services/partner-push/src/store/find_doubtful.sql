-- Called by the probe, every few seconds where the partner can be searched. Locks nothing.
-- The newest attempt decides: an older one was answered for before it was opened. Only those of after $5, so that those
-- of which a search tells nothing keep nobody from being looked for.
select r.id as "report_id!", r.push_epoch as "epoch!", r.reference as "reference!", a.id as "attempt_id!",
  a.opened_at as "opened_at!", n.absences as "absences!"
from report.report r
cross join lateral (
  select p.id, p.closed_at, p.opened_at, p.outcome
  from report.push_attempt p
  where p.report_id = r.id
  order by p.opened_at desc
  limit 1
) a
cross join lateral (
  select count(*) as absences, max(t.at) as last_at
  from report.timeline t
  where t.report_id = r.id and t.step = $4 and t.detail ->> 'attempt_id' = a.id::text
) n
where r.channel = $1 and r.push_state = 'review' and (a.closed_at is null or a.outcome = 'ambiguous')
  and case when n.absences = 0 then coalesce(a.closed_at, a.opened_at) + make_interval(secs => $2)
    else n.last_at + make_interval(secs => $3) end <= now()
  and a.opened_at > coalesce($5::timestamptz, '-infinity')
order by a.opened_at
limit 20 -- store::DOUBTFUL_AT_ONCE
