-- A platform may answer a create with a token, and give the record's id for it later. One row per report whose id is
-- still to come; it goes when the id is known or nobody waits for it any longer.
set local lock_timeout = '5s';

create table report.push_token (
  report_id uuid not null,
  channel text not null,
  token text not null,
  created_at timestamptz not null default now(),
  asked int not null default 0,
  next_at timestamptz not null default now(),
  constraint push_token_pkey primary key (report_id)
);

grant select, insert, update, delete on report.push_token to abisu_partner_push;
