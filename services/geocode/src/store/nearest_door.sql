-- Called by offline::reverse. Index: portal_point, for the few doors that are nearest in degrees, of which the one
-- nearest in metres is taken. No lock.
select street.kind as "kind!", street.name as "name!", street.other_name as "other_name!",
  street.locality as "locality!", door.number as "number!", door.extension as "extension!",
  public.st_y(door.point) as "latitude!", public.st_x(door.point) as "longitude!"
from (
  select portal.street_id, portal.number, portal.extension, portal.point
  from geo.portal
  order by portal.point operator(public.<->) public.st_setsrid(public.st_makepoint($3, $2), 4326)
  limit 16
) as door
join geo.street as street on street.street_id = door.street_id and street.ine_code = $1
order by public.st_distance(
  door.point::public.geography, public.st_setsrid(public.st_makepoint($3, $2), 4326)::public.geography)
limit 1
