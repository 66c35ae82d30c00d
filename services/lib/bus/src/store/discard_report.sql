-- Called by bus::outbox::operate::discard, in autocommit. Index: report_reference. Locks the report, then its attempt.
with found as materialized (
  select r.id, r.channel, r.push_state,
    r.push_state = 'pending' and r.push_owner is not null and r.push_visible_at > now()
      or exists (
        select from report.push_attempt a
        where a.report_id = r.id and a.closed_at is null and a.opened_at > now() - interval '2 minutes'
      ) as under_way
  from report.report r
  where r.reference = $1
  for no key update
), done as (
  update report.report r
  set push_state = 'dead', push_error = 'discarded', push_owner = null, push_epoch = r.push_epoch + 1
  from found
  where r.id = found.id and found.push_state in ('pending', 'review') and not found.under_way
  returning r.id, r.channel, found.push_state
), closed as (
  update report.push_attempt a
  set closed_at = clock_timestamp(), outcome = 'ambiguous', evidence = 'given up by a person'
  from done
  where a.report_id = done.id and a.closed_at is null
), noted as (
  insert into report.push_act (by, act, channel, report_id, because, detail)
  select $2, 'discard', channel, id, $3, jsonb_build_object('role', current_user, 'was', push_state)
  from done
), step as (
  insert into report.timeline (report_id, step, detail)
  select id, 'push_discarded', jsonb_build_object('was', push_state) from done
)
select push_state, under_way as "under_way!", exists (select from done) as "done!" from found
