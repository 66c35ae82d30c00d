-- Called by coverage::covers for a pin. Reads the few areas in force, no lock. The border is inside (st_covers). The
-- area that covers the point comes first, else the nearest one with its distance in metres.
with point as (
  select public.st_setsrid(public.st_makepoint($2, $1), 4326) as at
)
select
  area.area_id as "area_id!",
  area.version as "version!",
  test.inside as "inside!",
  case
    when test.inside then 0
    else public.st_distance(area.shape::public.geography, point.at::public.geography)
  end as "metres!"
from geo.current_area as area
cross join point
cross join lateral (select public.st_covers(area.shape, point.at) as inside) as test
order by 3 desc, 4, 1
limit 1
