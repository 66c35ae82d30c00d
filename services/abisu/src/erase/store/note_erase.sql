-- Called by erase, last. That it was done stays, without whom it was done to.
with noted as (
  insert into report.timeline (report_id, step) select id, 'erased' from unnest($3::uuid[]) as id
)
insert into inbound.operation (by, act, channel, target, because)
select $2, 'erase', c.channel, c.id, 'a request to erase' from chat.chat c where c.id = any($1)
