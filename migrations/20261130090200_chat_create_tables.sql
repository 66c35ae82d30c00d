-- Mailboxes (what comes in, what goes out), sessions, aliases and replies.
set local lock_timeout = '5s';

create schema chat;

-- The mailbox of one conversation and nothing else. `ready_at` means *invisible until* and is the whole
-- scheduler: null = nothing to do; past = claimable; future = leased, backing off or deferred.
-- No column but `ready_at` may ever stand in an index (a column in an index makes its updates non-HOT).
create table chat.chat (
  id uuid not null,
  channel text not null,
  next_seq bigint not null default 1,
  done_seq bigint not null default 0,
  lent_to bigint not null default 0,
  ready_at timestamptz,
  owner uuid,
  epoch bigint not null default 0,
  head_attempts smallint not null default 0,
  lost smallint not null default 0,
  head_defers int not null default 0,
  head_error text,
  oldest_at timestamptz,
  hold boolean not null default false,
  merged_into uuid,
  constraint chat_pkey primary key (id),
  constraint chat_watermark check (done_seq < next_seq)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index chat_ready on chat.chat (channel, ready_at) where ready_at is not null;

-- How a person is known on a channel: `user_id` (business-scoped) or `phone`.
create table chat.alias (
  channel text not null,
  kind text not null,
  value text not null,
  chat_id uuid not null,
  constraint alias_pkey primary key (channel, kind, value),
  constraint alias_kind check (kind in ('user_id', 'phone'))
);
create index alias_chat on chat.alias (chat_id);

-- Where the conversation stands. Written only in the transaction that settles an event.
create table chat.session (
  chat_id uuid not null,
  step text not null,
  language text,
  report_id uuid,
  prompt uuid,
  state jsonb not null,
  updated_at timestamptz not null default now(),
  constraint session_pkey primary key (chat_id)
) with (fillfactor = 70);

-- The outgoing mailbox of a chat: same protocol, so replies of a chat leave in order.
create table chat.sender (
  id uuid not null,
  channel text not null,
  next_seq bigint not null default 1,
  done_seq bigint not null default 0,
  lent_to bigint not null default 0,
  ready_at timestamptz,
  owner uuid,
  epoch bigint not null default 0,
  head_attempts smallint not null default 0,
  lost smallint not null default 0,
  head_defers int not null default 0,
  head_error text,
  oldest_at timestamptz,
  constraint sender_pkey primary key (id),
  constraint sender_watermark check (done_seq < next_seq)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index sender_ready on chat.sender (channel, ready_at) where ready_at is not null;

-- A reply to send. `outcome` is null until it is known: sent, or dropped with its reason in `error`.
create table chat.outbound (
  id uuid not null,
  chat_id uuid not null,
  channel text not null,
  seq bigint not null,
  payload jsonb not null,
  prompt uuid,
  report_id uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  attempts int not null default 0,
  outcome text,
  outcome_at timestamptz,
  error text,
  trace_context text,
  constraint outbound_pkey primary key (id),
  constraint outbound_place unique (chat_id, seq),
  constraint outbound_outcome check (outcome in ('sent', 'dropped'))
);

-- Every provider id known for an outbound, from answers and from receipts.
create table chat.outbound_id (
  channel text not null,
  provider_id text not null,
  outbound_id uuid not null,
  constraint outbound_id_pkey primary key (channel, provider_id)
);
