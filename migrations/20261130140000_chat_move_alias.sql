-- A citizen who changes number or business-scoped id keeps the chat: the provider's notice of it moves the alias, in the
-- transaction that stores the notice, so that neither can be without the other.
set local lock_timeout = '5s';

-- Called by the trigger below, inside `inbound.append_v1`, for notices only. A new identity that finds another chat
-- already stays there: two chats that turn out to be one person are joined by the rules of append and no others.
-- The old identity goes only when its new one is there; whoever gets that number next is somebody else.
--
-- Takes aliases after the chat's row lock, against the order of append: the rare call that meets another this way is cut
-- short by lock_timeout or as a deadlock, and repeated.
create function inbound.move_alias_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
declare
  notice jsonb := new.payload->'metadata'->'system';
  said record;
begin
  if notice->>'type' is null
    or notice->>'type' not in ('user_changed_number', 'user_changed_user_id', 'customer_changed_number')
  then
    return null;
  end if;
  for said in
    select kind, value
    from (values
      ('phone', ltrim(coalesce(notice->>'new_wa_id', notice->>'wa_id'), '+'), '^[0-9]{1,20}$'),
      ('user_id', notice->>'user_id', '^[!-~]+$')
    ) as named (kind, value, form)
    where value ~ form and length(value) <= 512
    order by kind
  loop
    insert into chat.alias (channel, kind, value, chat_id)
    values (new.channel, said.kind, said.value, new.chat_id)
    on conflict do nothing;
    if exists (
      select from chat.alias a
      where (a.channel, a.kind, a.value) = (new.channel, said.kind, said.value) and a.chat_id = new.chat_id
    ) then
      delete from chat.alias a
      where a.chat_id = new.chat_id and a.kind = said.kind and a.value <> said.value;
    end if;
  end loop;
  return null;
end
$$;
revoke all on function inbound.move_alias_v1() from public;

-- A notice that is replayed says what was so long ago.
create trigger event_move_alias after insert on inbound.event
  for each row when (new.kind = 'system' and new.replay_of is null)
  execute function inbound.move_alias_v1();
