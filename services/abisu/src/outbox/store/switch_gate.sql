-- Called by `outbox pause` and `outbox resume`. Indexes: push_gate_pkey, report_oldest. Locks the switch, then the breaker,
-- then the reports that wait, as far as nobody else has them locked.
-- Without a row it is not paused, so `resume` makes none. What gathered during a pause goes out at the set rate. A breaker
-- that is open goes on trial at once, with a login for a sign of life: somebody says that it is over. What waits for its
-- time and nobody holds is due then, or there might be nothing to try it with.
with switched as (
  insert into report.push_gate (channel, paused, changed_by, because)
  select $1, $2::bool, $3, $4
  where $2 or exists (select from report.push_gate g where g.channel = $1)
  on conflict on constraint push_gate_pkey do update
  set paused = excluded.paused, changed_at = now(), changed_by = excluded.changed_by, because = excluded.because
  where push_gate.paused <> excluded.paused
  returning channel, paused
), hurried as (
  select channel from report.push_breaker where channel = $1 and not $2 and state = 'open' for no key update
), paced as (
  insert into report.push_breaker (channel, draining)
  select channel, true from switched where not paused
  union
  select channel, true from hurried
  on conflict on constraint push_breaker_pkey do update
  set draining = true,
    until = case when push_breaker.state = 'open' then now() else push_breaker.until end,
    doubts = case when push_breaker.state = 'open' then 0 else push_breaker.doubts end
), due as (
  update report.report r
  set push_visible_at = clock_timestamp()
  from (
    select r.id from report.report r
    where r.channel = (select channel from hurried) and r.state = 'received' and r.push_state = 'pending'
      and r.push_owner is null and r.push_visible_at > clock_timestamp()
    for no key update skip locked
  ) waiting
  where r.id = waiting.id
), noted as (
  insert into report.push_act (by, act, channel, because, detail)
  select $3, case when $2 then 'pause' else 'resume' end, channel, $4,
    jsonb_build_object('role', current_user, 'tried_at_once', exists (select from hurried))
  from (select channel from switched union select channel from hurried) touched
)
select exists (select from switched) as "switched!", exists (select from hurried) as "hurried!",
  (select count(*) from report.push_attempt a
   where a.closed_at is null and a.opened_at > now() - interval '2 minutes') as "under_way!",
  exists (select from report.report r where r.channel = $1)
    or exists (select from flow.release f where f.channel = $1) as "known!"
