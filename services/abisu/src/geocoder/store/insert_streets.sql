-- Called by `geocoder load`, some thousand streets at a time, inside its transaction.
insert into geo.street (street_id, ine_code, kind, name, other_name, locality, is_place, point)
select street_id, $1, kind, name, other_name, locality, is_place,
  public.st_setsrid(public.st_makepoint(longitude, latitude), 4326)
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bool[], $8::float8[], $9::float8[])
  as new (street_id, kind, name, other_name, locality, is_place, latitude, longitude)
