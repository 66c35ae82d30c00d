-- Called by bus::outbound::enqueue, under the sender's lock.
insert into chat.outbound (chat_id, channel, expires_at, trace_context, seq, id, payload, prompt, report_id)
select $1, $2, $4, $5, $3 + o.place - 1, o.id, o.payload, o.prompt, o.report_id
from unnest($6::uuid[], $7::jsonb[], $8::uuid[], $9::uuid[]) with ordinality as o (id, payload, prompt, report_id, place)
