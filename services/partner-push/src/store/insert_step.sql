-- Called by store::note_absence, under the report's lock.
insert into report.timeline (report_id, step, trace_id, detail) values ($1, $2, $3, $4)
