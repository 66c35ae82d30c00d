-- Called by store::record_sent, in the transaction that records the evidence, which is repeated when the outcome of its
-- commit is unknown. Index: timeline_report.
insert into report.timeline (report_id, step, trace_id, detail)
select $1, $2, $3, jsonb_build_object('outbound_id', $4::uuid)
where not exists (
  select from report.timeline t where t.report_id = $1 and t.step = $2 and t.detail ->> 'outbound_id' = $4::uuid::text
)
