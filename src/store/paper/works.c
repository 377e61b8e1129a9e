/*
 * works.c - records of one paper: its preprint, its article.
 */
#include "store/paper/works.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "model/paper_id.h"
#include "store/core/record.h"
#include "store/core/sql.h"
#include "store/paper/paper_events.h"

/* The numbers of the works of papers p and q, also of those that have one record. */
#define P_WORK "coalesce(p.work, p.seq)"
#define Q_WORK "coalesce(q.work, q.seq)"

/* ---- join and split ---- */

/* Load the work of a paper, or its seq if it has one record. */
static bool
load_work(struct store *store, int64_t seq, int64_t *work, GError **error)
{
	static const char sql[] = "SELECT " P_WORK " FROM paper p WHERE p.seq = ?1";

	return sql_number(store, sql, work, error, SQL_INT(seq));
}

/* Number the records of two works, or papers, as one. */
static bool
unite(struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET work = ?1 WHERE seq IN (?1, ?2) OR work IN (?1, ?2)";

	return one == other || sql_exec(store, sql, error, SQL_INT(MIN(one, other)),
	                           SQL_INT(MAX(one, other)));
}

/* Take a paper out of its work, whose other records get a new number, or none if only
 * one is left. */
static bool
remove_record(struct store *store, int64_t seq, GError **error)
{
	static const char sql_remove[] = "UPDATE paper SET work = NULL WHERE seq = ?1";
	static const char sql_rest[] =
	    "UPDATE paper SET work = (SELECT CASE WHEN count(*) > 1 THEN min(p.seq) END"
	    " FROM paper p WHERE p.work = ?1) WHERE work = ?1";
	int64_t work;

	return load_work(store, seq, &work, error) &&
	       sql_exec(store, sql_remove, error, SQL_INT(seq)) &&
	       sql_exec(store, sql_rest, error, SQL_INT(work));
}

/* Whether two works may be joined: no operator has split them, and they are not too
 * many. */
static bool
may_join(struct store *store, int64_t one, int64_t other, bool *may, GError **error)
{
	static const char sql[] =
	    "SELECT NOT EXISTS (SELECT 1 FROM paper_link l"
	    " JOIN paper_alias a ON a.name = l.name JOIN paper p ON p.seq = l.paper_seq"
	    " JOIN paper q ON q.seq = a.paper_seq WHERE l.is_same = 0"
	    " AND ((" P_WORK " = ?1 AND " Q_WORK " = ?2)"
	    "  OR (" P_WORK " = ?2 AND " Q_WORK " = ?1)))"
	    " AND (SELECT count(*) FROM paper WHERE work IN (?1, ?2)) < ?3";

	return sql_has(store, sql, may, error, SQL_INT(one), SQL_INT(other),
	    SQL_INT(WORKS_RECORDS));
}

/* Note that an article is in the work of a preprint. */
static bool
add_published(
    struct store *store, int64_t one, int64_t other, int64_t now, GError **error)
{
	const int64_t seqs[] = {one, other};
	bool is_preprint[2];

	for (int i = 0; i < 2; i++) {
		g_autofree char *id = NULL;

		if (!papers_find_id(store, seqs[i], &id, error))
			return false;
		is_preprint[i] = id && paper_id_is_preprint(id);
	}
	return is_preprint[0] == is_preprint[1] ||
	       paper_events_add(
	           store, seqs[is_preprint[0]], PAPER_EVENT_PUBLISHED, 0, now, error);
}

/* Join the works of two papers, unless an operator has split them. */
static bool
link_papers(
    struct store *store, int64_t one, int64_t other, int64_t now, GError **error)
{
	int64_t work, other_work;
	bool may;

	if (!load_work(store, one, &work, error) ||
	    !load_work(store, other, &other_work, error) ||
	    !may_join(store, work, other_work, &may, error))
		return false;
	return !may || work == other_work ||
	       (unite(store, work, other_work, error) &&
	           add_published(store, one, other, now, error));
}

bool
works_join(struct store *store, int64_t one, int64_t other, GError **error)
{
	/* All that was split before between the papers of both. */
	static const char sql[] =
	    "DELETE FROM paper_link WHERE is_same = 0 AND paper_seq IN"
	    " (SELECT p.seq FROM paper p WHERE " P_WORK " IN (?1, ?2))"
	    " AND name IN (SELECT a.name FROM paper_alias a"
	    "  JOIN paper q ON q.seq = a.paper_seq WHERE " Q_WORK " IN (?1, ?2))";
	int64_t work, other_work;

	return load_work(store, one, &work, error) &&
	       load_work(store, other, &other_work, error) &&
	       sql_exec(store, sql, error, SQL_INT(work), SQL_INT(other_work)) &&
	       unite(store, work, other_work, error);
}

bool
works_split(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "INSERT INTO paper_link (paper_seq, name, is_same)"
	    " SELECT p.seq, q.id, 0 FROM paper p JOIN paper q ON q.work = p.work"
	    " WHERE p.seq = ?1 AND q.seq <> ?1"
	    " ON CONFLICT (paper_seq, name) DO UPDATE SET is_same = 0";

	return sql_exec(store, sql, error, SQL_INT(seq)) &&
	       remove_record(store, seq, error);
}

