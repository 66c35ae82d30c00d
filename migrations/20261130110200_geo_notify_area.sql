-- Whoever keeps decisions of the gate in memory hears at once that another version is in force.
set local lock_timeout = '5s';

create function geo.notify_area_v1() returns trigger language plpgsql as $$
begin
  perform pg_notify('geo_area', '');
  return null;
end
$$;
revoke execute on function geo.notify_area_v1() from public;

create trigger service_area_notify after insert or update or delete or truncate on geo.service_area
  for each statement execute function geo.notify_area_v1();
