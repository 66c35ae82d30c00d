-- What each service may do, and nothing more. `public` may execute nothing of ours.
set local lock_timeout = '5s';

revoke execute on function inbound.make_partitions_v1(int) from public;

-- Every service checks the schema's version before it reports ready.
grant select on public._sqlx_migrations to abisu_ingest, abisu_conversation, abisu_geocode, abisu_partner_push;

grant usage on schema inbound to abisu_ingest;
grant execute on function inbound.make_partitions_v1(int) to abisu_ingest;
grant insert, select (key) on inbound.rejection to abisu_ingest;
grant insert, select (key) on inbound.receipt to abisu_ingest;

grant usage on schema inbound, chat, report, flow to abisu_conversation;
grant select on inbound.event to abisu_conversation;
grant select on inbound.receipt to abisu_conversation;
grant select, insert on inbound.dead to abisu_conversation;
grant select on chat.alias to abisu_conversation;
grant select, update on chat.chat to abisu_conversation;
grant select, insert, update on chat.session, chat.sender, chat.outbound, chat.outbound_id to abisu_conversation;
grant select, insert, update, delete on report.report to abisu_conversation;
grant select, insert, update, delete on report.photo_fetch to abisu_conversation;
grant select, insert on report.photo to abisu_conversation;
grant select, insert on report.timeline to abisu_conversation;
grant usage on sequence report.reference_number to abisu_conversation;
grant select on flow.release to abisu_conversation;

grant usage on schema geo to abisu_geocode;
grant select on geo.service_area, geo.current_area to abisu_geocode;

grant usage on schema report, flow to abisu_partner_push;
grant select, update on report.report to abisu_partner_push;
grant select, insert, update on report.push_attempt to abisu_partner_push;
grant select, insert on report.timeline to abisu_partner_push;
grant select on report.photo to abisu_partner_push;
grant select on flow.release to abisu_partner_push;
