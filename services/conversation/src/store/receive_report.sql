-- Called by store::receive, under the chat's lock. Locks the report.
-- The state and the reference change in this one statement, and only from draft: one report per completion. With it the
-- report is in the outbox, by the defaults of its own columns; one without a photo waits for none. The number is never cut: at least five digits.
update report.report
set state = 'received',
    received_at = now(),
    push_visible_at = now(),
    reference = 'REF-' || to_char(created_at at time zone $2, 'YYYY') || '-' || (
      select case when length(number) < 5 then lpad(number, 5, '0') else number end
      from (select nextval('report.reference_number')::text as number) as next
    ),
    route = $3,
    note = $4,
    taxonomy_version = $5,
    prompt = $6,
    trace_context = $7,
    push_without_photo = not $8
where id = $1 and state = 'draft'
returning reference as "reference!", address, route as "route!", taxonomy_version as version
