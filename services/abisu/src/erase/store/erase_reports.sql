-- Called by erase. Index: report_chat. What is received keeps reference, category and point.
with was as materialized (
  select id, photo_sha256 from report.report where chat_id = any($1) and state = 'received' order by id for no key update
)
update report.report r
set note = null, address = null, photo_sha256 = null, prompt = null
from was
where r.id = was.id
returning r.id, r.reference, was.photo_sha256
