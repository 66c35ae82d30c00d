-- What the replicas share about a channel: whether it is paused, and when its number may send again.
set local lock_timeout = '5s';

-- A paused channel keeps its queue and nothing of it is claimed. It resumes when a probe succeeds, or by hand:
--   update chat.channel_state set paused_at = null, pause_reason = null, resumed_at = now() where channel = '…';
create table chat.channel_state (
  channel text not null,
  paused_at timestamptz,
  pause_reason text,
  -- The next look whether what was wrong is right again.
  probe_at timestamptz,
  -- Pauses in a row; the looks come at longer intervals.
  strikes smallint not null default 0,
  resumed_at timestamptz,
  -- The number's limit: every send moves it on by its share of a second.
  send_free_at timestamptz not null default '-infinity',
  constraint channel_state_pkey primary key (channel),
  constraint channel_state_paused check ((paused_at is null) = (pause_reason is null) and (paused_at is null or probe_at is not null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

-- The limit of a pair: every send moves it on by the share of one message, and it may run ahead by a burst.
alter table chat.sender add column pair_free_at timestamptz not null default '-infinity';

-- A form that could not be sent: no release, or blocked by the provider. Sent again when it may work.
create table chat.delayed_form (
  chat_id uuid not null,
  channel text not null,
  outbound_id uuid not null,
  reason text not null,
  try_at timestamptz not null,
  constraint delayed_form_pkey primary key (chat_id),
  constraint delayed_form_reason check (reason in ('no_flow_release', 'flow_blocked'))
);
create index delayed_form_due on chat.delayed_form (channel, try_at);

grant select, insert, update on chat.channel_state to abisu_conversation;
grant select, insert, update, delete on chat.delayed_form to abisu_conversation;
