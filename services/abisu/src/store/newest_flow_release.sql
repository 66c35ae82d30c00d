-- Called by `flows publish`: what the services send now. Index: release_content.
select content_hash, provider_flow_id
from flow.release
where channel = $1 and language = $2 and state = 'published'
order by published_at desc
limit 1
