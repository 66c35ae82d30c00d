-- The areas a city serves, versioned. The newest version of an area is the one in force.
set local lock_timeout = '5s';

create schema geo;

create table geo.service_area (
  area_id text not null,
  version int not null,
  shape public.geometry(MultiPolygon, 4326) not null,
  loaded_at timestamptz not null default now(),
  loaded_by text not null default current_user,
  constraint service_area_pkey primary key (area_id, version),
  constraint service_area_valid check (public.st_isvalid(shape) and not public.st_isempty(shape))
);
create index service_area_shape on geo.service_area using gist (shape);

-- The versions in force.
create view geo.current_area as
  select distinct on (area_id) area_id, version, shape
  from geo.service_area
  order by area_id, version desc;
