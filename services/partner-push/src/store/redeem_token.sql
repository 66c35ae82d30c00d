-- Called by names. Locks the report, then its token. The id is written where none is known yet.
with named as (
  update report.report set partner_id = coalesce(partner_id, $2) where id = $1 and push_state = 'sent'
), gone as (
  delete from report.push_token where report_id = $1 returning report_id
)
insert into report.timeline (report_id, step, trace_id, detail)
select report_id, 'push_named', $3, jsonb_build_object('partner_id', $2::text) from gone
