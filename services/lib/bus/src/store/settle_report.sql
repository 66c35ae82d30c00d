-- Called by bus::outbox::settle, alone or first in a transaction. Locks the report, then the attempt, then the rest.
-- Proof of a record (state sent) also resolves a review. Evidence is never fenced, and the first answer stands; the count
-- only makes the report come first. Indexes: the primary keys, timeline_report.
with settled as (
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
  returning id, channel
), closed as (
  update report.push_attempt
  set closed_at = clock_timestamp(), outcome = $9, http_status = $10, partner_id = $11, evidence = $12
  where id = $8 and closed_at is null and (select count(*) from settled) >= 0
), awaited as (
  -- A later token of the same report replaces the first. An empty one: the id is looked up by the external code.
  insert into report.push_token (report_id, channel, token, next_at)
  select id, channel, $13, clock_timestamp() + make_interval(secs => $14) from settled where $13::text is not null
  on conflict on constraint push_token_pkey do update
  set token = excluded.token, asked = 0, next_at = excluded.next_at
), step as (
  insert into report.timeline (report_id, step, trace_id, detail)
  select id, $15, $16, $17 from settled
  where $15::text is not null
    and (not $18::bool
      or $15 is distinct from (select t.step from report.timeline t where t.report_id = $1 order by t.id desc limit 1))
)
select exists (select from settled) as "ours!"
