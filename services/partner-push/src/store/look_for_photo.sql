-- Called by assemble for a report that was claimed without a photo. Indexes: the primary keys. Locks nothing.
select r.push_without_photo, p.content_type as "content_type?", p.bytes as "bytes?"
from report.report r
left join report.photo p on p.sha256 = r.photo_sha256
where r.id = $1
