-- Called by `area list`: every area with the version in force. Index: service_area_pkey. No lock.
select area.area_id as "area_id!", area.version as "version!", area.loaded_at as "loaded_at!",
  public.st_area(area.shape::public.geography) / 1e6 as "km2!",
  public.st_npoints(area.shape) as "vertices!"
from geo.service_area as area
where area.version = (select max(version) from geo.service_area where area_id = area.area_id)
order by area.area_id
