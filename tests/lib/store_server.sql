-- Functions and views of SQLite that the SQL of tests uses, for a server.  They are not in
-- the search path of the program.
CREATE SCHEMA sqlite;

CREATE FUNCTION sqlite.unixepoch(text) RETURNS bigint IMMUTABLE RETURN
	CAST(extract(epoch FROM CAST(rtrim($1, 'Z') AS timestamp)) AS bigint);

-- The first argument is a format.
CREATE FUNCTION sqlite.strftime(text, bigint, text) RETURNS text STABLE RETURN
	to_char(to_timestamp($2) AT TIME ZONE 'UTC', replace(replace(replace(replace(replace(
	    replace($1, 'T', '"T"'), '%Y', 'YYYY'), '%m', 'MM'), '%d', 'DD'), '%H', 'HH24'),
	    '%M', 'MI'));
CREATE FUNCTION sqlite.date(bigint, text) RETURNS text STABLE RETURN
	sqlite.strftime('%Y-%m-%d', $1, $2);
CREATE FUNCTION sqlite.datetime(bigint, text) RETURNS text STABLE RETURN
	sqlite.strftime('%Y-%m-%d %H:%M:', $1, $2) || lpad(CAST($1 % 60 AS text), 2, '0');

-- '%064d', '%.*c'
CREATE FUNCTION sqlite.printf(text, bigint) RETURNS text IMMUTABLE RETURN
	lpad(CAST($2 AS text), CAST(substring($1, '%0(\d+)d') AS integer), '0');
CREATE FUNCTION sqlite.printf(text, integer, text) RETURNS text IMMUTABLE RETURN
	repeat($3, $2);

CREATE FUNCTION sqlite.iif(boolean, anycompatible, anycompatible) RETURNS anycompatible
	IMMUTABLE LANGUAGE SQL AS $$ SELECT CASE WHEN $1 THEN $2 ELSE $3 END $$;
CREATE FUNCTION sqlite.iif(bigint, anycompatible, anycompatible) RETURNS anycompatible
	IMMUTABLE LANGUAGE SQL AS $$ SELECT CASE WHEN $1 <> 0 THEN $2 ELSE $3 END $$;
CREATE FUNCTION sqlite.instr(text, text) RETURNS integer IMMUTABLE RETURN strpos($1, $2);
CREATE FUNCTION sqlite.quote(text) RETURNS text IMMUTABLE RETURN quote_literal($1);
CREATE FUNCTION sqlite.hex(bytea) RETURNS text IMMUTABLE RETURN upper(encode($1, 'hex'));

-- Without classes of characters.
CREATE FUNCTION sqlite.glob(text, text) RETURNS boolean IMMUTABLE RETURN
	$2 LIKE translate(replace(replace($1, '%', '\%'), '_', '\_'), '*?', '%_');

CREATE FUNCTION sqlite.append(text, anyelement, text) RETURNS text IMMUTABLE
	LANGUAGE SQL AS $$ SELECT coalesce($1 || $3 || $2, $1, CAST($2 AS text)) $$;
CREATE FUNCTION sqlite.append(text, anyelement) RETURNS text IMMUTABLE
	LANGUAGE SQL AS $$ SELECT sqlite.append($1, $2, ',') $$;
CREATE AGGREGATE sqlite.group_concat(anyelement) (SFUNC = sqlite.append, STYPE = text);
CREATE AGGREGATE sqlite.group_concat(anyelement, text)
	(SFUNC = sqlite.append, STYPE = text);

CREATE VIEW sqlite.sqlite_schema AS SELECT CAST('table' AS text) AS type,
	CAST(tablename AS text) AS name FROM pg_tables WHERE schemaname = 'public';
CREATE FUNCTION sqlite.pragma_table_info(text) RETURNS TABLE (name text,
	type text) STABLE LANGUAGE SQL AS $$ SELECT CAST(column_name AS text),
	CASE data_type WHEN 'bytea' THEN 'BLOB' WHEN 'bigint' THEN 'INTEGER' ELSE 'TEXT' END FROM information_schema.columns
	WHERE table_schema = 'public' AND table_name = $1 $$;
CREATE FUNCTION sqlite.pragma_foreign_key_list(text) RETURNS TABLE ("table" text,
	"from" text, "to" text) STABLE LANGUAGE SQL AS $$ SELECT f.relname, a.attname, b.attname
	FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
	JOIN pg_class f ON f.oid = c.confrelid
	JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (c.conkey)
	JOIN pg_attribute b ON b.attrelid = f.oid AND b.attnum = ANY (c.confkey)
	WHERE c.contype = 'f' AND t.relname = $1 $$;
-- Nothing refers to a missing row here.
CREATE VIEW sqlite.pragma_foreign_key_check AS SELECT 1 WHERE false;

CREATE FUNCTION sqlite.fail() RETURNS boolean STABLE LANGUAGE plpgsql AS $$ BEGIN
	RAISE EXCEPTION 'made-up failure' USING ERRCODE = 'disk_full';
END $$;
