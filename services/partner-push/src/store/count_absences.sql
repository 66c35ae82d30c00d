-- Called by store::note_absence under the report's lock. Index: timeline_report.
select count(*) as "absences!" from report.timeline
where report_id = $1 and step = $2 and detail ->> 'attempt_id' = $3
