-- Until when the citizen who was asked for a new photo may send it: the next image by then is that photo.
set local lock_timeout = '5s';

alter table report.photo_fetch add column asked_until timestamptz;
