-- Called by erase. Index: outbound_place. What was not sent is not sent any more.
update chat.outbound
set payload = '{}', prompt = null, outcome = coalesce(outcome, 'dropped'), outcome_at = coalesce(outcome_at, now()),
  error = case when outcome is null then 'erased' else error end
where chat_id = any($1) and payload <> '{}'
