/*
 * carry_over.c - data that a restored store copies from the database it replaces.
 */
#include "store/subscriber/carry_over.h"

#include "store/core/sql.h"
#include "store/subscriber/suppression.h"

bool
carry_over_attach(struct store *store, const char *path, GError **error)
{
	static const char sql[] = "ATTACH ?1 AS replaced";

	return sql_exec(store, sql, error, SQL_TEXT(path));
}

bool
carry_over_suppressions(struct store *store, unsigned *count, GError **error)
{
	static const char sql[] = "INSERT INTO suppression (hash, reason, at)"
	                          " SELECT hash, reason, at FROM replaced.suppression "
	                          "WHERE true" SUPPRESSION_ON_CONFLICT;

	return sql_exec_count(store, sql, count, error);
}

GArray *
carry_over_find_erased(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT e.number FROM replaced.erased e"
	    " JOIN main.subscriber s ON s.id = e.number ORDER BY 1";

	return sql_load_numbers(store, sql, error);
}

bool
carry_over_erased(struct store *store, GError **error)
{
	static const char sql[] = "INSERT OR IGNORE INTO erased (number)"
	                          " SELECT number FROM replaced.erased";

	return sql_exec(store, sql, error);
}

GArray *
carry_over_find_left(struct store *store, GError **error)
{
	static const char sql[] =
	    "SELECT s.id FROM main.subscriber s JOIN replaced.subscriber o"
	    " ON o.id = s.id WHERE o.state = 'gone' AND s.state <> 'gone'"
	    " AND coalesce(o.consent_at, 0) >= coalesce(s.consent_at, 0) ORDER BY 1";

	return sql_load_numbers(store, sql, error);
}

bool
carry_over_feeds(struct store *store, GError **error)
{
	/* The time only advances, also when they are turned off (its sign). */
	static const char sql[] =
	    "UPDATE main.subscriber AS s SET feeds_since = o.feeds_since"
	    " FROM replaced.subscriber o WHERE o.id = s.id"
	    " AND abs(o.feeds_since) >= abs(ifnull(s.feeds_since, 0))";

	return sql_exec(store, sql, error);
}

/*
 * Whether the old database has or had what was made at a time: it lacks what was made
 * between a backup and the restore of it.
 */
#define WAS_THERE(at)                                                                 \
	" NOT EXISTS (SELECT 1 FROM replaced.cursor b JOIN replaced.cursor r ON"      \
	" b.name = 'restored from' AND r.name = 'restored at' WHERE " at " > b.value" \
	" AND " at " < r.value)"

bool
carry_over_answers(struct store *store, GError **error)
{
	static const char sql_is_there[] =
	    "SELECT EXISTS (SELECT 1 FROM replaced.sqlite_schema WHERE name = 'share')";
	static const char *const sql[] = {/* share_ends updates followers. */
	    "DELETE FROM main.share AS h WHERE NOT EXISTS (SELECT 1 FROM"
	    " replaced.share o WHERE o.id = h.id AND o.name = h.name)"
	    " AND" WAS_THERE("h.created_at"),
	    "DELETE FROM main.follow AS f WHERE NOT EXISTS (SELECT 1 FROM"
	    " replaced.follow o WHERE o.subscription_id = f.subscription_id"
	    " AND o.subscriber_id = f.subscriber_id) AND" WAS_THERE(
	        "(SELECT created_at FROM main.subscription s"
	        " WHERE s.id = f.subscription_id)"),
	    "DELETE FROM main.feedback AS f WHERE NOT EXISTS (SELECT 1 FROM"
	    " replaced.feedback o JOIN replaced.paper q ON q.seq = o.paper_seq"
	    " JOIN main.paper p ON p.id = q.id WHERE o.subscriber_id ="
	    " f.subscriber_id AND p.seq = f.paper_seq) AND" WAS_THERE("f.at"),
	    "INSERT INTO main.feedback (subscriber_id, paper_seq, is_like, at, source)"
	    " SELECT s.id, p.seq, o.is_like, o.at, o.source FROM replaced.feedback o"
	    " JOIN replaced.paper q ON q.seq = o.paper_seq"
	    " JOIN main.paper p ON p.id = q.id"
	    " JOIN main.subscriber s ON s.id = o.subscriber_id WHERE true"
	    " ON CONFLICT DO UPDATE SET is_like = excluded.is_like,"
	    " at = excluded.at, source = excluded.source WHERE excluded.at > at",
	    "DELETE FROM main.taste AS t WHERE NOT EXISTS (SELECT 1 FROM"
	    " replaced.taste o WHERE o.subscriber_id = t.subscriber_id)"
	    " AND" WAS_THERE("t.learned_at"),
	    "INSERT OR REPLACE INTO main.taste (subscriber_id, learned_at, words)"
	    " SELECT o.subscriber_id, o.learned_at, o.words FROM replaced.taste o"
	    " JOIN main.subscriber s ON s.id = o.subscriber_id"
	    " LEFT JOIN main.taste t ON t.subscriber_id = o.subscriber_id"
	    " WHERE o.learned_at > ifnull(t.learned_at, -1)",
	    "UPDATE main.proposal AS p SET state = 'refused', ended_at = o.ended_at"
	    " FROM replaced.proposal o WHERE o.id = p.id AND o.term = p.term"
	    " AND o.subscriber_id = p.subscriber_id AND o.state = 'refused'"
	    " AND p.state = 'open'",
	    /* Numbers in mails keep their meaning.  What was applied is lost. */
	    "INSERT OR IGNORE INTO main.proposal (id, subscriber_id, number,"
	    " subscription_id, filter, term, command, gained, lost, days, title,"
	    " made_at, expires_at, ended_at, state)"
	    " SELECT o.id, o.subscriber_id, o.number, o.subscription_id, o.filter,"
	    " o.term, o.command, o.gained, o.lost, o.days, o.title, o.made_at,"
	    " o.expires_at, o.ended_at, iif(o.state = 'applied', 'undone', o.state)"
	    " FROM replaced.proposal o JOIN main.subscriber s"
	    " ON s.id = o.subscriber_id"};
	bool is_there;

	/* An older version may have written it. */
	if (!sql_has(store, sql_is_there, &is_there, error))
		return false;
	for (size_t i = 0; is_there && i < G_N_ELEMENTS(sql); i++)
		if (!sql_exec(store, sql[i], error))
			return false;
	return true;
}
