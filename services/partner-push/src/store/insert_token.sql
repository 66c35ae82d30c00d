-- Called by store::settle, after the report and the attempt. A later token of the same report replaces the first.
-- An empty one: the id is to be looked up by the external code.
insert into report.push_token (report_id, channel, token, next_at)
select id, channel, $2, clock_timestamp() + make_interval(secs => $3) from report.report where id = $1
on conflict on constraint push_token_pkey do update set token = excluded.token, asked = 0, next_at = excluded.next_at
