-- Called by erase. An answer may quote what it answers.
update report.push_attempt set evidence = 'erased' where report_id = any($1) and evidence is not null
