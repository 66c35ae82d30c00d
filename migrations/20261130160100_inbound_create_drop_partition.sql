-- Retention of the daily partitions. Called by bus::retention, with the owner's rights, one purge at a time.
set local lock_timeout = '5s';

-- Whether a day's events have one that is not settled. Exact: no time and no state of a chat says it, only the
-- watermark does. What is once settled stays so, and nothing is added to a day of the past, so a `false` holds.
create function inbound.partition_pending_v1(p_name text) returns boolean
language plpgsql set search_path = pg_catalog as $$
declare
  pending boolean := false;
begin
  if p_name !~ '^(event|delivery)_\d{8}$' then
    raise exception '% is no partition of ours', p_name using errcode = '22023';
  end if;
  if starts_with(p_name, 'event_') then
    execute format('select exists (select from inbound.%I e join chat.chat c on c.id = e.chat_id
                    where e.seq > c.done_seq)', p_name) into pending;
  end if;
  return pending;
end
$$;

-- Drops a day that was detached. False if something in it is not settled: then it stays, for a person to look at.
create function inbound.drop_detached_v1(p_name text) returns boolean
language plpgsql set search_path = pg_catalog as $$
begin
  if inbound.partition_pending_v1(p_name) then
    return false;
  end if;
  if exists (select from pg_inherits i where i.inhrelid = to_regclass(format('inbound.%I', p_name))) then
    raise exception '% is still attached', p_name using errcode = '55000';
  end if;
  execute format('drop table inbound.%I', p_name);
  return true;
end
$$;

revoke execute on function inbound.partition_pending_v1(text) from public;
revoke execute on function inbound.drop_detached_v1(text) from public;
