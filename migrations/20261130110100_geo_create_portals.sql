-- Streets and doors for a geocode service that asks nobody else. Loaded by `abisu geocoder load`, a municipality at a
-- time, searched by sound and by trigrams.
set local lock_timeout = '5s';

create extension if not exists pg_trgm with schema public;

-- A name as it is heard: no case, no accents, no articles, and none of the spellings in which Basque and Spanish
-- differ (k/c, tx/ch, tz/z, b/v, h). Used by the loader through generated columns and by the search.
create function geo.sound_v1(name text) returns text language sql immutable strict parallel safe as $$
  select btrim(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
      normalize(lower(name), nfd),
      '[\u0300-\u036f]', '', 'g'),
      '[^a-z0-9]+', ' ', 'g'),
      '\m(de|del|la|el|los|las|y|eta)\M', ' ', 'g'),
      'qu|q', 'k', 'g'),
      -- One letter that is free by now for the sound of ch and tx.
      'tx|ch', 'q', 'g'),
      'ts|tz|z|x|c(?=[ei])', 's', 'g'),
      'c', 'k', 'g'),
      'gu(?=[ei])', 'G', 'g'),
      'g(?=[ei])', 'j', 'g'),
      '[vw]', 'b', 'g'),
      'h', '', 'g'),
      'y', 'i', 'g'),
      '([a-z])\1+', '\1', 'g'),
      ' +', ' ', 'g'))
$$;

create table geo.street (
  street_id uuid not null,
  ine_code text not null,
  -- The word for the kind, "Calle"; empty for a hamlet or a place.
  kind text not null,
  name text not null,
  -- The name in the other language, where it is another one.
  other_name text not null default '',
  locality text not null default '',
  is_place boolean not null,
  -- A point of the street: its own, or its middle door.
  point public.geometry(Point, 4326),
  sound text generated always as (geo.sound_v1(name || ' ' || other_name)) stored,
  constraint street_pkey primary key (street_id),
  constraint street_names unique (ine_code, kind, name, other_name, locality, is_place)
);
-- Not gin: it gives the best few in order, whatever the threshold, in half a millisecond over thousands of streets.
create index street_sound on geo.street using gist (sound public.gist_trgm_ops (siglen = 64));

create table geo.portal (
  street_id uuid not null,
  -- 0 for a house without a number.
  number int not null,
  extension text not null default '',
  point public.geometry(Point, 4326) not null,
  constraint portal_street_fkey foreign key (street_id) references geo.street (street_id) on delete cascade,
  constraint portal_number check (number >= 0)
);
create index portal_door on geo.portal (street_id, number);
create index portal_point on geo.portal using gist (point);

grant select on geo.street, geo.portal to abisu_geocode;
grant execute on function geo.sound_v1(text) to abisu_geocode;
revoke execute on function geo.subdivide_v1() from public;
