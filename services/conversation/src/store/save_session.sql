-- Called by store::save_session, under the chat's lock.
-- Its channel says whether it is synthetic.
insert into chat.session (chat_id, step, language, report_id, prompt, state, synthetic)
values ($1, $2, $3, $4, $5, $6, coalesce((select c.synthetic from chat.chat c where c.id = $1), false))
on conflict (chat_id) do update set
  step = excluded.step,
  language = excluded.language,
  report_id = excluded.report_id,
  prompt = excluded.prompt,
  state = excluded.state,
  updated_at = now()
