/*
 * erasure.c - taking a person out of every table.
 */
#include "store/erasure.h"

#include "store/sql.h"

bool
erasure_delete_person(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql_outbox[] = "DELETE FROM outbox WHERE subscriber_id = ?1";
	/* What is in a digest goes with it. */
	static const char sql_digest[] = "DELETE FROM digest WHERE subscriber_id = ?1";
	static const char sql_delivered[] =
	    "DELETE FROM delivered WHERE subscriber_id = ?1";
	static const char sql_refused[] =
	    "DELETE FROM refused WHERE subscriber_id = ?1";
	static const char sql_subscription[] =
	    "DELETE FROM subscription WHERE subscriber_id = ?1";
	static const char sql_change[] = "DELETE FROM change WHERE subscriber_id = ?1";
	static const char sql_subscriber[] = "DELETE FROM subscriber WHERE id = ?1";
	/* Filters that were taken away before are the person's words, too. */
	static const char sql_filter[] =
	    "DELETE FROM filter WHERE NOT EXISTS"
	    " (SELECT 1 FROM subscription s WHERE s.filter_id = filter.id)";
	/* Of letters that were handled nothing is left that names anybody. */
	static const char sql_letter[] =
	    "DELETE FROM letter WHERE state = 'quarantined' AND EXISTS"
	    " (SELECT 1 FROM subscriber s WHERE s.id = ?1"
	    "  AND (letter.sender = s.address COLLATE NOCASE"
	    "   OR instr(letter.raw, CAST(s.address AS BLOB))))";
	struct sql_value id = SQL_INT(subscriber_id);

	return sql_run(store, sql_outbox, error, id) &&
	       sql_run(store, sql_digest, error, id) &&
	       sql_run(store, sql_delivered, error, id) &&
	       sql_run(store, sql_refused, error, id) &&
	       sql_run(store, sql_subscription, error, id) &&
	       sql_run(store, sql_change, error, id) &&
	       sql_run(store, sql_letter, error, id) &&
	       sql_run(store, sql_subscriber, error, id) &&
	       sql_run(store, sql_filter, error);
}
