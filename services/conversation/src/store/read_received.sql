-- Called by store::received. Locks nothing: a received report keeps its reference.
select reference as "reference!", address, route as "route!"
from report.report
where id = $1 and state = 'received'
