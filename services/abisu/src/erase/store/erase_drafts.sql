-- Called by erase.
delete from report.report where chat_id = any($1) and state = 'draft'
