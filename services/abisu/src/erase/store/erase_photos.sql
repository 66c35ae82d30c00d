-- Called by erase, after its reports let go of them. Two people may have sent the same picture.
delete from report.photo p
where p.sha256 = any($1::bytea[]) and not exists (select from report.report r where r.photo_sha256 = p.sha256)
