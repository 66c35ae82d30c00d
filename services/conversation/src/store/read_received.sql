-- Called by store::received. Locks nothing: a received report keeps its reference.
select reference as "reference!", address, route as "route!", taxonomy_version as version
from report.report
where id = $1 and state = 'received'
