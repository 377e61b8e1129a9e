/*
 * paper_names.c - one paper, one row: found by any of its names, and united when two
 * rows turn out to be one.
 */
#include "store/paper_names.h"

#include <string.h>

#include "model/identity.h"
#include "store/archive.h"
#include "store/matches.h"
#include "store/paper_row.h"
#include "store/sql.h"

/* The surest first. */
enum name { NAME_ID, NAME_DOI, NAME_LINK, NAME_GUID, NAME_TITLE, NAME_POST, N_NAMES };

/* Two posts of one title within this time may be one. */
#define POST_S (3 * INT64_C(86400))

static void
make_names(const struct paper *paper, char *names[N_NAMES])
{
	names[NAME_ID] = g_strdup(paper->id);
	names[NAME_DOI] = paper->doi ? g_strconcat("doi:", paper->doi, NULL) : NULL;
	names[NAME_LINK] = g_strdup(paper->link);
	names[NAME_GUID] = g_strdup(paper->guid);
	names[NAME_POST] = g_strdup(paper->post);
	names[NAME_TITLE] = identity_format_title(paper);
}

static void
clear_names(char *names[N_NAMES])
{
	for (int i = 0; i < N_NAMES; i++)
		g_clear_pointer(&names[i], g_free);
}

/* @param stored  stays NULL when nobody has the name */
static bool
load_named(
    struct store *store, const char *name, struct stored_paper **stored, GError **error)
{
	static const char sql[] =
	    "SELECT " PAPER_ROW_COLUMNS " FROM paper WHERE seq ="
	    " coalesce((SELECT paper_seq FROM paper_name WHERE name = ?1),"
	    /* Its id is a name of its own, learnt or not. */
	    "  (SELECT p.seq FROM paper p WHERE p.id = ?1))";
	sql_auto *statement = sql_start(store, sql, error, SQL_TEXT(name));
	enum sql_step step;

	if (!statement)
		return false;
	step = paper_row_step(statement, error);
	if (step == SQL_STEP_ROW)
		*stored = paper_row_load(statement);
	return step != SQL_STEP_FAILED;
}

/* Whether one source calls them differently. */
static bool
is_told_apart(
    struct store *store, const char *guid, int64_t seq, bool *is_apart, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM paper_name WHERE paper_seq = ?1"
	    " AND name <> ?2 AND substr(name, 1, length(?3)) = ?3)";
	g_autofree char *head = NULL;
	int64_t found;

	*is_apart = false;
	if (!guid)
		return true;
	head = g_strndup(guid, (gsize)(strchr(guid, ':') - guid + 1));
	if (!sql_number(store, sql, &found, error, SQL_INT(seq), SQL_TEXT(guid),
	        SQL_TEXT(head)))
		return false;
	*is_apart = found == 1;
	return true;
}

static bool
is_another(const struct paper *told, const struct paper *kept)
{
	bool has_two_ids = identity_is_arxiv(told->id) && identity_is_arxiv(kept->id) &&
	                   strcmp(told->id, kept->id) != 0;

	return has_two_ids ||
	       (told->doi && kept->doi && strcmp(told->doi, kept->doi) != 0 &&
	           strcmp(told->id, kept->id) != 0);
}

/*
 * Whether an entry is one of its feed that was told under another guid and link.  Of a
 * weekly column the title is always the same; so two of these have to speak for it: a
 * long title, the same text, and little time between.
 */
static bool
is_same_post(const struct paper *told, const struct stored_paper *kept, int64_t now)
{
	const struct paper *paper = kept->paper;
	int64_t told_at = told->published_at >= 0 ? told->published_at : now;
	int64_t kept_at =
	    paper->published_at >= 0 ? paper->published_at : kept->first_seen_at;
	bool is_same_text =
	    *told->abstract && strcmp(told->abstract, paper->abstract) == 0;
	bool is_near = ABS(told_at - kept_at) < POST_S;

	return identity_is_long_title(told->title) + is_same_text + is_near >= 2;
}

/* Take a row that a name led to, unless it is another paper, or was found before. */
static bool
add_found(struct store *store, const struct paper *told, enum name by, int64_t now,
    struct stored_paper *stored, GPtrArray *found, GError **error)
{
	bool is_apart = false;

	if (by == NAME_TITLE &&
	    !is_told_apart(store, told->guid, stored->seq, &is_apart, error)) {
		stored_paper_free(stored);
		return false;
	}
	if (by == NAME_POST)
		is_apart = found->len || !is_same_post(told, stored, now);
	for (unsigned i = 0; i < found->len; i++)
		is_apart |=
		    ((struct stored_paper *)found->pdata[i])->seq == stored->seq;
	if (is_apart || is_another(told, stored->paper))
		stored_paper_free(stored);
	else
		g_ptr_array_add(found, stored);
	return true;
}

