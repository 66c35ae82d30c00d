-- Called by bus::photo::store, after the fetch was removed under its epoch. Locks the report.
with stored as (
  insert into report.photo (sha256, content_type, bytes) values ($2, $3, $4) on conflict (sha256) do nothing
)
update report.report set photo_sha256 = $2 where id = $1
