/*
 * paper_aliases.c - find papers by any of their identifiers, and merge duplicates.
 */
#include "store/paper/paper_aliases.h"

#include <string.h>

#include "model/paper_id.h"
#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/matches.h"
#include "store/paper/paper_row.h"

/* Most reliable first. */
enum name { NAME_ID, NAME_DOI, NAME_LINK, NAME_GUID, NAME_TITLE, NAME_ENTRY, N_NAMES };

/* Maximum time between two posts with the same title that count as one, s. */
#define ENTRY_S (3 * INT64_C(86400))

static void
make_names(const struct paper *paper, char *names[N_NAMES])
{
	names[NAME_ID] = g_strdup(paper->id);
	names[NAME_DOI] = paper->doi ? g_strconcat("doi:", paper->doi, NULL) : NULL;
	names[NAME_LINK] = g_strdup(paper->link);
	names[NAME_GUID] = g_strdup(paper->guid);
	names[NAME_ENTRY] = g_strdup(paper->entry_key);
	names[NAME_TITLE] = paper_id_format_title(paper);
}

static void
clear_names(char *names[N_NAMES])
{
	for (int i = 0; i < N_NAMES; i++)
		g_clear_pointer(&names[i], g_free);
}

/* @param stored  stays NULL if no paper has the alias */
static bool
load_named(
    struct store *store, const char *name, struct stored_paper **stored, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq ="
	    /* An id is of the row that has it, even if it is an alias of another. */
	    " coalesce((SELECT p.seq FROM paper p WHERE p.id = ?1),"
	    "  (SELECT paper_seq FROM paper_alias WHERE name = ?1))";
	sql_auto *statement = sql_bind(store, sql, error, SQL_TEXT(name));

	return paper_row_find(store, statement, stored, error);
}

/* Whether the source of a GUID has reported another GUID for a row, too. */
static bool
is_distinguished(
    struct store *store, const char *guid, int64_t seq, bool *is_apart, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM paper_alias WHERE paper_seq = ?1"
	    " AND name <> ?2 AND substr(name, 1, length(?3)) = ?3)";
	g_autofree char *head = NULL;

	*is_apart = false;
	if (!guid)
		return true;
	head = g_strndup(guid, (gsize)(strchr(guid, ':') - guid + 1));
	return sql_has(
	    store, sql, is_apart, error, SQL_INT(seq), SQL_TEXT(guid), SQL_TEXT(head));
}

bool
paper_aliases_are_distinct(
    const struct paper *one, const struct paper *other, bool with_doi)
{
	bool have_two_ids = paper_id_is_arxiv(one->id) &&
	                    paper_id_is_arxiv(other->id) &&
	                    strcmp(one->id, other->id) != 0;

	return have_two_ids || (with_doi && one->doi && other->doi &&
	                           strcmp(one->doi, other->doi) != 0 &&
	                           strcmp(one->id, other->id) != 0);
}

/*
 * Whether a feed entry was reported before with another GUID and link.
 *
 * A weekly column always has the same title, so two of these are required: a long
 * title, the same text, and little time between the entries.
 */
static bool
is_same_entry(
    const struct paper *reported, const struct stored_paper *stored, int64_t now)
{
	const struct paper *paper = stored->paper;
	int64_t reported_at =
	    reported->published_at >= 0 ? reported->published_at : now;
	int64_t other_at =
	    paper->published_at >= 0 ? paper->published_at : stored->first_seen_at;
	bool is_same_text =
	    *reported->abstract && strcmp(reported->abstract, paper->abstract) == 0;
	bool is_near = ABS(reported_at - other_at) < ENTRY_S;

	return paper_id_is_long_title(reported->title) + is_same_text + is_near >= 2;
}

/* Add a row found by an alias, unless it is a different paper or was found before. */
static bool
add_found(struct store *store, const struct paper *reported, enum name by, int64_t now,
    struct stored_paper *stored, GPtrArray *found, GError **error)
{
	bool is_apart = false;

	if (by == NAME_TITLE &&
	    !is_distinguished(store, reported->guid, stored->seq, &is_apart, error)) {
		stored_paper_free(stored);
		return false;
	}
	if (by == NAME_ENTRY)
		is_apart = found->len || !is_same_entry(reported, stored, now);
	for (unsigned i = 0; i < found->len; i++)
		is_apart |=
		    ((struct stored_paper *)found->pdata[i])->seq == stored->seq;
	if (is_apart || paper_aliases_are_distinct(reported, stored->paper, true))
		stored_paper_free(stored);
	else
		g_ptr_array_add(found, stored);
	return true;
}

GPtrArray *
paper_aliases_find(
    struct store *store, const struct paper *reported, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	char *names[N_NAMES];
	bool is_ok = true;

	make_names(reported, names);
	for (int i = 0; i < N_NAMES && is_ok; i++) {
		struct stored_paper *stored = NULL;

		if (!names[i])
			continue;
		is_ok = load_named(store, names[i], &stored, error) &&
		        (!stored || add_found(store, reported, (enum name)i, now,
		                        stored, found, error));
	}
	clear_names(names);
	return is_ok ? g_steal_pointer(&found) : NULL;
}

