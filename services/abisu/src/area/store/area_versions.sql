-- Called by `area show`: the versions of an area, newest first, with the time in which each was in force. Index:
-- service_area_pkey. No lock.
select area.version as "version!", area.loaded_at as "loaded_at!", area.loaded_by as "loaded_by!",
  lead(area.loaded_at) over (order by area.version) as replaced_at,
  public.st_area(area.shape::public.geography) / 1e6 as "km2!",
  public.st_npoints(area.shape) as "vertices!",
  public.st_numgeometries(area.shape) as "parts!",
  public.st_nrings(area.shape) - public.st_numgeometries(area.shape) as "holes!",
  public.st_xmin(area.shape) as "west!", public.st_xmax(area.shape) as "east!",
  public.st_ymin(area.shape) as "south!", public.st_ymax(area.shape) as "north!",
  public.st_asgeojson(area.shape, 15) as "geojson!"
from geo.service_area as area
where area.area_id = $1
order by area.version desc
