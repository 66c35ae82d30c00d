-- Called by store::move_draft, under the chat's lock. A received report does not move.
update report.report
set point = public.st_setsrid(public.st_makepoint($2, $3), 4326), address = $4, area_id = $5, area_version = $6
where id = $1 and state = 'draft'
