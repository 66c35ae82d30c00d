-- Called by bus::operate::dead::hold_on_dead. Index: channel_option_pkey. Locks the option.
with switched as (
  insert into inbound.channel_option as o (channel, hold_on_dead)
  select $1, $2::bool
  where $2 or exists (select from inbound.channel_option known where known.channel = $1)
  on conflict on constraint channel_option_pkey do update set hold_on_dead = excluded.hold_on_dead
  where o.hold_on_dead <> excluded.hold_on_dead
  returning channel, hold_on_dead
), noted as (
  insert into inbound.operation (by, act, channel, because, detail)
  select $3, 'hold_on_dead', channel, $4, jsonb_build_object('role', session_user, 'hold', hold_on_dead)
  from switched
)
select exists (select from switched) as "done!"
