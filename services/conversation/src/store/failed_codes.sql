-- Called by failed::run. Index: receipt_failed.
select distinct r.error_code as "code!"
from inbound.receipt r
where r.channel = $1 and r.status = 'failed' and r.error_code is not null
  and r.received_at > now() - make_interval(secs => $2)
