-- A service area in small pieces: a point is tested against one piece of at most 128 vertices, however long the border
-- is. The whole shape stays the truth; the pieces follow it by themselves.
set local lock_timeout = '5s';

create table geo.area_part (
  area_id text not null,
  version int not null,
  part public.geometry(Geometry, 4326) not null,
  constraint area_part_area_fkey foreign key (area_id, version)
    references geo.service_area (area_id, version) on delete cascade
);
create index area_part_part on geo.area_part using gist (part);
create index area_part_area on geo.area_part (area_id, version);

create function geo.subdivide_v1() returns trigger language plpgsql as $$
begin
  delete from geo.area_part where area_id = old.area_id and version = old.version;
  insert into geo.area_part (area_id, version, part)
  select new.area_id, new.version, part.geom
  from public.st_dump(new.shape) as whole
  cross join lateral public.st_subdivide(whole.geom, 128) as part (geom);
  return null;
end
$$;

create trigger service_area_subdivide after insert or update of shape, area_id, version on geo.service_area
  for each row execute function geo.subdivide_v1();

insert into geo.area_part (area_id, version, part)
select area.area_id, area.version, part.geom
from geo.service_area as area
cross join lateral public.st_dump(area.shape) as whole
cross join lateral public.st_subdivide(whole.geom, 128) as part (geom);

-- The pieces of the versions in force.
create view geo.current_area_part as
  select part.area_id, part.version, part.part
  from geo.area_part as part
  join (select area_id, max(version) as version from geo.service_area group by area_id) as newest
    using (area_id, version);

grant select on geo.area_part, geo.current_area_part to abisu_geocode;
