-- Reports with their outbox columns, attempts, timeline and photos.
set local lock_timeout = '5s';

create schema report;

-- The only global counter of the system.
create sequence report.reference_number;

create table report.report (
  id uuid not null,
  channel text not null,
  chat_id uuid not null,
  state text not null default 'draft',
  reference text,
  language text not null,
  point public.geometry(Point, 4326) not null,
  address text,
  area_id text not null,
  area_version int not null,
  taxonomy_version text,
  route text,
  note text,
  photo_sha256 bytea,
  prompt uuid,
  trace_context text,
  created_at timestamptz not null default now(),
  received_at timestamptz,
  -- The outbox: a received report is in it by the defaults of its own columns.
  push_state text not null default 'pending',
  push_attempts int not null default 0,
  push_error text,
  push_sent_at timestamptz,
  push_visible_at timestamptz not null default now(),
  push_epoch bigint not null default 0,
  push_owner uuid,
  partner_id text,
  constraint report_pkey primary key (id),
  constraint report_reference unique (reference),
  constraint report_state check (state in ('draft', 'received')),
  constraint report_push_state check (push_state in ('pending', 'sent', 'review', 'dead')),
  constraint report_received check ((state = 'received') = (reference is not null and route is not null and received_at is not null)),
  constraint report_pushed check (state = 'received' or push_state = 'pending')
) with (fillfactor = 70);
create index report_due on report.report (channel, push_visible_at) where push_state = 'pending' and state = 'received';
create index report_chat on report.report (chat_id);

-- One row per POST to the partner, committed before the request leaves. Open = nobody knows how it ended.
create table report.push_attempt (
  id uuid not null,
  report_id uuid not null,
  epoch bigint not null,
  endpoint text not null,
  external_code text not null,
  body_sha256 bytea not null,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  outcome text,
  http_status int,
  partner_id text,
  evidence text,
  trace_id text,
  constraint push_attempt_pkey primary key (id)
);
create unique index push_attempt_open on report.push_attempt (report_id) where closed_at is null;
create index push_attempt_report on report.push_attempt (report_id);

-- What happened to a report, in order. Append-only, without personal data.
create table report.timeline (
  id bigint generated always as identity,
  report_id uuid not null,
  step text not null,
  at timestamptz not null default clock_timestamp(),
  trace_id text,
  detail jsonb not null default '{}',
  constraint timeline_pkey primary key (id)
);
create index timeline_report on report.timeline (report_id, id);

-- One row per photo still to be fetched; claimed as rows with an epoch of their own.
create table report.photo_fetch (
  report_id uuid not null,
  channel text not null,
  media_id text not null,
  sha256 text,
  created_at timestamptz not null default now(),
  visible_at timestamptz not null default now(),
  give_up_at timestamptz not null,
  owner uuid,
  epoch bigint not null default 0,
  attempts int not null default 0,
  error text,
  failed_at timestamptz,
  trace_context text,
  constraint photo_fetch_pkey primary key (report_id)
);
create index photo_fetch_due on report.photo_fetch (channel, visible_at) where failed_at is null;

-- Photo bytes, once per content.
create table report.photo (
  sha256 bytea not null,
  content_type text not null,
  bytes bytea not null,
  stored_at timestamptz not null default now(),
  constraint photo_pkey primary key (sha256)
);
alter table report.photo alter column bytes set storage external;
