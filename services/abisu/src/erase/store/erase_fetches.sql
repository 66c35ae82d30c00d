-- Called by erase. A fetch that is under way finds nothing to store.
delete from report.photo_fetch where report_id = any($1)
