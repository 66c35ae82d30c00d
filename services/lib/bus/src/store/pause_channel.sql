-- Called by bus::outbound::pause::pause. Locks the channel's row. A pause that stands is left as it is.
insert into chat.channel_state as c (channel, paused_at, pause_reason, probe_at)
values ($1, now(), $2, now() + make_interval(secs => $3))
on conflict (channel) do update set
  paused_at = now(),
  pause_reason = excluded.pause_reason,
  strikes = case when c.resumed_at > now() - interval '1 hour' then least(c.strikes + 1, 20) else 0 end,
  probe_at = now() + make_interval(secs => least($4::float8, $3::float8
    * 2 ^ case when c.resumed_at > now() - interval '1 hour' then least(c.strikes + 1, 20) else 0 end))
where c.paused_at is null
