-- A received report is the city's record: no service deletes it, and each service writes only its own columns of it.
set local lock_timeout = '5s';

create function report.keep_received_v1() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
  raise exception 'a received report is not deleted' using errcode = '42501';
end
$$;
create trigger report_keep_received before delete on report.report
  for each row when (old.state = 'received') execute function report.keep_received_v1();

-- What leaves for the partner is not conversation's to write, but for the moment at which a report enters the outbox.
revoke update on report.report from abisu_conversation;
grant update (state, reference, point, address, area_id, area_version, taxonomy_version, route, note, photo_sha256, prompt,
  trace_context, received_at, push_visible_at, push_without_photo) on report.report to abisu_conversation;

-- What the citizen said is not partner-push's to change.
revoke update on report.report from abisu_partner_push;
grant update (push_state, push_attempts, push_error, push_sent_at, push_visible_at, push_epoch, push_owner, partner_id)
  on report.report to abisu_partner_push;
