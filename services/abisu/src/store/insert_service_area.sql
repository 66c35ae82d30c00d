-- Called by `area load`. Inserts the next version unless the one in force has this very shape.
-- Index: service_area_pkey. No lock: of two loads at once one fails on the primary key.
with new as (
  select public.st_setsrid(public.st_multi(public.st_geomfromgeojson($2::text)), 4326) as shape
), in_force as (
  select version, shape from geo.current_area where area_id = $1
), inserted as (
  insert into geo.service_area (area_id, version, shape)
  select $1, coalesce((select version from in_force), 0) + 1, shape from new
  where not exists (select from in_force where public.st_orderingequals(in_force.shape, new.shape))
  returning version
)
select coalesce((select version from inserted), (select version from in_force)) as "version!",
       exists (select from inserted) as "inserted!",
       public.st_area(shape::public.geography) / 1e6 as "km2!"
from new
