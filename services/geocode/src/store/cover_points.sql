-- Called by coverage::cover for the candidates of a typed address, all at once. Reads the few areas in force, no lock.
-- One row for each point, in order; `loaded` is the same in all of them and says whether there is any area at all.
select
  area.area_id as "area_id?",
  area.version as "version?",
  exists (select from geo.service_area) as "loaded!"
from unnest($1::float8[], $2::float8[]) with ordinality as point (latitude, longitude, place)
left join lateral (
  select current.area_id, current.version
  from geo.current_area as current
  where public.st_covers(
    current.shape, public.st_setsrid(public.st_makepoint(point.longitude, point.latitude), 4326))
  order by current.area_id
  limit 1
) as area on true
order by point.place
