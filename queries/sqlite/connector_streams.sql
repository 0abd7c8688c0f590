-- name: StreamInsertMany :execrows
-- Declares the streams of a JSON list, times in microseconds.
insert into connector_streams (owner_id, connector_id, name, semantics, primary_key, time_field, label, created_at)
select
    cast(@owner_id as text), cast(@connector_id as text), t.value ->> '$.name', t.value ->> '$.semantics', t.value ->> '$.primary_key',
    t.value ->> '$.time_field', t.value ->> '$.label', t.value ->> '$.created_at'
from json_each(cast(@rows as text)) t;
