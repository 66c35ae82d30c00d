-- Called by bus::operate::rejected::resolve. Index: rejection_pkey. Locks the rejection.
with done as (
  update inbound.rejection
  set resolved_at = clock_timestamp(), resolution = $2
  where id = $1 and resolved_at is null
  returning id, channel, reason
), noted as (
  insert into inbound.operation (by, act, channel, target, because, detail)
  select $3, 'rejection_' || $2, channel, id, $4, jsonb_build_object('role', session_user, 'reason', reason)
  from done
)
select exists (select from done) as "done!"
