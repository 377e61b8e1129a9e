/*
 * postgresql_load.c - rows in the binary format of COPY ... FROM STDIN.
 */
#include "store/core/postgresql_load.h"

#include <string.h>

#include "store/core/postgresql_connect.h"

#define PART_BYTES 65536

/* PostgreSQL's manual, COPY, "Binary Format": signature, flags, size of extensions. */
static const guint8 header[19] = "PGCOPY\n\377\r\n";
static const guint8 trailer[] = {0xff, 0xff};

/* Read the results after the first one. */
static void
end(PGconn *connection, int64_t wait_s)
{
	PGresult *more;

	while ((more = postgresql_get_result(connection, wait_s)))
		PQclear(more);
}

GByteArray *
postgresql_load_begin(
    PGconn *connection, const char *sql, int64_t wait_s, GError **error)
{
	PGresult *result = PQsendQuery(connection, sql)
	                       ? postgresql_get_result(connection, wait_s)
	                       : NULL;
	GByteArray *rows = NULL;

	if (PQresultStatus(result) == PGRES_COPY_IN) {
		rows = g_byte_array_new();
		g_byte_array_append(rows, header, sizeof(header));
	} else if (result) {
		postgresql_set_error(error, result);
	} else {
		postgresql_set_lost(error, connection);
	}
	PQclear(result);
	if (!rows)
		end(connection, wait_s);
	return rows;
}

static void
add_size(GByteArray *rows, int32_t size)
{
	int32_t fixed = GINT32_TO_BE(size);

	g_byte_array_append(rows, (const guint8 *)&fixed, sizeof(fixed));
}

static void
add_bytes(GByteArray *rows, const void *data, size_t size)
{
	add_size(rows, (int32_t)size);
	g_byte_array_append(rows, data, (guint)size);
}

static void
add_value(GByteArray *rows, const struct sql_value *value)
{
	int64_t number = GINT64_TO_BE(value->number);

	switch (value->kind) {
	case SQL_KIND_INT:
		add_bytes(rows, &number, sizeof(number));
		break;
	case SQL_KIND_TEXT:
		add_bytes(rows, value->text, strlen(value->text));
		break;
	case SQL_KIND_BLOB:
		add_bytes(rows, value->text, (size_t)value->number);
		break;
	case SQL_KIND_NULL:
		add_size(rows, -1);
		break;
	case SQL_KIND_POINTER:
	case SQL_KIND_END:
		g_assert_not_reached();
	}
}

static bool
send_rows(PGconn *connection, GByteArray *rows)
{
	int sent = PQputCopyData(connection, (const char *)rows->data, (int)rows->len);

	g_byte_array_set_size(rows, 0);
	return sent == 1;
}

bool
postgresql_load_add(
    PGconn *connection, GByteArray *rows, const struct sql_value *values)
{
	int16_t count = 0, fixed;

	while (values[count].kind != SQL_KIND_END)
		count++;
	fixed = GINT16_TO_BE(count);
	g_byte_array_append(rows, (const guint8 *)&fixed, sizeof(fixed));
	for (int i = 0; i < count; i++)
		add_value(rows, &values[i]);
	return rows->len < PART_BYTES || send_rows(connection, rows);
}

PGresult *
postgresql_load_end(PGconn *connection, GByteArray *rows, int64_t wait_s)
{
	PGresult *result = NULL;

	g_byte_array_append(rows, trailer, sizeof(trailer));
	if (send_rows(connection, rows) && PQputCopyEnd(connection, NULL) == 1)
		result = postgresql_get_result(connection, wait_s);
	if (result)
		end(connection, wait_s);
	return result;
}
