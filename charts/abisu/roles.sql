-- Roles and database of Abisu, made once before the chart is installed, by a superuser and with psql:
--
--   psql "$ADMIN_URL" -v owner=… -v ingest=… -v conversation=… -v geocode=… -v partner_push=… -v metrics=… -f roles.sql
--
-- Each variable is a password. What each role may do is granted by the migrations. Run again, it sets passwords anew.
\set ON_ERROR_STOP on

select format('create role %I login', role)
from unnest(array['abisu', 'abisu_ingest', 'abisu_conversation', 'abisu_geocode', 'abisu_partner_push', 'abisu_metrics']) as role
where not exists (select from pg_roles where rolname = role)
\gexec

-- The owner of the schema: its migrations may have to make a role.
alter role abisu createrole password :'owner';
alter role abisu_ingest password :'ingest';
alter role abisu_conversation password :'conversation';
alter role abisu_geocode password :'geocode';
alter role abisu_partner_push password :'partner_push';
-- Only counts what waits, for an autoscaler.
alter role abisu_metrics password :'metrics';

select 'create database abisu owner abisu'
where not exists (select from pg_database where datname = 'abisu')
\gexec

\connect abisu
-- Needs a superuser, unless the server trusts it to owners.
create extension if not exists postgis;
