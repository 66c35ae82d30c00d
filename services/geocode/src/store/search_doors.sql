-- Called by offline::search. Index: street_sound for the streets that sound alike, portal_door for their doors. No lock.
-- The best streets first, by the words that were asked for alone, so that a part of a name ("Moraza") and a name in
-- either language count; of each the doors that are nearest to the number ($3), 0 being the house without one, or one
-- row without a door when no number is asked for.
-- The sound of the question is made once, and not while the statement is planned: it is the dearest part of it.
with asked as materialized (
  select geo.sound_v1($2) as sound
), alike as (
  select street.street_id, street.kind, street.name, street.other_name, street.locality, street.is_place,
    street.point,
    public.word_similarity((select sound from asked), street.sound) as words,
    public.similarity((select sound from asked), street.sound) as whole
  from geo.street
  where street.ine_code = $1
  -- A subquery and no join: only so does the index give the order.
  order by (select sound from asked) operator(public.<<->) street.sound
  limit 24
), street as (
  select * from alike where words >= 0.4 order by words desc, whole desc, street_id limit 6
)
select street.kind as "kind!", street.name as "name!", street.other_name as "other_name!",
  street.locality as "locality!", street.is_place as "is_place!", door.number as "number?",
  door.extension as "extension?",
  public.st_y(coalesce(door.point, street.point)) as latitude,
  public.st_x(coalesce(door.point, street.point)) as longitude
from street
left join lateral (
  select portal.number, portal.extension, portal.point
  from geo.portal
  where portal.street_id = street.street_id and $3::int is not null
    and (portal.number > 0) = ($3 > 0)
  order by abs(portal.number - $3) * (1 + abs(portal.number - $3) % 2), portal.extension
  limit 6
) as door on true
order by street.words desc, street.whole desc, street.street_id
