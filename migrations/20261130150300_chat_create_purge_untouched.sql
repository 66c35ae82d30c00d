-- Drafts and prompts that nobody touched for a while. Called by `abisu queue purge`.
set local lock_timeout = '5s';

-- The session goes back to idle and keeps its language and its received reports, so that a late answer is stale and
-- a form completed twice still gets its reference. A chat that is in work or has something waiting is left alone.
-- Locks the chats it changes, in id order, and skips those that are locked.
create function chat.purge_untouched_v1(older_than interval, out sessions bigint, out drafts bigint)
language sql as $$
  with free as materialized (
    select c.id
    from chat.chat c
    join chat.session s on s.chat_id = c.id
    where s.step <> 'idle' and s.updated_at < now() - older_than and c.owner is null and c.done_seq = c.next_seq - 1
    order by c.id
    for no key update of c skip locked
  ), was as materialized (
    select s.chat_id, s.report_id from chat.session s join free on free.id = s.chat_id where s.updated_at < now() - older_than
  ), reset as (
    update chat.session s
    set step = 'idle', report_id = null, prompt = null, updated_at = now(),
      state = s.state || '{"step": {"name": "idle"}, "reminded_at": null}'
    from was
    where s.chat_id = was.chat_id
    returning s.chat_id
  ), forms as (
    delete from chat.delayed_form d using was where d.chat_id = was.chat_id
  ), gone as (
    delete from report.report r using was where r.id = was.report_id and r.state = 'draft'
    returning r.id
  ), noted as (
    insert into report.timeline (report_id, step, detail)
    select id, 'draft_dropped', '{"reason": "untouched"}' from gone
  )
  select (select count(*) from reset), (select count(*) from gone)
$$;
revoke execute on function chat.purge_untouched_v1(interval) from public;
