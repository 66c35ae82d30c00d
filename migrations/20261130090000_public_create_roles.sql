-- The extension and one role per service. Rights stand in the last migration of this set, so that one file
-- answers the question "what may this service do?".
set local lock_timeout = '5s';

create extension if not exists postgis;

-- Roles belong to the cluster, not to the database: another database may have made them already, or be
-- making them at this moment.
do $$
declare
  service text;
begin
  foreach service in array array['abisu_ingest', 'abisu_conversation', 'abisu_geocode', 'abisu_partner_push'] loop
    begin
      execute format('create role %I login', service);
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
end
$$;
