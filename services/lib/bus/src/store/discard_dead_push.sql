-- Called by bus::operate::push::discard, in autocommit. Index: report_reference. Locks the report. Its state stays; the
-- reason that it had is kept with the act and on the timeline.
with found as materialized (
  select r.id, r.channel, r.push_error
  from report.report r
  where r.reference = $1 and r.push_state = 'dead' and r.push_error is distinct from 'discarded'
  for no key update
), done as (
  update report.report r set push_error = 'discarded', push_epoch = r.push_epoch + 1
  from found
  where r.id = found.id
  returning r.id, r.channel, found.push_error
), noted as (
  insert into report.push_act (by, act, channel, report_id, because, detail)
  select $2, 'discard', channel, id, $3,
    jsonb_build_object('role', current_user, 'was', 'dead', 'error', push_error)
  from done
), step as (
  insert into report.timeline (report_id, step, detail)
  select id, 'push_discarded', jsonb_build_object('was', 'dead', 'error', push_error) from done
)
select exists (select from done) as "done!"
