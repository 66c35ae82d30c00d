-- Called by `area load` before the insert: why a shape cannot be an area, and where. Reads no table.
select valid as "valid!",
       reason,
       public.st_x(location) as longitude,
       public.st_y(location) as latitude
from public.st_isvaliddetail(public.st_multi(public.st_geomfromgeojson($1::text)))
