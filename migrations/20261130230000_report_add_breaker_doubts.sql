-- How often in a row creates have left reports in doubt. While it is above 0, a trial of the breaker begins with more than
-- a login, and what it risks is spaced out. 0 again when a create is answered.
set local lock_timeout = '5s';

alter table report.push_breaker add column doubts int not null default 0;
