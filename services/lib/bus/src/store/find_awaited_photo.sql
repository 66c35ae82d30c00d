-- Called by bus::photo::awaited. Index: report_chat.
select f.report_id
from report.report r
join report.photo_fetch f on f.report_id = r.id
where r.chat_id = $1 and f.failed_at is not null and f.asked_until > now()
order by f.asked_until
limit 1
