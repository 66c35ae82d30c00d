-- As inbound_mark_synthetic, for reports; and a synthetic report is sunk: it stands in the outbox as sent, under an id that
-- is no contractor's, from the statement that receives it. So no version of any service, no gate and no person's hand can
-- send it, and no backlog counts it.
set local lock_timeout = '5s';

create function report.mark_synthetic_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  new.synthetic := true;
  return new;
end
$$;

alter table report.report add column synthetic boolean not null default false;
alter table report.timeline add column synthetic boolean not null default false;
alter table report.photo_fetch add column synthetic boolean not null default false;
alter table report.push_token add column synthetic boolean not null default false;

create trigger report_mark_synthetic before insert on report.report
  for each row when (new.channel = 'synthetic') execute function report.mark_synthetic_v1();
create trigger photo_fetch_mark_synthetic before insert on report.photo_fetch
  for each row when (new.channel = 'synthetic') execute function report.mark_synthetic_v1();
create trigger push_token_mark_synthetic before insert on report.push_token
  for each row when (new.channel = 'synthetic') execute function report.mark_synthetic_v1();

-- A step has no channel: it is as the steps before it, the first as its report. Index: timeline_report.
create function report.mark_step_synthetic_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  new.synthetic := coalesce(
    (select t.synthetic from report.timeline t where t.report_id = new.report_id limit 1),
    (select r.synthetic from report.report r where r.id = new.report_id),
    false);
  return new;
end
$$;
create trigger timeline_mark_synthetic before insert on report.timeline
  for each row execute function report.mark_step_synthetic_v1();

create function report.sink_synthetic_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  new.push_state := 'sent';
  new.partner_id := 'synthetic';
  new.push_sent_at := coalesce(new.push_sent_at, clock_timestamp());
  new.push_owner := null;
  new.push_error := null;
  return new;
end
$$;
-- After report_mark_synthetic: triggers fire in the order of their names.
create trigger report_sink_synthetic before insert or update on report.report
  for each row when (new.synthetic and new.state = 'received' and (new.push_state <> 'sent' or new.partner_id is distinct from 'synthetic'))
  execute function report.sink_synthetic_v1();
alter table report.report add constraint report_synthetic
  check (not synthetic or state = 'draft' or push_state = 'sent' and partner_id = 'synthetic') not valid;
