-- Called by `area load --dry-run` and `area check`: what a valid shape ($2, GeoJSON) is, and what it would change of the
-- version of the area ($1) that is in force. Index: service_area_pkey. No lock.
with new as (
  select public.st_setsrid(public.st_multi(public.st_geomfromgeojson($2::text)), 4326) as shape
), in_force as (
  select version, shape from geo.current_area where area_id = $1
)
select public.st_area(new.shape::public.geography) / 1e6 as "km2!",
  public.st_npoints(new.shape) as "vertices!",
  public.st_numgeometries(new.shape) as "parts!",
  public.st_nrings(new.shape) - public.st_numgeometries(new.shape) as "holes!",
  public.st_xmin(new.shape) as "west!", public.st_xmax(new.shape) as "east!",
  public.st_ymin(new.shape) as "south!", public.st_ymax(new.shape) as "north!",
  in_force.version as "version?",
  public.st_orderingequals(in_force.shape, new.shape) as "same?",
  public.st_area(public.st_difference(new.shape, in_force.shape)::public.geography) / 1e6 as "gained?",
  public.st_area(public.st_difference(in_force.shape, new.shape)::public.geography) / 1e6 as "lost?"
from new
left join in_force on true
