/*
 * personal_data.c - what is kept about a person in passing: mail, tickets, letters,
 * refusals.
 */
#include "store/subscriber/personal_data.h"

#include "store/core/sql.h"

#define AT(column) "strftime('%Y-%m-%dT%H:%M:%SZ', " column ", 'unixepoch')"

const struct personal_data_kind personal_data_kinds[] = {
    {"mail", {"kind", "state", "queued", "attempts", "ended", "code", "reply", "text"}},
    {"tickets", {"purpose", "address", "mailed_to", "does", "made", "expires", "used"}},
    {"letters", {"came", "receiver", "size", "state", "sender", "verdict", "raw"}},
    {"refusals", {"paper", "times", "at"}},
    {0},
};

static void
row_free(gpointer data)
{
	char **row = data;

	for (int i = 0; i < PERSONAL_DATA_FIELDS; i++)
		g_free(row[i]);
	g_free(row);
}

GPtrArray *
personal_data_load(
    struct store *store, unsigned kind, int64_t subscriber_id, GError **error)
{
	/* In the order of personal_data_kinds; ?1 is the person. */
	static const char *const statements[] = {
	    "SELECT kind, state, " AT("queued_at") ", attempt, " AT(
	        "ended_at") ", code, reply, CAST(message AS TEXT) FROM "
	                    "outbox"
	                    " WHERE subscriber_id = ?1 OR address_key ="
	                    "  (SELECT address_key FROM subscriber "
	                    "WHERE id = ?1) ORDER BY id",
	    "SELECT purpose, address, recipient, nullif(action, "
	    "''), " AT("made_at") ", " AT("expires_at") ", " AT(
	        "used_at") " FROM confirmation"
	                   " WHERE subscriber_id = ?1 OR address_key ="
	                   "  (SELECT address_key FROM subscriber "
	                   "WHERE id = ?1) ORDER BY id",
	    /* As erasure_delete_person() finds them. */
	    "SELECT " AT("received_at") ", receiver, size, l.state, sender, verdict,"
	                                " CAST(raw AS TEXT) FROM inbox l JOIN "
	                                "subscriber s ON s.id = ?1"
	                                " WHERE l.state <> 'done' AND (l.sender = "
	                                "s.address COLLATE NOCASE"
	                                "  OR instr(l.raw, CAST(s.address AS "
	                                "BLOB))) ORDER BY l.id",
	    "SELECT p.id, times, " AT(
	        "at") " FROM digest_rejected r"
	              " JOIN paper p ON p.seq = r.paper_seq WHERE "
	              "subscriber_id = ?1"
	              " ORDER BY p.id",
	};
	sql_auto *statement =
	    sql_bind(store, statements[kind], error, SQL_INT(subscriber_id));
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
	enum sql_step step;

	G_STATIC_ASSERT(
	    G_N_ELEMENTS(statements) == G_N_ELEMENTS(personal_data_kinds) - 1);
	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW) {
		char **row = g_new0(char *, PERSONAL_DATA_FIELDS);

		for (int i = 0; personal_data_kinds[kind].fields[i]; i++)
			row[i] = sql_dup_text(statement, i);
		g_ptr_array_add(rows, row);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&rows) : NULL;
}
