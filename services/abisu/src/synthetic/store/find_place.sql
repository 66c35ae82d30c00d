-- Called by `synthetic report`: a point within what the city serves now.
select public.st_y(p.point) as "latitude!", public.st_x(p.point) as "longitude!"
from (
  select public.st_pointonsurface(shape) as point from geo.current_area order by area_id limit 1
) p