GPtrArray *
paper_names_find(
    struct store *store, const struct paper *told, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	char *names[N_NAMES];
	bool is_ok = true;

	make_names(told, names);
	for (int i = 0; i < N_NAMES && is_ok; i++) {
		struct stored_paper *stored = NULL;

		if (!names[i])
			continue;
		is_ok = load_named(store, names[i], &stored, error) &&
		        (!stored || add_found(store, told, (enum name)i, now, stored,
		                        found, error));
	}
	clear_names(names);
	return is_ok ? g_steal_pointer(&found) : NULL;
}

bool
paper_names_learn(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] = "INSERT INTO paper_name (name, paper_seq)"
	                          " VALUES (?1, ?2) ON CONFLICT DO NOTHING";
	/* The newest of a title is what a new one may be. */
	static const char sql_post[] =
	    "INSERT INTO paper_name (name, paper_seq) VALUES (?1, ?2)"
	    " ON CONFLICT DO UPDATE SET paper_seq = excluded.paper_seq";
	char *names[N_NAMES];
	bool is_ok = true;

	make_names(paper, names);
	for (int i = 0; i < N_NAMES && is_ok; i++)
		if (names[i])
			is_ok = sql_run(store, i == NAME_POST ? sql_post : sql, error,
			    SQL_TEXT(names[i]), SQL_INT(seq));
	clear_names(names);
	return is_ok;
}

bool
paper_names_note_twins(struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] = "INSERT INTO paper_twin (one_seq, other_seq)"
	                          " VALUES (min(?1, ?2), max(?1, ?2))"
	                          " ON CONFLICT DO NOTHING";

	return sql_run(store, sql, error, SQL_INT(one), SQL_INT(other));
}

GArray *
paper_names_load_twins(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT one_seq, other_seq FROM paper_twin LIMIT ?1";
	sql_auto *statement = sql_start(store, sql, error, SQL_INT(limit));
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = sql_step(statement, error)) == SQL_STEP_ROW)
		for (int i = 0; i < 2; i++) {
			int64_t seq = sql_get_int(statement, i);

			g_array_append_val(pairs, seq);
		}
	return step == SQL_STEP_DONE ? g_steal_pointer(&pairs) : NULL;
}

static bool
move_listings(struct store *store, int64_t from, int64_t to, GError **error)
{
	static const char sql[] =
	    "UPDATE OR IGNORE listing SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_rest[] = "DELETE FROM listing WHERE paper_seq = ?1";
	static const char sql_day[] =
	    "UPDATE paper SET"
	    " last_day = max(last_day, (SELECT last_day FROM paper WHERE seq = ?1)),"
	    " first_seen_at ="
	    "  min(first_seen_at, (SELECT first_seen_at FROM paper WHERE seq = ?1)),"
	    " replacement ="
	    "  max(replacement, (SELECT replacement FROM paper WHERE seq = ?1))"
	    " WHERE seq = ?2";

	return sql_run(store, sql_day, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_run(store, sql, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_run(store, sql_rest, error, SQL_INT(from));
}

/* What people had: one of the two is both. */
static bool
move_deliveries(struct store *store, int64_t from, int64_t to, GError **error)
{
	static const char sql[] =
	    "UPDATE OR IGNORE delivered SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_rest[] = "DELETE FROM delivered WHERE paper_seq = ?1";
	static const char sql_item[] =
	    "UPDATE OR IGNORE digest_item SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_item_rest[] =
	    "DELETE FROM digest_item WHERE paper_seq = ?1";
	static const char sql_refused[] =
	    "UPDATE OR IGNORE refused SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_refused_rest[] =
	    "DELETE FROM refused WHERE paper_seq = ?1";

	return sql_run(store, sql, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_run(store, sql_rest, error, SQL_INT(from)) &&
	       sql_run(store, sql_item, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_run(store, sql_item_rest, error, SQL_INT(from)) &&
	       sql_run(store, sql_refused, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_run(store, sql_refused_rest, error, SQL_INT(from));
}

bool
paper_names_move(
    struct store *store, const struct stored_paper *from, int64_t to, GError **error)
{
	static const char sql_name[] =
	    "UPDATE paper_name SET paper_seq = ?2 WHERE paper_seq = ?1";
	static const char sql_twin[] =
	    "DELETE FROM paper_twin WHERE one_seq = ?1 OR other_seq = ?1";
	static const char sql[] = "DELETE FROM paper WHERE seq = ?1";

	return move_listings(store, from->seq, to, error) &&
	       move_deliveries(store, from->seq, to, error) &&
	       matches_move(store, from->seq, to, error) &&
	       sql_run(store, sql_name, error, SQL_INT(from->seq), SQL_INT(to)) &&
	       sql_run(store, sql_twin, error, SQL_INT(from->seq)) &&
	       archive_learn(store, from->paper, NULL, error) &&
	       sql_run(store, sql, error, SQL_INT(from->seq));
}
