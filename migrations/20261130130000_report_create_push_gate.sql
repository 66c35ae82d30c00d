-- What all replicas of partner-push share about a channel's contractor, and what operators did to the outbox.
set local lock_timeout = '5s';

-- The pause switch. No row: not paused. Only people write it.
create table report.push_gate (
  channel text not null,
  paused boolean not null,
  changed_at timestamptz not null default now(),
  changed_by text not null,
  because text not null,
  constraint push_gate_pkey primary key (channel)
);

-- The breaker. No row: closed. `until` is when an open one goes on trial, and when a trial is over whose owner has
-- gone. While `draining`, what gathered during an outage goes out at a set rate; `paced_until` is how far the reports
-- that were let through reach at that rate.
create table report.push_breaker (
  channel text not null,
  state text not null default 'closed',
  streak int not null default 0,
  trips int not null default 0,
  until timestamptz not null default now(),
  owner uuid,
  cause text,
  changed_at timestamptz not null default now(),
  draining boolean not null default false,
  paced_until timestamptz not null default now(),
  constraint push_breaker_pkey primary key (channel),
  constraint push_breaker_state check (state in ('closed', 'open', 'trial')),
  constraint push_breaker_owner check (owner is null or state = 'trial')
) with (fillfactor = 50);

-- Who did what to the outbox by hand, when and why. Append-only. `report_id` is null where it concerned a channel.
create table report.push_act (
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  by text not null,
  act text not null,
  channel text not null,
  report_id uuid,
  because text not null,
  detail jsonb not null default '{}',
  constraint push_act_pkey primary key (id)
);
create index push_act_report on report.push_act (report_id) where report_id is not null;

-- A person has decided that the report may go without the photo that did not come.
alter table report.report add column push_without_photo boolean not null default false;

grant select on report.push_gate to abisu_partner_push;
grant select, insert, update on report.push_breaker to abisu_partner_push;
