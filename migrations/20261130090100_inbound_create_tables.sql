-- What came in: raw deliveries, events (append-only), dedup keys, the dead, rejections and receipts.
set local lock_timeout = '5s';

create schema inbound;

-- One HTTP call of a provider, as received. Dropped by partition after the retention.
create table inbound.delivery (
  id uuid not null,
  channel text not null,
  received_at timestamptz not null,
  body bytea not null,
  created int not null,
  duplicates int not null,
  rejected int not null,
  receipts int not null,
  trace_context text,
  constraint delivery_pkey primary key (received_at, id)
) partition by range (received_at);

-- One inbound message. Never updated, never deleted row by row: (chat_id, seq) is its place, the chat's
-- watermark says how far the work has come.
create table inbound.event (
  chat_id uuid not null,
  seq bigint not null,
  activity_id uuid not null,
  channel text not null,
  message_id text not null,
  kind text not null,
  payload jsonb not null,
  sent_at timestamptz,
  received_at timestamptz not null,
  delivery_id uuid,
  replay_of uuid,
  trace_context text
) partition by range (received_at);
create index event_place on inbound.event (chat_id, seq);

-- Keys of 128 bits over (channel, message id): unique across days, and no number readable in an id.
create table inbound.dedup (
  key uuid not null,
  activity_id uuid not null,
  day date not null,
  constraint dedup_pkey primary key (key)
);
create index dedup_day on inbound.dedup (day);

-- A copy of each event that was given up, kept until a person replays or discards it.
create table inbound.dead (
  chat_id uuid not null,
  seq bigint not null,
  activity_id uuid not null,
  channel text not null,
  message_id text not null,
  kind text not null,
  payload jsonb not null,
  sent_at timestamptz,
  received_at timestamptz not null,
  attempts smallint not null,
  error text not null,
  trace_context text,
  dead_at timestamptz not null default now(),
  dead_by text not null,
  replayed_at timestamptz,
  replayed_by text,
  replay_seq bigint,
  constraint dead_pkey primary key (chat_id, seq)
);

-- A message that can never be handled, with its own copy of the raw bytes.
create table inbound.rejection (
  id uuid not null,
  key uuid not null,
  channel text not null,
  message_id text,
  reason text not null,
  detail text not null,
  raw bytea not null,
  delivery_id uuid not null,
  received_at timestamptz not null default now(),
  trace_context text,
  constraint rejection_pkey primary key (id),
  constraint rejection_key unique (key)
);

-- A delivery status of something we sent. Only inserted: it may come before our own send is stored, and
-- statuses come in any order, so the state of an outbound is the maximum over its receipts.
create table inbound.receipt (
  key uuid not null,
  channel text not null,
  provider_id text not null,
  outbound_id uuid,
  status text not null,
  error_code bigint,
  occurred_at timestamptz not null,
  received_at timestamptz not null default now(),
  constraint receipt_pkey primary key (key)
);
create index receipt_provider on inbound.receipt (channel, provider_id);
