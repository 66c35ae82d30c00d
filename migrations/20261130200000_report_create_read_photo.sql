-- What ingest may know of a report: the bytes of a photo whose hash it was shown in a signed link, and nothing else. It
-- cannot list photos, and no table of this schema can be read by its role.
set local lock_timeout = '5s';

create function report.read_photo_v1(wanted bytea) returns table (content_type text, bytes bytea)
language sql stable strict security definer set search_path = pg_catalog
as $$ select p.content_type, p.bytes from report.photo p where p.sha256 = wanted $$;
revoke execute on function report.read_photo_v1(bytea) from public;

grant usage on schema report to abisu_ingest;
grant execute on function report.read_photo_v1(bytea) to abisu_ingest;
