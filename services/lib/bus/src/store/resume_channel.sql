-- Called by bus::outbound::pause::resume. Locks the channel's row. What was deferred meanwhile is ready by itself.
update chat.channel_state
set paused_at = null, pause_reason = null, probe_at = null, resumed_at = now()
where channel = $1 and paused_at is not null