bool
paper_aliases_add(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] = "INSERT INTO paper_alias (name, paper_seq)"
	                          " VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
	/*
	 * Only the newest entry with a title can be the same as a new one.  An id is
	 * reported for another row if the rows turned out to be different papers.
	 */
	static const char sql_moved[] =
	    "INSERT INTO paper_alias (name, paper_seq) VALUES (?1, ?2)"
	    " ON CONFLICT (name) DO UPDATE SET paper_seq = excluded.paper_seq"
	    " WHERE paper_alias.paper_seq <> excluded.paper_seq";
	char *names[N_NAMES];
	bool is_ok = true;

	make_names(paper, names);
	for (int i = 0; i < N_NAMES && is_ok; i++) {
		bool is_moved = i == NAME_ID || i == NAME_ENTRY;

		if (names[i])
			is_ok = sql_exec(store, is_moved ? sql_moved : sql, error,
			    SQL_TEXT(names[i]), SQL_INT(seq));
	}
	clear_names(names);
	return is_ok;
}

bool
paper_aliases_add_duplicates(
    struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] = "INSERT INTO paper_duplicate (one_seq, other_seq)"
	                          " VALUES (?1, ?2)"
	                          " ON CONFLICT (one_seq, other_seq) DO NOTHING";

	return sql_exec(
	    store, sql, error, SQL_INT(MIN(one, other)), SQL_INT(MAX(one, other)));
}

bool
paper_aliases_remove_duplicates(
    struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] =
	    "DELETE FROM paper_duplicate WHERE one_seq = ?1 AND other_seq = ?2";

	return sql_exec(
	    store, sql, error, SQL_INT(MIN(one, other)), SQL_INT(MAX(one, other)));
}

GArray *
paper_aliases_load_duplicates(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT one_seq, other_seq FROM paper_duplicate LIMIT ?1";

	return sql_load_numbers(store, sql, error, SQL_INT(limit));
}

/*
 * What refers to the paper ?1 becomes that of the paper ?2, in this order.  All get the
 * same two parameters, so each has to use both: "?1 <> ?2" is always true.
 */
static const char *const sql_move[] = {
    "UPDATE paper SET"
    " last_day = (SELECT max(last_day) FROM paper WHERE seq IN (?1, ?2)),"
    " first_seen_at = (SELECT min(first_seen_at) FROM paper WHERE seq IN (?1, ?2)),"
    " replacement = (SELECT max(replacement) FROM paper WHERE seq IN (?1, ?2))"
    " WHERE seq = ?2",
    "UPDATE listing SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
    " (SELECT 1 FROM listing l WHERE l.source = listing.source"
    "  AND l.day = listing.day AND l.paper_seq = ?2)",
    "DELETE FROM listing WHERE paper_seq = ?1 AND ?1 <> ?2",
    "UPDATE digest_rejected SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
    " (SELECT 1 FROM digest_rejected r WHERE r.subscriber_id ="
    "  digest_rejected.subscriber_id AND r.paper_seq = ?2)",
    "DELETE FROM digest_rejected WHERE paper_seq = ?1 AND ?1 <> ?2",
    /* Of two answers of a subscriber the newer one stays. */
    "DELETE FROM feedback WHERE paper_seq = ?2 AND EXISTS"
    " (SELECT 1 FROM feedback f WHERE f.subscriber_id = feedback.subscriber_id"
    "  AND f.paper_seq = ?1 AND f.at > feedback.at)",
    "UPDATE feedback SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
    " (SELECT 1 FROM feedback f WHERE f.subscriber_id = feedback.subscriber_id"
    "  AND f.paper_seq = ?2)",
    "DELETE FROM feedback WHERE paper_seq = ?1 AND ?1 <> ?2",
    /* Packed values are not changed: readers follow the move. */
    "UPDATE paper_moved SET new_seq = ?2 WHERE new_seq = ?1",
    "INSERT INTO paper_moved (old_seq, new_seq) VALUES (?1, ?2)",
    "UPDATE paper_alias SET paper_seq = ?2 WHERE paper_seq = ?1",
    "DELETE FROM paper_duplicate WHERE (one_seq = ?1 OR other_seq = ?1) AND ?1 <> ?2",
};

bool
paper_aliases_move(
    struct store *store, const struct stored_paper *from, int64_t to, GError **error)
{
	static const char sql[] = "DELETE FROM paper WHERE seq = ?1";

	if (!matches_move(store, from->seq, to, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(sql_move); i++)
		if (!sql_exec(
		        store, sql_move[i], error, SQL_INT(from->seq), SQL_INT(to)))
			return false;
	return archive_index(store, from->paper, NULL, error) &&
	       sql_exec(store, sql, error, SQL_INT(from->seq));
}
