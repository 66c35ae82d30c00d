-- Called by store::newest_release for each form that is sent, so that a new release is used at once. A test number is
-- sent drafts too.
select provider_flow_id, first_screen, state = 'draft' as "draft!"
from flow.release
where channel = $1 and language = $2 and (state = 'published' or state = 'draft' and $3)
order by coalesce(published_at, created_at) desc
limit 1
