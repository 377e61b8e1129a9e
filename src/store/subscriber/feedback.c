/*
 * feedback.c - papers that subscribers liked and hid, and what was learned from them.
 */
#include "store/subscriber/feedback.h"

#include "base/bounds.h"
#include "store/core/record.h"

bool
feedback_save(struct store *store, int64_t subscriber_id,
    const struct feedback *feedback, const char *source, GError **error)
{
	static const char sql[] =
	    "INSERT INTO feedback (subscriber_id, paper_seq, is_like, at, source)"
	    " VALUES (?1, ?2, ?3, ?4, ?5)"
	    " ON CONFLICT (subscriber_id, paper_seq) DO UPDATE SET"
	    " is_like = excluded.is_like, at = excluded.at, source = excluded.source";
	static const char sql_oldest[] =
	    "DELETE FROM feedback WHERE subscriber_id = ?1 AND paper_seq NOT IN"
	    " (SELECT paper_seq FROM feedback WHERE subscriber_id = ?1"
	    "  ORDER BY at DESC, paper_seq DESC LIMIT ?2)";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id),
	           SQL_INT(feedback->paper_seq), SQL_INT(feedback->is_like),
	           SQL_INT(feedback->at), SQL_TEXT(source)) &&
	       sql_exec(store, sql_oldest, error, SQL_INT(subscriber_id),
	           SQL_INT(BOUNDS_TASTE_ANSWERS));
}

GArray *
feedback_load(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "SELECT paper_seq, at, is_like FROM feedback"
	                          " WHERE subscriber_id = ?1"
	                          " ORDER BY at DESC, paper_seq DESC";
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct feedback));
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = SQL_STEP_FAILED;

	while (statement && (step = record_next(statement, "feedback", "inn", error)) ==
	                        SQL_STEP_ROW) {
		struct feedback feedback = {.paper_seq = sql_get_int(statement, 0),
		    .at = sql_get_int(statement, 1),
		    .is_like = sql_get_int(statement, 2) > 0};

		g_array_append_val(all, feedback);
	}
	return step == SQL_STEP_DONE ? g_steal_pointer(&all) : NULL;
}

static bool
delete_taste(struct store *store, int64_t subscriber_id, GError **error)
{
	static const char sql[] = "DELETE FROM taste WHERE subscriber_id = ?1";

	return sql_exec(store, sql, error, SQL_INT(subscriber_id));
}

bool
feedback_delete(
    struct store *store, int64_t subscriber_id, unsigned *count, GError **error)
{
	static const char sql[] = "DELETE FROM feedback WHERE subscriber_id = ?1";

	return delete_taste(store, subscriber_id, error) &&
	       sql_exec_count(store, sql, count, error, SQL_INT(subscriber_id));
}

bool
feedback_save_taste(struct store *store, int64_t subscriber_id,
    const struct taste_vector *vector, int64_t now, GError **error)
{
	static const char sql[] =
	    "INSERT INTO taste (subscriber_id, learned_at, words)"
	    " VALUES (?1, ?2, ?3) ON CONFLICT (subscriber_id)"
	    " DO UPDATE SET learned_at = excluded.learned_at, words = excluded.words";
	g_autoptr(GByteArray) words = NULL;

	if (!vector->weights->len)
		return delete_taste(store, subscriber_id, error);
	words = taste_vector_pack(vector);
	return sql_exec(store, sql, error, SQL_INT(subscriber_id), SQL_INT(now),
	    SQL_BLOB(words->data, words->len));
}

bool
feedback_load_taste(struct store *store, int64_t subscriber_id,
    struct taste_vector *vector, GError **error)
{
	static const char sql[] = "SELECT words FROM taste WHERE subscriber_id = ?1";
	sql_auto *statement = sql_bind(store, sql, error, SQL_INT(subscriber_id));
	enum sql_step step = statement ? sql_step(statement, error) : SQL_STEP_FAILED;
	struct sql_bytes words;

	if (step != SQL_STEP_ROW)
		return step == SQL_STEP_DONE;
	words = sql_get_bytes(statement, 0);
	return taste_vector_unpack(vector, words.data, words.size, error);
}
