-- Called by `outbox review show`. Indexes: report_reference, push_act_report.
select p.at, p.by, p.act, p.because, p.detail
from report.push_act p
join report.report r on r.id = p.report_id
where r.reference = $1
order by p.id
