-- Called by `geocoder load` for a layer that is not in degrees, some thousand points at a time, in their order. Reads
-- public.spatial_ref_sys only. No lock.
select public.st_x(point) as "longitude!", public.st_y(point) as "latitude!"
from unnest($2::float8[], $3::float8[]) with ordinality as given (east, north, place)
cross join lateral public.st_transform(
  public.st_setsrid(public.st_makepoint(given.east, given.north), $1::int), 4326) as point
order by given.place
