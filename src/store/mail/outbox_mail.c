/*
 * outbox_mail.c - messages that are stored as they go out.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "store/core/sql.h"
#include "store/mail/outbox.h"

/* Why a line cannot be sent, or NULL. @param n  without its line end */
static const char *
find_fault(const char *line, size_t n)
{
	if (n > BOUNDS_LINE_BYTES)
		return "a line that is too long";
	if (memchr(line, '\0', n))
		return "a NUL";
	if (memchr(line, '\r', n) || memchr(line, '\n', n))
		return "a line end that is not CRLF";
	return NULL;
}

/* Look at it line by line, as the relay will. */
static const char *
find_wrong(const char *bytes, size_t size)
{
	static const char name[] = "Message-ID:";
	const char *at = bytes, *end = bytes + size;
	bool is_in_headers = true, has_id = false;

	while (at < end) {
		const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);
		const char *wrong = find_fault(at, (size_t)((stop ? stop : end) - at));

		if (wrong)
			return wrong;
		if (!stop)
			return "a last line without its end";
		if (stop == at)
			is_in_headers = false;
		else if (is_in_headers && (size_t)(stop - at) > strlen(name) &&
		         g_ascii_strncasecmp(at, name, strlen(name)) == 0)
			has_id = true;
		at = stop + 2;
	}
	if (is_in_headers)
		return "no empty line behind its headers";
	return has_id ? NULL : "no Message-ID";
}

static bool
check_message(GBytes *message, GError **error)
{
	size_t size;
	const char *bytes = g_bytes_get_data(message, &size);
	const char *wrong;

	if (size > BOUNDS_STORED_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "a letter of %" G_GSIZE_FORMAT " octets is too long", size);
		return false;
	}
	wrong = find_wrong(bytes, size);
	if (!wrong)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "the letter has %s", wrong);
	return false;
}

bool
outbox_add_mail(
    struct store *store, const struct outbox_mail *mail, int64_t *id, GError **error)
{
	static const char sql[] =
	    "INSERT INTO outbox (kind, subscriber_id, recipient, address_key, sender,"
	    " message, state, queued_at, next_try_at)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'NEW', ?7, ?7)";

	g_assert(mail->kind != OUTBOX_DIGEST);
	if (!check_message(mail->message, error) ||
	    !sql_exec(store, sql, error, SQL_TEXT(outbox_kind_get_name(mail->kind)),
	        mail->subscriber_id > 0 ? SQL_INT(mail->subscriber_id) : SQL_NULL,
	        SQL_TEXT(mail->recipient), SQL_TEXT(mail->address_key),
	        SQL_TEXT(mail->sender), SQL_BYTES(mail->message), SQL_INT(mail->now)))
		return false;
	*id = sqlite3_last_insert_rowid(store->db);
	return true;
}

bool
outbox_find_mail(struct store *store, int64_t id, GBytes **message, GError **error)
{
	static const char sql[] = "SELECT message FROM outbox WHERE id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(id));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;

	if (step == SQL_STEP_FAILED)
		return false;
	*message = step == SQL_STEP_ROW ? sql_dup_bytes(statement, 0) : NULL;
	return true;
}
