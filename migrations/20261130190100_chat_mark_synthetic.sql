-- As inbound_mark_synthetic, for conversations and replies. In the order in which these tables are locked everywhere.
set local lock_timeout = '5s';

create function chat.mark_synthetic_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  new.synthetic := true;
  return new;
end
$$;

alter table chat.alias add column synthetic boolean not null default false;
alter table chat.chat add column synthetic boolean not null default false;
-- Has no channel of its own: whoever writes a session says so.
alter table chat.session add column synthetic boolean not null default false;
alter table chat.sender add column synthetic boolean not null default false;
alter table chat.outbound add column synthetic boolean not null default false;
alter table chat.outbound_id add column synthetic boolean not null default false;
alter table chat.delayed_form add column synthetic boolean not null default false;

create trigger alias_mark_synthetic before insert on chat.alias
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
create trigger chat_mark_synthetic before insert on chat.chat
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
create trigger sender_mark_synthetic before insert on chat.sender
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
create trigger outbound_mark_synthetic before insert on chat.outbound
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
create trigger outbound_id_mark_synthetic before insert on chat.outbound_id
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
create trigger delayed_form_mark_synthetic before insert on chat.delayed_form
  for each row when (new.channel = 'synthetic') execute function chat.mark_synthetic_v1();
