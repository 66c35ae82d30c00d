-- Called by coverage::cover for the candidates of a typed address, all at once. Index: area_part_part. No lock.
-- One row for each point, in order; `loaded` is the same in all of them and says whether there is any area at all.
-- The border is inside: what st_covers says, and a hair of 1e-9 degrees (a tenth of a millimetre) more, because a point
-- on an edge that is not straight north or east can be written down only beside it, and so can a cut between pieces.
select
  area.area_id as "area_id?",
  area.version as "version?",
  exists (select from geo.service_area) as "loaded!"
from unnest($1::float8[], $2::float8[]) with ordinality as given (latitude, longitude, place)
left join lateral (
  select piece.area_id, piece.version
  from geo.current_area_part as piece
  where public.st_dwithin(
    piece.part, public.st_setsrid(public.st_makepoint(given.longitude, given.latitude), 4326), 1e-9)
  order by piece.area_id
  limit 1
) as area on true
order by given.place
