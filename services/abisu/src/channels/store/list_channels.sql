-- Called by `channels list`: every channel that has been written to, and who let it go on last.
select s.channel, s.paused_at, s.pause_reason as reason, s.probe_at, s.resumed_at,
  (select count(*) from chat.sender o where o.channel = s.channel and o.ready_at is not null) as "waiting!",
  o.at as "by_hand_at?", o.by as "by?", o.because as "because?"
from chat.channel_state s
left join lateral (
  select at, by, because from inbound.operation o
  where o.channel = s.channel and o.act = 'channel_resume'
  order by o.id desc
  limit 1
) o on true
order by s.channel
