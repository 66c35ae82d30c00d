-- Called by `flows publish` when a form is live. Makes it the newest release of its language.
-- Index: release_content.
insert into flow.release (id, channel, language, version, content_hash, provider_flow_id, first_screen, state, compiled,
                          published_at)
values ($1, $2, $3, $4, $5, $6, $7, 'published', $8, now())
on conflict on constraint release_content do update set
  version = excluded.version,
  provider_flow_id = excluded.provider_flow_id,
  first_screen = excluded.first_screen,
  state = 'published',
  compiled = excluded.compiled,
  published_at = now()
