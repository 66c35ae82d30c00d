-- Called by bus::outbound::record_sent, by the outbound's own id: evidence needs no lease.
with sent as (
  update chat.outbound
  set outcome = 'sent', outcome_at = now(), attempts = attempts + 1, error = null
  where id = $1
)
insert into chat.outbound_id (channel, provider_id, outbound_id)
select $2, provider_id, $1 from unnest($3::text[]) as provider_id
on conflict do nothing
