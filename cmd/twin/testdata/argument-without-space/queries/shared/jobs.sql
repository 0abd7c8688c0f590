-- name: JobGet :one
-- PostgreSQL reads "=@" as an operator.
select kind from jobs where id =@id and owner_id = @owner_id;
