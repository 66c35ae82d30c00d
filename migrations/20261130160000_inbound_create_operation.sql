-- What a person does to the inbound queue by hand: replay and discard, each one call that is noted with who and why.
set local lock_timeout = '5s';

-- Who did what, when and why. Append-only, without personal data. `target` is the activity id of a dead event or the
-- id of a rejection; null where it concerned a channel.
create table inbound.operation (
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  by text not null,
  act text not null,
  channel text not null,
  target uuid,
  because text not null,
  detail jsonb not null default '{}',
  constraint operation_pkey primary key (id)
);
create index operation_target on inbound.operation (target) where target is not null;

-- Options of a channel's queue. No row: the defaults.
create table inbound.channel_option (
  channel text not null,
  -- A dead event stops its chat until a person replays or discards it.
  hold_on_dead boolean not null default false,
  constraint channel_option_pkey primary key (channel)
);

-- Dead events and rejections stay readable after they were dealt with, until the purge.
alter table inbound.dead
  add column discarded_at timestamptz,
  add column held boolean not null default false,
  add constraint dead_resolution check (replayed_at is null or discarded_at is null);
alter table inbound.rejection
  add column resolved_at timestamptz,
  add column resolution text,
  add constraint rejection_resolution check (
    (resolved_at is null) = (resolution is null) and resolution in ('replayed', 'discarded'));

-- Lets a chat go on that was held for a dead event, once none is left for which it is held. Locks the chat.
create function inbound.lift_hold_v1(p_chat_id uuid) returns boolean
language plpgsql set search_path = pg_catalog as $$
begin
  update chat.chat c
  set hold = false,
      ready_at = case when c.next_seq - 1 > c.done_seq then coalesce(c.ready_at, clock_timestamp()) end
  where c.id = p_chat_id and c.hold
    and not exists (
      select from inbound.dead d
      where d.chat_id = p_chat_id and d.held and d.replayed_at is null and d.discarded_at is null);
  return found;
end
$$;

-- Appends a dead event again at the tail of its chat, or of the chat that its person has now, and returns its place
-- there; null where there is nothing to replay, so that a repeat does nothing. The dedup keys are passed by: it is the
-- same message on purpose. The original stays dead.
--
-- Called by bus::operate. Locks: chat, then the dead row.
create function inbound.replay_v1(p_activity_id uuid, p_new_activity_id uuid, p_by text, p_because text)
returns bigint
language plpgsql set search_path = pg_catalog as $$
declare
  it inbound.dead;
  home uuid;
  place bigint;
  now_ timestamptz := clock_timestamp();
begin
  select * into it from inbound.dead d
  where d.activity_id = p_activity_id and d.replayed_at is null and d.discarded_at is null;
  if not found then
    return null;
  end if;
  home := it.chat_id;
  loop
    update chat.chat c
    set next_seq = c.next_seq + 1,
        ready_at = case when c.hold then c.ready_at else coalesce(c.ready_at, now_) end,
        oldest_at = case when c.done_seq = c.next_seq - 1 then now_ else c.oldest_at end
    where c.id = home and c.merged_into is null
    returning c.next_seq - 1 into place;
    exit when found;
    select c.merged_into into strict home from chat.chat c where c.id = home;
  end loop;
  update inbound.dead d
  set replayed_at = clock_timestamp(), replayed_by = p_by, replay_seq = place
  where d.chat_id = it.chat_id and d.seq = it.seq and d.replayed_at is null and d.discarded_at is null;
  if not found then
    raise exception 'somebody else replays or discards it' using errcode = '40001';
  end if;
  -- Timed after the chat's lock, so that time follows sequence.
  insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, sent_at, received_at,
                             replay_of, trace_context)
  values (home, place, p_new_activity_id, it.channel, it.message_id, it.kind, it.payload, it.sent_at,
          clock_timestamp(), it.activity_id, it.trace_context);
  perform inbound.lift_hold_v1(it.chat_id);
  insert into inbound.operation (by, act, channel, target, because, detail)
  values (p_by, 'dead_replay', it.channel, it.activity_id, p_because,
          jsonb_build_object('role', session_user, 'activity_id', p_new_activity_id));
  return place;
end
$$;

-- Gives a dead event up for good. False where there is nothing to discard. Locks: chat, then the dead row.
create function inbound.discard_v1(p_activity_id uuid, p_by text, p_because text) returns boolean
language plpgsql set search_path = pg_catalog as $$
declare
  it inbound.dead;
begin
  select * into it from inbound.dead d
  where d.activity_id = p_activity_id and d.replayed_at is null and d.discarded_at is null;
  if not found then
    return false;
  end if;
  perform from chat.chat c where c.id = it.chat_id for no key update;
  update inbound.dead d set discarded_at = clock_timestamp()
  where d.chat_id = it.chat_id and d.seq = it.seq and d.replayed_at is null and d.discarded_at is null;
  if not found then
    raise exception 'somebody else replays or discards it' using errcode = '40001';
  end if;
  perform inbound.lift_hold_v1(it.chat_id);
  insert into inbound.operation (by, act, channel, target, because, detail)
  values (p_by, 'dead_discard', it.channel, it.activity_id, p_because, jsonb_build_object('role', session_user));
  return true;
end
$$;

revoke execute on function inbound.lift_hold_v1(uuid) from public;
revoke execute on function inbound.replay_v1(uuid, uuid, text, text) from public;
revoke execute on function inbound.discard_v1(uuid, text, text) from public;

grant select on inbound.channel_option to abisu_conversation;
