-- Called by store::open_draft, under the chat's lock.
insert into report.report (id, channel, chat_id, language, point, address, area_id, area_version, trace_context)
values ($1, $2, $3, $4, public.st_setsrid(public.st_makepoint($5, $6), 4326), $7, $8, $9, $10)
