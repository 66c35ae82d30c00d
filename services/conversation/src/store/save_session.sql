-- Called by store::save_session, under the chat's lock.
insert into chat.session (chat_id, step, language, report_id, prompt, state)
values ($1, $2, $3, $4, $5, $6)
on conflict (chat_id) do update set
  step = excluded.step,
  language = excluded.language,
  report_id = excluded.report_id,
  prompt = excluded.prompt,
  state = excluded.state,
  updated_at = now()
