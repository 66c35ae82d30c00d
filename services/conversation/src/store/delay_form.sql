-- Called by delayed::put_aside, after the reply's own row. A chat waits for one form, its newest.
insert into chat.delayed_form (chat_id, channel, outbound_id, reason, try_at)
values ($1, $2, $3, $4, now() + make_interval(secs => $5))
on conflict (chat_id) do update set
  outbound_id = excluded.outbound_id, reason = excluded.reason, try_at = excluded.try_at
