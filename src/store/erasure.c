/*
 * erasure.c - taking a person out of every table.
 */
#include "store/erasure.h"

#include "store/sql.h"

bool
erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql_outbox[] = "DELETE FROM outbox WHERE subscriber_id = ?1";
	/* And what went to the address before it was a person's here. */
	static const char sql_letters[] =
	    "DELETE FROM outbox WHERE address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	/* What is in a digest goes with it. */
	static const char sql_digest[] = "DELETE FROM digest WHERE subscriber_id = ?1";
	static const char sql_delivered[] =
	    "DELETE FROM delivered WHERE subscriber_id = ?1";
	static const char sql_refused[] =
	    "DELETE FROM refused WHERE subscriber_id = ?1";
	static const char sql_subscription[] =
	    "DELETE FROM subscription WHERE subscriber_id = ?1";
	static const char sql_change[] = "DELETE FROM change WHERE subscriber_id = ?1";
	/* Also those that the person asked for before being one. */
	static const char sql_ticket[] =
	    "DELETE FROM ticket WHERE subscriber_id = ?1 OR address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	static const char sql_farewell[] =
	    "DELETE FROM farewell WHERE address_key ="
	    " (SELECT address_key FROM subscriber WHERE id = ?1)";
	static const char sql_subscriber[] = "DELETE FROM subscriber WHERE id = ?1";
	static const char sql_erased[] =
	    "INSERT OR IGNORE INTO erased (number) VALUES (?1)";
	/* Filters that were taken away before are the person's words, too. */
	static const char sql_filter[] =
	    "DELETE FROM filter WHERE NOT EXISTS"
	    " (SELECT 1 FROM subscription s WHERE s.filter_id = filter.id)";
	/* Of letters that were handled nothing is left that names anybody. */
	static const char sql_letter[] =
	    "DELETE FROM letter WHERE state = 'quarantined' AND EXISTS"
	    " (SELECT 1 FROM"
	    "   (SELECT address FROM subscriber WHERE id = ?1"
	    "    UNION SELECT address FROM ticket WHERE subscriber_id = ?1"
	    "    UNION SELECT recipient FROM outbox"
	    "     WHERE subscriber_id = ?1 AND recipient IS NOT NULL) s"
	    "  WHERE letter.sender = s.address COLLATE NOCASE"
	    "   OR instr(letter.raw, CAST(s.address AS BLOB)))";
	/* Where the second letter of a move went that was asked for. */
	static const char sql_others[] =
	    "DELETE FROM outbox WHERE subscriber_id IS NULL AND recipient IN"
	    " (SELECT recipient FROM ticket WHERE subscriber_id = ?1)";
	struct sql_value id = SQL_INT(subscriber_id);

	return sql_run(store, sql_letter, error, id) &&
	       sql_run(store, sql_others, error, id) &&
	       sql_run(store, sql_outbox, error, id) &&
	       sql_run(store, sql_letters, error, id) &&
	       sql_run(store, sql_digest, error, id) &&
	       sql_run(store, sql_delivered, error, id) &&
	       sql_run(store, sql_refused, error, id) &&
	       sql_run(store, sql_subscription, error, id) &&
	       sql_run(store, sql_change, error, id) &&
	       sql_run(store, sql_ticket, error, id) &&
	       sql_run(store, sql_farewell, error, id) &&
	       sql_run(store, sql_subscriber, error, id) &&
	       sql_run(store, sql_erased, error, id) &&
	       sql_run(store, sql_filter, error);
}

bool
erasure_delete_address(struct store *store, const char *address_key,
    const char *address, unsigned *count, GError **error)
{
	static const char sql_outbox[] =
	    "DELETE FROM outbox WHERE subscriber_id IS NULL AND address_key = ?1";
	static const char sql_ticket[] =
	    "DELETE FROM ticket WHERE subscriber_id IS NULL AND address_key = ?1";
	static const char sql_farewell[] =
	    "DELETE FROM farewell WHERE address_key = ?1";
	static const char sql_letter[] =
	    "DELETE FROM letter WHERE state = 'quarantined' AND"
	    " (sender = ?1 COLLATE NOCASE OR instr(raw, CAST(?1 AS BLOB)))";
	struct sql_value key = SQL_TEXT(address_key);
	unsigned outbox, ticket, farewell, letter;

	if (!sql_change(store, sql_outbox, &outbox, error, key) ||
	    !sql_change(store, sql_ticket, &ticket, error, key) ||
	    !sql_change(store, sql_farewell, &farewell, error, key) ||
	    !sql_change(store, sql_letter, &letter, error, SQL_TEXT(address)))
		return false;
	*count = outbox + ticket + farewell + letter;
	return true;
}

bool
erasure_insert_farewell(struct store *store, const char *address_key,
    const char *address, int64_t outbox_id, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT OR REPLACE INTO farewell (address_key, address, outbox_id, at)"
	    " VALUES (?1, ?2, ?3, ?4)";

	return sql_run(store, sql, error, SQL_TEXT(address_key), SQL_TEXT(address),
	    SQL_INT(outbox_id), SQL_INT(now));
}

char *
erasure_find_farewell(struct store *store, GError **error)
{
	/* One that is in doubt may be sent once more: it has not ended. */
	static const char sql[] = "SELECT f.address FROM farewell f"
	                          " LEFT JOIN outbox o ON o.id = f.outbox_id"
	                          " WHERE o.id IS NULL OR o.ended_at IS NOT NULL"
	                          " ORDER BY f.at, f.address_key LIMIT 1";
	sql_auto *statement = sql_start(store, sql, error);

	if (!statement || sql_step(statement, error) != SQL_STEP_ROW)
		return NULL;
	return sql_dup_text(statement, 0);
}

bool
erasure_has_farewell(struct store *store, bool *has, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM farewell)";
	int64_t found;

	if (!sql_number(store, sql, &found, error))
		return false;
	*has = found == 1;
	return true;
}
