-- Called by store::note_absence under the report's lock, when its record is proven absent.
update report.report
set push_state = 'pending', push_visible_at = clock_timestamp(), push_epoch = push_epoch + 1, push_error = null
where id = $1 and push_epoch = $2 and push_state = 'review'
