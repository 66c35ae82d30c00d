-- What an autoscaler may ask: how much waits, channel by channel, and nothing that a citizen said. The views read as their
-- owner, so the role that asks needs no right on any table.
set local lock_timeout = '5s';

do $$
begin
  -- Looked for first: who may not create roles has made them ahead, and then nothing is asked of the right.
  if not exists (select from pg_roles where rolname = 'abisu_metrics') then
    create role abisu_metrics login;
  end if;
exception
  when duplicate_object or unique_violation then null;
end
$$;

create schema metrics;

-- Chats that one more worker could take now. Those on loan, in backoff or deferred lie in the future, and one chat is
-- worked by one worker, so this and not the number of events says how many workers have something to do.
create view metrics.ready_chat as
select channel, count(*) as ready
from chat.chat
where ready_at <= now()
group by channel;

-- Reports that partner-push could send now. None while the channel is paused or its breaker is not closed: more pods
-- would only wait. None that waits for its photo either, for as long as one is waited for by default.
create view metrics.due_push as
select r.channel, count(*) as due
from report.report r
where r.state = 'received' and r.push_state = 'pending' and r.push_visible_at <= now()
  and (r.photo_sha256 is not null or r.push_without_photo or r.received_at <= now() - interval '1 day')
  and not exists (select from report.push_gate g where g.channel = r.channel and g.paused)
  and not exists (select from report.push_breaker b where b.channel = r.channel and b.state <> 'closed')
group by r.channel;

grant usage on schema metrics to abisu_metrics;
grant select on metrics.ready_chat, metrics.due_push to abisu_metrics;
