-- The function of before, with plans that hold while the tables grow: on a new city's first minutes a call took ten times
-- as long as it must. The same name and arguments, so that the ingest of before gains by it too.
set local lock_timeout = '5s';

-- Appends the messages and receipts of several deliveries and returns the messages that are stored under *our* activity
-- ids, also when an earlier call of ours stored them and its answer was lost: what it does not return is a duplicate.
-- The arrays of a kind run in parallel, in the order in which they came; `p_deliveries` and `p_receipt_deliveries` say
-- to which delivery a message or receipt belongs, counted from 1. A delivery may come in several calls, of which one
-- carries the body; each leaves a row, and the counts of all of them together are those of the delivery.
--
-- Called by bus::append, at READ COMMITTED, repeated by the caller with the same activity ids on 40001, 40P01, 55P03
-- and a lost connection. Locks, in this order: dedup keys (by key), aliases (by kind, value), chats (by id), receipts
-- (by key). A wait for a lock is cut short, so that the caller can leave a frozen chat out and go on with the others.
-- Runs with its owner's rights because a merge must see that the session is idle, which ingest may not read.
--
-- Its plans must not depend on when they were made. A pool's sessions plan on the empty tables of a new city and keep
-- that plan while the tables grow, up to the next analyze: whole tables are never scanned, each identity is looked up by
-- all columns of its key (a scalar subquery leaves the planner no other way), and nothing is planned again for each
-- call, which would cost more than the call.
create or replace function inbound.append_v1(
  p_channel text,
  p_delivery_ids uuid[],
  p_bodies bytea[],
  p_trace_contexts text[],
  p_rejected int[],
  p_deliveries int[],
  p_keys uuid[],
  p_activity_ids uuid[],
  p_message_ids text[],
  p_kinds text[],
  p_user_ids text[],
  p_phones text[],
  p_payloads jsonb[],
  p_sent_at timestamptz[],
  p_new_chat_ids uuid[],
  p_receipt_deliveries int[],
  p_receipt_keys uuid[],
  p_provider_ids text[],
  p_outbound_ids uuid[],
  p_statuses text[],
  p_error_codes bigint[],
  p_occurred_at timestamptz[]
) returns table (activity_id uuid, chat_id uuid, seq bigint)
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '100ms'
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  fresh uuid[] := '{}';
  mine uuid[] := '{}';
  all_fresh boolean := false;
  user_chats uuid[];
  phone_chats uuid[];
  missing boolean;
  named text[] := '{}';
  now_ timestamptz := clock_timestamp();
  chat_ids uuid[];
  next_seqs bigint[];
  sizes bigint[];
  groups int;
  link record;
  stored int;
