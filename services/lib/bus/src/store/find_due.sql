-- Called by bus::wake::due, once per poll of a process, outside a transaction. Indexes: chat_ready, sender_ready,
-- photo_fetch_due; of each only its left edge. Locks nothing.
select of.channel as "channel!",
  exists (select from chat.chat c where c.channel = of.channel and c.ready_at <= now()) as "inbound!",
  exists (select from chat.sender s where s.channel = of.channel and s.ready_at <= now()) as "outbound!",
  exists (
    select from report.photo_fetch p
    where p.channel = of.channel and p.failed_at is null and p.visible_at <= now()
  ) as "photo!"
from unnest($1::text[]) as of (channel)
