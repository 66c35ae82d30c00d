-- Called by `geocoder status`. Reads every street and door. No lock.
select street.ine_code as "ine_code!",
  count(*) filter (where not street.is_place) as "streets!",
  count(*) filter (where street.is_place) as "places!",
  coalesce(sum((select count(*) from geo.portal as door where door.street_id = street.street_id)), 0)::bigint
    as "doors!"
from geo.street as street
group by street.ine_code
order by street.ine_code
