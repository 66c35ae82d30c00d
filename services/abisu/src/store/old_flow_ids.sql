-- Called by `flows publish --deprecate-old`: forms of older releases that the newest does not use.
-- Index: release_content.
with newest as (
  select provider_flow_id
  from flow.release
  where channel = $1 and language = $2 and state = 'published'
  order by published_at desc
  limit 1
)
select distinct provider_flow_id
from flow.release
where channel = $1 and language = $2 and state = 'published'
  and provider_flow_id not in (select provider_flow_id from newest)
