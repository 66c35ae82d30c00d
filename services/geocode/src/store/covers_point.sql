-- Called by coverage::covers for a pin. Index: area_part_part. No lock. The border is inside, as in cover_points.sql.
-- The area that covers the point comes first, else the nearest one with its distance in metres; the pieces have the
-- border of the whole, and the lines between them have the area on both sides, so the nearest piece is as far as the
-- area.
with point as (
  select public.st_setsrid(public.st_makepoint($2, $1), 4326) as at
), inside as (
  select piece.area_id, piece.version
  from geo.current_area_part as piece
  cross join point
  where public.st_dwithin(piece.part, point.at, 1e-9)
  order by piece.area_id
  limit 1
), nearest as (
  select piece.area_id, piece.version,
    public.st_distance(piece.part::public.geography, point.at::public.geography) as metres
  from geo.current_area_part as piece
  cross join point
  where not exists (select from inside)
  order by 3, 1
  limit 1
)
select area_id as "area_id!", version as "version!", true as "inside!", 0::float8 as "metres!" from inside
union all
select area_id, version, false, metres from nearest
