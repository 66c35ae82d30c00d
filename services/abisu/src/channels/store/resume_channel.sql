-- Called by `channels resume`. Locks the channel's row. Noted only where there was a pause to end. What waits is ready by
-- itself: every sender asks whether its channel is paused before it claims.
with resumed as (
  update chat.channel_state
  set paused_at = null, pause_reason = null, probe_at = null, resumed_at = now()
  where channel = $1 and paused_at is not null
  returning channel
), noted as (
  insert into inbound.operation (by, act, channel, because)
  select $2, 'channel_resume', channel, $3 from resumed
)
select exists (select from resumed) as "resumed!",
  exists (select from chat.channel_state where channel = $1) as "known!",
  (select count(*) from chat.outbound where channel = $1 and outcome is null and expires_at > now()) as "waiting!"
