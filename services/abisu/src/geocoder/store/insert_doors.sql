-- Called by `geocoder load`, some thousand doors at a time, inside its transaction.
insert into geo.portal (street_id, number, extension, point)
select street_id, number, extension, public.st_setsrid(public.st_makepoint(longitude, latitude), 4326)
from unnest($1::uuid[], $2::int[], $3::text[], $4::float8[], $5::float8[])
  as new (street_id, number, extension, latitude, longitude)
