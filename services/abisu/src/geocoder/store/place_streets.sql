-- Called by `geocoder load` at the end of its transaction: a street without a point of its own gets that of the door
-- next to the middle of all its doors. Index: portal_door.
update geo.street as street
set point = middle.point
from (
  select distinct on (door.street_id) door.street_id, door.point
  from geo.portal as door
  join (
    select street_id, public.st_centroid(public.st_collect(point)) as center
    from geo.portal
    group by street_id
  ) as every using (street_id)
  order by door.street_id, public.st_distance(door.point, every.center)
) as middle
where middle.street_id = street.street_id and street.ine_code = $1 and street.point is null