bool
works_move(struct store *store, int64_t from, int64_t to, GError **error)
{
	static const char sql[] =
	    "UPDATE paper_link SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
	    " (SELECT 1 FROM paper_link l WHERE l.paper_seq = ?2"
	    "  AND l.name = paper_link.name)";
	static const char sql_rest[] = "DELETE FROM paper_link WHERE paper_seq = ?1";
	int64_t work, other_work;

	return load_work(store, from, &work, error) &&
	       load_work(store, to, &other_work, error) &&
	       unite(store, work, other_work, error) &&
	       remove_record(store, from, error) &&
	       sql_exec(store, sql, error, SQL_INT(from), SQL_INT(to)) &&
	       sql_exec(store, sql_rest, error, SQL_INT(from));
}

/* ---- what services state ---- */

static bool
save_stated(
    struct store *store, const struct paper *reported, int64_t seq, GError **error)
{
	static const char sql[] =
	    "INSERT INTO paper_link (paper_seq, name, is_same) VALUES (?1, ?2, 1)"
	    " ON CONFLICT (paper_seq, name) DO NOTHING";

	for (unsigned i = 0; reported->records && i < reported->records->len; i++)
		if (!sql_exec(store, sql, error, SQL_INT(seq),
		        SQL_TEXT(reported->records->pdata[i])))
			return false;
	return true;
}

/* Link a paper with those that it names, and those that name it. */
static bool
link_stated(struct store *store, int64_t seq, int64_t now, GError **error)
{
	static const char sql[] =
	    "SELECT q.seq FROM paper_link l JOIN paper_alias a ON a.name = l.name"
	    " JOIN paper q ON q.seq = a.paper_seq JOIN paper p ON p.seq = l.paper_seq"
	    " WHERE l.paper_seq = ?1 AND l.is_same = 1"
	    " AND " Q_WORK " <> " P_WORK " UNION SELECT q.seq FROM paper_alias a JOIN "
	    "paper_link l ON l.name = a.name"
	    " JOIN paper q ON q.seq = l.paper_seq JOIN paper p ON p.seq = a.paper_seq"
	    " WHERE a.paper_seq = ?1 AND l.is_same = 1"
	    " AND " Q_WORK " <> " P_WORK " ORDER BY 1";
	g_autoptr(GArray) others = sql_load_numbers(store, sql, error, SQL_INT(seq));

	for (unsigned i = 0; others && i < others->len; i++)
		if (!link_papers(
		        store, seq, g_array_index(others, int64_t, i), now, error))
			return false;
	return others != NULL;
}

/* ---- equal titles ---- */

/* Whether a title says that the paper is about another one, or is one that many have.
 */
static bool
is_stock_title(const char *title)
{
	static const char shape[] =
	    "^\\W*(errat|corrigend|correction|retract|withdr|expression of concern"
	    "|addendum|author|reply|repl[iy]|response|respon[sd]|re:|comment|editorial"
	    "|introduction|preface|foreword|in this issue|book review|obituary"
	    "|letter|announcement|news|highlights|proceedings|table of contents)";

	return g_regex_match_simple(shape, title, G_REGEX_CASELESS, 0);
}

static int
get_year(const struct stored_paper *stored)
{
	int64_t at = stored->paper->published_at;
	char day[DAY_BYTES];

	day_format(at == PAPER_UNKNOWN ? stored->first_seen_at : at, day);
	return (int)g_ascii_strtoll(day, NULL, 10);
}

/* Whether two papers with the same title and first author are records of one work. */
static bool
are_records(const struct stored_paper *one, const struct stored_paper *other)
{
	const char *id = one->paper->id, *other_id = other->paper->id;
	bool is_preprint = paper_id_is_preprint(id);
	bool is_other_preprint = paper_id_is_preprint(other_id);

	if (is_preprint && is_other_preprint)
		is_preprint = paper_id_is_arxiv(id) != paper_id_is_arxiv(other_id);
	else
		is_preprint |= is_other_preprint;
	return is_preprint && !is_stock_title(one->paper->title) &&
	       ABS(get_year(one) - get_year(other)) <= WORKS_YEARS;
}

/* Link a paper with the first one that had its title. */
static bool
link_by_title(
    struct store *store, const struct stored_paper *stored, int64_t now, GError **error)
{
	static const char sql[] =
	    "SELECT paper_seq FROM paper_alias WHERE name = ?1 AND paper_seq <> ?2";
	g_autofree char *title = paper_id_format_title(stored->paper);
	g_autoptr(GArray) found = NULL;
	pb_auto(stored_paper) other = NULL;

	if (!title)
		return true;
	found =
	    sql_load_numbers(store, sql, error, SQL_TEXT(title), SQL_INT(stored->seq));
	if (!found || !found->len)
		return found != NULL;
	other = papers_load(store, g_array_index(found, int64_t, 0), error);
	return other && (!are_records(stored, other) ||
	                    link_papers(store, stored->seq, other->seq, now, error));
}

bool
works_link(struct store *store, const struct paper *reported, int64_t seq,
    bool is_retitled, int64_t now, GError **error)
{
	pb_auto(stored_paper) stored = NULL;

	if (!save_stated(store, reported, seq, error) ||
	    !link_stated(store, seq, now, error))
		return false;
	if (!is_retitled)
		return true;
	stored = papers_load(store, seq, error);
	return stored && link_by_title(store, stored, now, error);
}

/* ---- reading ---- */

GPtrArray *
works_load_records(struct store *store, int64_t work, GError **error)
{
	static const char sql[] =
	    "SELECT seq, id, title, nullif(journal, ''), published_at, last_day"
	    " FROM paper WHERE work = ?1 ORDER BY abstract = '',"
	    " coalesce(published_at, first_seen_at) DESC, seq DESC";
	RECORD_LAYOUT(layout, work_record, "paper", "ittLNd", (), seq, id, title,
	    journal, published_at, day);

	return record_load_all(store, sql, &layout, error, SQL_INT(work));
}
