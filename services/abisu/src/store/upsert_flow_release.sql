-- Called by `flows publish` when a form is live, or a draft. Makes it the newest release of its language; a draft
-- never takes a release back that is live.
-- Index: release_content.
insert into flow.release (id, channel, language, version, content_hash, provider_flow_id, first_screen, compiled, state,
                          published_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, case when $9 = 'published' then now() end)
on conflict on constraint release_content do update set
  version = excluded.version,
  provider_flow_id = excluded.provider_flow_id,
  first_screen = excluded.first_screen,
  state = case when release.state = 'published' then 'published' else excluded.state end,
  compiled = excluded.compiled,
  published_at = coalesce(excluded.published_at, release.published_at)
