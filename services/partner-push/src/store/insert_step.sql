-- Called by store::settle and store::note_absence. Index: timeline_report. With $5, a step that repeats the last one is left out.
insert into report.timeline (report_id, step, trace_id, detail)
select $1, $2, $3, $4
where not $5::bool
  or $2 is distinct from (select t.step from report.timeline t where t.report_id = $1 order by t.id desc limit 1)
