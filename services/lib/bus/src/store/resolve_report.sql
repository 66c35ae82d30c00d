-- Called by bus::outbox::operate::resolve_as_sent, in autocommit. Index: report_reference. Locks the report, then its attempt.
-- One that is sent already gets another id only by force.
with found as materialized (
  select r.id, r.channel, r.push_state, r.partner_id,
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
  set push_state = 'sent', push_error = null, push_owner = null, push_epoch = r.push_epoch + 1,
    push_sent_at = coalesce(r.push_sent_at, clock_timestamp()), partner_id = $2
  from found
  where r.id = found.id and not found.under_way and (found.push_state <> 'sent' or $3::bool)
    and r.state = 'received'
  returning r.id, r.channel, found.push_state, found.partner_id
), closed as (
  update report.push_attempt a
  set closed_at = clock_timestamp(), outcome = 'already_there', partner_id = $2, evidence = 'found by a person'
  from done
  where a.report_id = done.id and a.closed_at is null
), noted as (
  insert into report.push_act (by, act, channel, report_id, because, detail)
  select $4, 'resolve_sent', channel, id, $5,
    jsonb_build_object('role', current_user, 'was', push_state, 'was_partner_id', partner_id, 'partner_id', $2::text)
  from done
), step as (
  insert into report.timeline (report_id, step, detail)
  select id, 'push_resolved', jsonb_build_object('was', push_state, 'partner_id', $2::text) from done
)
select push_state, under_way as "under_way!", exists (select from done) as "done!" from found
