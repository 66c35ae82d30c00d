-- Called by `outbox backlog`. Index: report_oldest; the comparison reads the reports of the channel once.
-- Beside each the nearest earlier one of the same category within a week and 30 metres, whatever became of it: perhaps
-- the same thing, seen by another citizen. Nothing is made of that but a hint.
with shown as materialized (
  select id, reference, received_at, route, point, photo_sha256, push_without_photo, push_attempts, push_error,
    push_visible_at
  from report.report
  where channel = $1 and state = 'received' and push_state = 'pending'
  order by received_at, reference
  limit $2
), near as (
  select distinct on (s.id) s.id, o.reference, o.push_state,
    public.st_distance(o.point::public.geography, s.point::public.geography) as metres
  from shown s
  join report.report o on o.channel = $1 and o.state = 'received' and o.route = s.route and o.id <> s.id
    and (o.received_at, o.reference) < (s.received_at, s.reference)
    and o.received_at > s.received_at - interval '7 days'
    and public.st_dwithin(o.point::public.geography, s.point::public.geography, 30)
  order by s.id, metres, o.received_at desc
)
select s.reference as "reference!", s.received_at as "received_at!", s.route as "route!",
  s.photo_sha256 is not null as "has_photo!", s.photo_sha256 is null and not s.push_without_photo as "awaits_photo!",
  s.push_attempts as "push_attempts!", s.push_error, s.push_visible_at as "push_visible_at!",
  n.reference as "near_reference?", n.push_state as "near_push_state?", n.metres as "near_metres?"
from shown s
left join near n on n.id = s.id
order by s.received_at, s.reference