begin
  -- 1. Keep only what is new. Of two copies in one call the first wins.
  if cardinality(p_keys) > 0 then
    with added as (
      insert into inbound.dedup (key, activity_id, day)
      select distinct on (u.key) u.key, u.activity_id, (now_ at time zone 'UTC')::date
      from unnest(p_keys, p_activity_ids) with ordinality as u (key, activity_id, place)
      order by u.key, u.place
      on conflict do nothing
      returning activity_id
    )
    select coalesce(array_agg(activity_id), '{}') into fresh from added;

    all_fresh := cardinality(fresh) = cardinality(p_keys);
    if all_fresh then
      mine := fresh;
    else
      select coalesce(array_agg(u.activity_id), '{}') into mine
      from unnest(p_keys, p_activity_ids) as u (key, activity_id)
      where u.activity_id = (select d.activity_id from inbound.dedup d where d.key = u.key);
    end if;

    if cardinality(fresh) = 0 and cardinality(mine) > 0 then
      -- Our own call of before, whose answer was lost: all of it is stored, the deliveries too.
      return query select m, null::uuid, null::bigint from unnest(mine) m;
      return;
    end if;
  end if;

  -- Two calls at the same microsecond may each have a part of one delivery.
  insert into inbound.delivery as known (id, channel, received_at, body, created, duplicates, rejected, receipts,
                                         trace_context)
  select d.id, p_channel, now_, d.body, coalesce(e.created, 0), coalesce(e.duplicates, 0), d.rejected,
         coalesce(r.receipts, 0), d.trace_context
  from unnest(p_delivery_ids, p_bodies, p_trace_contexts, p_rejected) with ordinality
    as d (id, body, trace_context, rejected, place)
  left join (
    select u.delivery, count(*) filter (where all_fresh or u.activity_id = any (fresh)) as created,
           count(*) filter (where not all_fresh and u.activity_id <> all (mine)) as duplicates
    from unnest(p_deliveries, p_activity_ids) as u (delivery, activity_id)
    group by u.delivery
  ) e on e.delivery = d.place
  left join (
    select u.delivery, count(*) as receipts from unnest(p_receipt_deliveries) as u (delivery) group by u.delivery
  ) r on r.delivery = d.place
  on conflict on constraint delivery_pkey do update set
    body = known.body || excluded.body, created = known.created + excluded.created,
    duplicates = known.duplicates + excluded.duplicates, rejected = known.rejected + excluded.rejected,
    receipts = known.receipts + excluded.receipts;

  if cardinality(fresh) = 0 then
    perform inbound.append_receipts_v1(p_channel, p_receipt_keys, p_provider_ids, p_outbound_ids, p_statuses,
                                       p_error_codes, p_occurred_at);
    return;
  end if;

  if not all_fresh then
    select array_agg(u.delivery order by place), array_agg(u.activity_id order by place),
           array_agg(u.message_id order by place), array_agg(u.kind order by place),
           array_agg(u.user_id order by place), array_agg(u.phone order by place), array_agg(u.payload order by place),
           array_agg(u.sent_at order by place), array_agg(u.new_chat order by place)
    into p_deliveries, p_activity_ids, p_message_ids, p_kinds, p_user_ids, p_phones, p_payloads, p_sent_at,
         p_new_chat_ids
    from unnest(p_deliveries, p_activity_ids, p_message_ids, p_kinds, p_user_ids, p_phones, p_payloads, p_sent_at,
                p_new_chat_ids)
      with ordinality as u (delivery, activity_id, message_id, kind, user_id, phone, payload, sent_at, new_chat, place)
    where u.activity_id = any (fresh);
  end if;

  -- 2. Find the chat of each message; make the missing aliases, then read again in a new snapshot, because a
  --    concurrent call may have made them first.
  for pass in 1..2 loop
    select array_agg(u.user_chat order by u.place), array_agg(u.phone_chat order by u.place),
           bool_or(u.user_id is not null and u.user_chat is null or u.phone is not null and u.phone_chat is null)
    into user_chats, phone_chats, missing
    from (
      select n.*,
             (select a.chat_id from chat.alias a
              where (a.channel, a.kind, a.value) = (p_channel, 'user_id', n.user_id)) as user_chat,
             (select a.chat_id from chat.alias a
              where (a.channel, a.kind, a.value) = (p_channel, 'phone', n.phone)) as phone_chat
      from unnest(p_user_ids, p_phones) with ordinality as n (user_id, phone, place)
      offset 0  -- Evaluated once, though used twice.
    ) u;
    exit when not missing;
    if pass = 2 then
      raise exception 'an alias vanished while it was read' using errcode = '40001';
    end if;

    with sender as (
      select u.user_id, u.phone, u.place, u.new_chat,
        coalesce(
          u.user_chat,
          -- The phone's chat, unless it belongs to another business-scoped id already, or to one named earlier in this
          -- call: a recycled number.
          case when u.user_id is null
            or u.user_id = first_value(u.user_id) over (partition by u.phone_chat order by u.place)
            and not exists (select from chat.alias other where other.chat_id = u.phone_chat and other.kind = 'user_id')
          then u.phone_chat end
        ) as known_chat
      from unnest(p_user_ids, p_phones, user_chats, phone_chats, p_new_chat_ids) with ordinality
        as u (user_id, phone, user_chat, phone_chat, new_chat, place)
      where u.user_id is not null and u.user_chat is null or u.phone is not null and u.phone_chat is null
    ), person as (
      -- All phones of one business-scoped id find one chat; who has a phone only stands alone.
      select user_id, phone, place,
        coalesce(first_value(known_chat) over (same order by known_chat is null, place),
                 first_value(new_chat) over (same order by place)) as chat_id
      from sender
      window same as (partition by user_id, case when user_id is null then phone end)
    ), made as (
      insert into chat.alias (channel, kind, value, chat_id)
      select distinct on (kind, value) p_channel, kind, value, person.chat_id
      from person, lateral (values ('user_id', person.user_id), ('phone', person.phone)) as name (kind, value)
      where value is not null
      -- A row that names both identities decides, so that phone and id of one person meet in one chat.
      order by kind, value, (person.user_id is null or person.phone is null), person.place
      on conflict do nothing
      returning kind, value
    )
    select coalesce(array_agg(value) filter (where kind = 'user_id'), '{}') into named from made;
  end loop;

  -- 3. Number the events under the chats' row locks, taken in id order: commit order is sequence order.
  --    `ready_at` moves only from null: a lease or a backoff is never cut short by what comes in.
  with batch as (
    select coalesce(u.user_chat, u.phone_chat) as id, count(*) as size
    from unnest(user_chats, phone_chats) as u (user_chat, phone_chat)
    group by 1
  ), numbered as (
    insert into chat.chat as c (id, channel, next_seq, ready_at, oldest_at)
    select id, p_channel, 1 + size, now_, now_ from batch order by id
    on conflict (id) do update set
      next_seq = c.next_seq + excluded.next_seq - 1,
      ready_at = case when c.hold then c.ready_at else coalesce(c.ready_at, excluded.ready_at) end,
      oldest_at = case when c.done_seq = c.next_seq - 1 then excluded.oldest_at else c.oldest_at end
    where c.merged_into is null
    returning id, next_seq
  )
  select array_agg(n.id), array_agg(n.next_seq), array_agg(b.size), (select count(*) from batch)
  into chat_ids, next_seqs, sizes, groups
  from numbered n join batch b on b.id = n.id;
  if groups <> coalesce(cardinality(chat_ids), 0) then
    raise exception 'a chat was retired meanwhile' using errcode = '40001';
  end if;
  -- Two calls may each have given one phone's chat to a business-scoped id of their own. The chat's lock put them in
  -- order, so the later one sees the earlier here and starts over: two people never share a chat.
  if cardinality(named) > 0 and exists (
    select from unnest(p_user_ids, user_chats) as u (user_id, chat_id)
    where u.user_id = any (named) and exists (
      select from chat.alias other
      where other.chat_id = u.chat_id and other.kind = 'user_id' and other.value <> u.user_id
    )
  ) then
    raise exception 'a chat was taken meanwhile' using errcode = '40001';
  end if;

  -- 4. One person, two identities: the chat of the business-scoped id stays, the phone's alias moves to it. Where
  --    the phone's chat has no id of its own it is the same person; it is retired once it is at rest.
  for link in
    select distinct u.user_chat as stays, u.phone_chat as leaves, u.phone
    from unnest(user_chats, phone_chats, p_phones) as u (user_chat, phone_chat, phone)
    where u.user_chat <> u.phone_chat
    order by leaves, phone, stays
  loop
    if exists (select from chat.alias a where a.chat_id = link.leaves and a.kind = 'user_id') then
      update chat.alias a set chat_id = link.stays
      where (a.channel, a.kind, a.value) = (p_channel, 'phone', link.phone) and a.chat_id = link.leaves;
      continue;
    end if;
    perform from chat.chat c
    where c.id = link.leaves and c.owner is null and c.done_seq = c.next_seq - 1 and c.merged_into is null
    for no key update skip locked;
    -- The session is read in a statement of its own, after the lock, or what was settled meanwhile would be missed.
    -- A chat without a row was made by this call for an alias and lost to another call's: nobody else knows it.
    if found and not exists (select from chat.session s where s.chat_id = link.leaves and s.step <> 'idle')
      or not exists (select from chat.chat c where c.id = link.leaves)
    then
      update chat.alias a set chat_id = link.stays where a.chat_id = link.leaves;
      update chat.chat c set merged_into = link.stays, epoch = c.epoch + 1, ready_at = null where c.id = link.leaves;
    end if;
  end loop;

  -- 5. The events, timed after the locks were taken so that time follows sequence within a chat.
  now_ := clock_timestamp();
  return query
  with added as (
    insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, sent_at, received_at,
                               delivery_id, trace_context)
    select m.chat_id,
           n.next_seq - n.size + row_number() over (partition by m.chat_id order by m.place) - 1,
           m.activity_id, p_channel, m.message_id, m.kind, m.payload, m.sent_at, now_, p_delivery_ids[m.delivery],
           p_trace_contexts[m.delivery]
    from (
      select coalesce(u.user_chat, u.phone_chat) as chat_id, u.*
      from unnest(p_deliveries, p_activity_ids, p_message_ids, p_kinds, p_payloads, p_sent_at, user_chats, phone_chats)
        with ordinality
        as u (delivery, activity_id, message_id, kind, payload, sent_at, user_chat, phone_chat, place)
    ) m
    join unnest(chat_ids, next_seqs, sizes) as n (id, next_seq, size) on n.id = m.chat_id
    returning activity_id, chat_id, seq
  )
  select * from added
  union all
  select m, null::uuid, null::bigint from unnest(mine) m where not all_fresh and m <> all (fresh);
  get diagnostics stored = row_count;
  if stored <> cardinality(mine) then
    raise exception 'append lost a row: % stored of %', stored, cardinality(mine) using errcode = 'XX000';
  end if;
  if cardinality(p_receipt_keys) > 0 then
    perform inbound.append_receipts_v1(p_channel, p_receipt_keys, p_provider_ids, p_outbound_ids, p_statuses,
                                       p_error_codes, p_occurred_at);
  end if;
end
$$;
