-- Called by bus::outbound::settle, in autocommit. Locks the sender. The rules of settle_chat.sql.
update chat.sender as s
set done_seq = $4,
    owner = null,
    epoch = s.epoch + 1,
    ready_at = case when s.next_seq - 1 <= $4 then null else clock_timestamp() + make_interval(secs => $6) end,
    head_attempts = case
      when $5 = 'retry' then case when $4 = $3 then s.head_attempts else 1 end
      when $5 in ('defer', 'release') and $4 = $3 then s.head_attempts - 1
      else 0
    end,
    lost = case when $4 >= s.lent_to or $4 = $3 and $5 in ('retry', 'defer') then 0 else s.lost end,
    head_defers = case
      when $5 = 'defer' then case when $4 = $3 then s.head_defers + 1 else 1 end
      when $4 = $3 then s.head_defers
      else 0
    end,
    head_error = case when $5 = 'release' and $4 = $3 then s.head_error else $7 end,
    oldest_at = case when s.next_seq - 1 <= $4 then null else s.oldest_at end
where s.id = $1 and s.epoch = $2 and s.done_seq = $3
returning s.id
