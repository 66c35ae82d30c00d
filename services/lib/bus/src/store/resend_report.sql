-- Called by bus::outbox::operate::resend, in autocommit. Index: report_reference. Locks the report, then its attempt.
-- From review and dead; from sent only by force. It starts anew: its attempts are given back.
with found as materialized (
  select r.id, r.channel, r.push_state, r.partner_id, r.push_sent_at,
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
  set push_state = 'pending', push_error = null, push_owner = null, push_epoch = r.push_epoch + 1,
    push_attempts = 0, push_visible_at = clock_timestamp(), push_sent_at = null, partner_id = null,
    push_without_photo = r.push_without_photo or $2::bool
  from found
  where r.id = found.id and not found.under_way
    and (found.push_state in ('review', 'dead') or found.push_state = 'sent' and $3::bool)
  returning r.id, r.channel, found.push_state, found.partner_id, found.push_sent_at
), closed as (
  update report.push_attempt a
  set closed_at = clock_timestamp(), outcome = 'absent', evidence = 'a person says that it did not arrive'
  from done
  where a.report_id = done.id and a.closed_at is null
), noted as (
  insert into report.push_act (by, act, channel, report_id, because, detail)
  select $4, 'resend', channel, id, $5,
    jsonb_build_object('role', current_user, 'was', push_state, 'was_partner_id', partner_id,
      'was_sent_at', push_sent_at, 'without_photo', $2::bool, 'forced', $3::bool)
  from done
), step as (
  insert into report.timeline (report_id, step, detail)
  select id, 'push_again', jsonb_build_object('was', push_state, 'by', 'a person') from done
)
select push_state, under_way as "under_way!", exists (select from done) as "done!" from found
