-- What came by the synthetic channel is marked wherever a row of it stands. The column is set by the database itself, so a
-- binary that knows nothing of it marks as well. Nothing is rewritten: the default is in the catalogue.
set local lock_timeout = '5s';

-- For tables that carry their channel; the trigger's condition has looked already.
create function inbound.mark_synthetic_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  new.synthetic := true;
  return new;
end
$$;

alter table inbound.delivery add column synthetic boolean not null default false;
alter table inbound.event add column synthetic boolean not null default false;
alter table inbound.receipt add column synthetic boolean not null default false;
alter table inbound.rejection add column synthetic boolean not null default false;
alter table inbound.dead add column synthetic boolean not null default false;

create trigger delivery_mark_synthetic before insert on inbound.delivery
  for each row when (new.channel = 'synthetic') execute function inbound.mark_synthetic_v1();
create trigger event_mark_synthetic before insert on inbound.event
  for each row when (new.channel = 'synthetic') execute function inbound.mark_synthetic_v1();
create trigger receipt_mark_synthetic before insert on inbound.receipt
  for each row when (new.channel = 'synthetic') execute function inbound.mark_synthetic_v1();
create trigger rejection_mark_synthetic before insert on inbound.rejection
  for each row when (new.channel = 'synthetic') execute function inbound.mark_synthetic_v1();
create trigger dead_mark_synthetic before insert on inbound.dead
  for each row when (new.channel = 'synthetic') execute function inbound.mark_synthetic_v1();
