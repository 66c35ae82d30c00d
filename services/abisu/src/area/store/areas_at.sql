-- Called by `area check --at`: every area in force, with the metres from it to a point, 0 inside and on the border.
-- Reads the few areas in force. No lock.
select area.area_id as "area_id!", area.version as "version!",
  case
    when public.st_covers(area.shape, at) then 0
    else public.st_distance(area.shape::public.geography, at::public.geography)
  end as "metres!"
from geo.current_area as area
cross join public.st_setsrid(public.st_makepoint($2, $1), 4326) as at
order by 3, 1
