-- Called by `report show`. Index: report_reference.
select r.id, r.channel, r.reference as "reference!", r.state, r.language, r.address,
       public.st_y(r.point) as "latitude!", public.st_x(r.point) as "longitude!",
       r.area_id, r.area_version, r.taxonomy_version, r.route, r.note,
       encode(r.photo_sha256, 'hex') as photo_sha256, f.attempts as "photo_attempts?", f.failed_at as "photo_failed_at?",
       r.created_at, r.received_at, r.push_state, r.push_attempts, r.push_error, r.push_visible_at, r.push_sent_at,
       r.partner_id
from report.report r
left join report.photo_fetch f on f.report_id = r.id
where r.reference = $1
