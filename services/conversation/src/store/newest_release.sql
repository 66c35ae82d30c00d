-- Called by store::newest_release for each form that is sent, so that a new release is used at once.
select provider_flow_id, first_screen
from flow.release
where channel = $1 and language = $2 and state = 'published'
order by published_at desc
limit 1
