-- name: StreamInsertMany :execrows
-- Declares the streams of a JSON list, times in microseconds.
insert into connector_streams (owner_id, connector_id, name, semantics, primary_key, time_field, label, created_at)
select
    cast(@owner_id as text), cast(@connector_id as text), x ->> 'name', x ->> 'semantics', cast(x ->> 'primary_key' as json),
    x ->> 'time_field', x ->> 'label', from_us(cast(x ->> 'created_at' as bigint))
from json_array_elements(cast(cast(@rows as text) as json)) t(x);
