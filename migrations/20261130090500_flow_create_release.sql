-- Published forms: which provider flow carries which content, and the taxonomy that its answers are read by.
set local lock_timeout = '5s';

create schema flow;

create table flow.release (
  id uuid not null,
  channel text not null,
  language text not null,
  version text not null,
  content_hash text not null,
  provider_flow_id text not null,
  first_screen text not null,
  state text not null,
  compiled jsonb not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  constraint release_pkey primary key (id),
  constraint release_content unique (channel, language, content_hash),
  constraint release_state check (state in ('draft', 'published', 'deprecated'))
);
