-- Called by bus::operate::push::list. Reads all reports, as a person's look may; dead ones are few or an alarm. Index:
-- timeline_report. Locks nothing. Given up for good is what `discard_report` and `discard_dead_push` write.
select d.reference as "reference!", d.channel, d.route as "route!", d.received_at as "received_at!",
  d.dead_at as "dead_at!", d.push_attempts as attempts, d.error as "error!", d.trace_context,
  d.discarded as "discarded!"
from (
  select r.*, coalesce(r.push_error, 'no reason noted') as error, r.push_error is not distinct from 'discarded' as discarded,
    coalesce(
      (select max(t.at) from report.timeline t where t.report_id = r.id and t.step like 'push%'), r.received_at
    ) as dead_at
  from report.report r
  where r.push_state = 'dead' and ($1::text[] is null or r.reference = any ($1))
    and ($2::text is null or r.channel = $2)
) d
where ($3::timestamptz is null or d.dead_at >= $3)
  and ($4::text is null or strpos(d.error, $4) > 0)
  and ($5 or not d.discarded)
order by d.dead_at, d.reference
limit $6
