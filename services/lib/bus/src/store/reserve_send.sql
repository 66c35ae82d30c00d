-- Called by bus::outbound::pace::reserve, in autocommit. Locks the sender, then the channel's row.
-- Both limits are a time up to which everything is spoken for. A pair may run ahead of the clock by a burst and pays it
-- back; a number may not, so its sends are spread over the second whoever sends them.
-- All sends of a number queue for its row, so this commit waits for no disk: a server that crashes may forget the last
-- places, which costs a few sends too many. Nothing else hangs on it.
with forgetful as (
  select set_config('synchronous_commit', 'off', true)
), pair as (
  update chat.sender s
  set pair_free_at = greatest(s.pair_free_at, now()) + make_interval(secs => $3)
  where s.id = $1 and s.pair_free_at <= now() + make_interval(secs => $4)
  returning s.id
), number as (
  insert into chat.channel_state as c (channel, send_free_at)
  select $2, now() + make_interval(secs => $5) from pair
  on conflict (channel) do update
    set send_free_at = greatest(c.send_free_at, clock_timestamp()) + make_interval(secs => $5)
  returning c.send_free_at - make_interval(secs => $5) as go_at
)
select
  (select extract(epoch from n.go_at - clock_timestamp())::float8 from number n) as go_in,
  -- As it was before this statement: when the pair may send again.
  (select extract(epoch from greatest(s.pair_free_at, now()) - now())::float8 - $4 from chat.sender s where s.id = $1) as full_for
from forgetful
