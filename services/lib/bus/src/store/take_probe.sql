-- Called by bus::outbound::pause::take_probe. Locks the channel's row: one of all replicas makes the probe.
update chat.channel_state
set probe_at = now() + make_interval(secs => least($3::float8, $2::float8 * 2 ^ strikes))
where channel = $1 and paused_at is not null and probe_at <= now()
