-- Called by erase, under the chats' locks. Whoever works on these chats or sends their replies is fenced; nothing waits.
with chats as (
  update chat.chat
  set done_seq = next_seq - 1, ready_at = null, owner = null, epoch = epoch + 1, head_attempts = 0, lost = 0,
    head_defers = 0, head_error = null, oldest_at = null
  where id = any($1)
), forms as (
  delete from chat.delayed_form where chat_id = any($1)
)
update chat.sender
set done_seq = next_seq - 1, ready_at = null, owner = null, epoch = epoch + 1, head_attempts = 0, lost = 0,
  head_defers = 0, head_error = null, oldest_at = null
where id = any($1)
