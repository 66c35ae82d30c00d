-- Called by bus::photo::store. Locks the report, then the fetch: the order in which a completion makes them.
-- Whoever does not remove the fetch under its epoch writes nothing.
with held as materialized (
  select id from report.report where id = $1 for no key update
), removed as (
  delete from report.photo_fetch f using held where f.report_id = held.id and f.epoch = $2
  returning f.report_id
), stored as (
  insert into report.photo (sha256, content_type, bytes)
  select $3, $4, $5 from removed
  on conflict (sha256) do nothing
)
update report.report r set photo_sha256 = $3 from removed where r.id = removed.report_id
