/*
 * papers_save.c - store the papers that a source returned.
 */
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "model/paper_id.h"
#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/matches.h"
#include "store/paper/packed_papers.h"
#include "store/paper/paper_dedup.h"
#include "store/paper/paper_events.h"
#include "store/paper/paper_row.h"
#include "store/paper/papers.h"
#include "store/paper/works.h"

/* ---- papers by any of their identifiers, and duplicates ---- */

/* Kinds of names in paper_alias, the most reliable first. */
enum name {
	NAME_ID,
	NAME_DOI,
	NAME_PMID,
	NAME_PMCID,
	NAME_LINK,
	NAME_GUID,
	NAME_TITLE,
	NAME_ENTRY,
	N_NAMES
};

/* Maximum time between two feed entries that counts as near, s: is_same_entry(). */
#define ENTRY_S (3 * INT64_C(86400))

static void
make_names(const struct paper *paper, char *names[N_NAMES])
{
	names[NAME_ID] = g_strdup(paper->id);
	names[NAME_DOI] = paper->doi ? g_strconcat("doi:", paper->doi, NULL) : NULL;
	names[NAME_PMID] = paper->pmid ? g_strconcat("pmid:", paper->pmid, NULL) : NULL;
	names[NAME_PMCID] =
	    paper->pmcid ? g_strconcat("pmcid:", paper->pmcid, NULL) : NULL;
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

/*
 * Whether a row has another GUID of the same source: then a paper with this GUID is
 * another entry of that source, and not the paper of the row.
 *
 * @param guid  begins with the source and ":"; or NULL
 */
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

/* Whether two papers have different arXiv ids or, with_doi, different DOIs. */
static bool
are_distinct(const struct paper *one, const struct paper *other, bool with_doi)
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
	if (is_apart || are_distinct(reported, stored->paper, true))
		stored_paper_free(stored);
	else
		g_ptr_array_add(found, stored);
	return true;
}

/*
 * Find the rows of a reported paper by its names, in the order of enum name;
 * NAME_ENTRY, its feed and title, counts only if the others find nothing.
 *
 * Two entries of one source are not merged by title and first author alone.  The rows
 * may be distinct from each other.
 *
 * @return of struct stored_paper *; NULL on failure
 */
static GPtrArray *
find_rows(
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
		is_ok = papers_find(store, names[i], &stored, error) &&
		        (!stored || add_found(store, reported, (enum name)i, now,
		                        stored, found, error));
	}
	clear_names(names);
	return is_ok ? g_steal_pointer(&found) : NULL;
}

/*
 * Record all aliases of a paper.  An alias of another paper stays with that paper,
 * except for the id, which is of the row for which it was reported last.
 */
static bool
add_aliases(struct store *store, const struct paper *paper, int64_t seq, GError **error)
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

/* Record two rows as duplicates. */
static bool
add_duplicates(struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] = "INSERT INTO paper_duplicate (one_seq, other_seq)"
	                          " VALUES (?1, ?2)"
	                          " ON CONFLICT (one_seq, other_seq) DO NOTHING";

	return sql_exec(
	    store, sql, error, SQL_INT(MIN(one, other)), SQL_INT(MAX(one, other)));
}

/* Forget that two rows were duplicates. */
static bool
remove_duplicates(struct store *store, int64_t one, int64_t other, GError **error)
{
	static const char sql[] =
	    "DELETE FROM paper_duplicate WHERE one_seq = ?1 AND other_seq = ?2";

	return sql_exec(
	    store, sql, error, SQL_INT(MIN(one, other)), SQL_INT(MAX(one, other)));
}

/*
 * Load recorded duplicates.
 *
 * @return GArray of int64_t, two for each pair, at most limit pairs
 */
static GArray *
load_duplicates(struct store *store, unsigned limit, GError **error)
{
	static const char sql[] =
	    "SELECT one_seq, other_seq FROM paper_duplicate LIMIT ?1";

	return sql_load_numbers(store, sql, error, SQL_INT(limit));
}

/*
 * Statements that move all references to the paper ?1 to the paper ?2, in this order.
 * All get the same two parameters, so each has to use both: "?1 <> ?2" is always true.
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
    "UPDATE paper_event SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
    " (SELECT 1 FROM paper_event e WHERE e.paper_seq = ?2"
    "  AND e.kind = paper_event.kind AND e.version = paper_event.version)",
    "DELETE FROM paper_event WHERE paper_seq = ?1 AND ?1 <> ?2",
    "UPDATE watch SET paper_seq = ?2 WHERE paper_seq = ?1 AND NOT EXISTS"
    " (SELECT 1 FROM watch w WHERE w.subscriber_id = watch.subscriber_id"
    "  AND w.paper_seq = ?2)",
    "DELETE FROM watch WHERE paper_seq = ?1 AND ?1 <> ?2",
    "DELETE FROM watch_check WHERE paper_seq = ?1 AND ?1 <> ?2",
    /* Packed values are not changed: readers follow the move. */
    "UPDATE paper_moved SET new_seq = ?2 WHERE new_seq = ?1",
    "INSERT INTO paper_moved (old_seq, new_seq) VALUES (?1, ?2)",
    "UPDATE paper_alias SET paper_seq = ?2 WHERE paper_seq = ?1",
    "DELETE FROM paper_duplicate WHERE (one_seq = ?1 OR other_seq = ?1) AND ?1 <> ?2",
};

/*
 * Move all references from one row to another and delete it: listings, aliases,
 * matches, refusals and answers.  Digests and deliveries still name the deleted row
 * (store/paper/packed_papers.h).
 *
 * The caller assigns the other row a new revision, since filters have not seen its
 * text.  The deleted row must not be in a message that may have been delivered.
 */
static bool
replace_row(
    struct store *store, const struct stored_paper *from, int64_t to, GError **error)
{
	static const char sql[] = "DELETE FROM paper WHERE seq = ?1";

	if (!matches_move(store, from->seq, to, error) ||
	    !works_move(store, from->seq, to, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(sql_move); i++)
		if (!sql_exec(
		        store, sql_move[i], error, SQL_INT(from->seq), SQL_INT(to)))
			return false;
	return archive_index(store, from->paper, NULL, error) &&
	       sql_exec(store, sql, error, SQL_INT(from->seq));
}

struct paper_changes {
	/* New title, abstract or authors: match all filters again, update archive. */
	bool is_text;
	/* New id, links or summary: decide pending matches again (of has:). */
	bool are_links;
	/* A new value of a field that pending matches wait for: decide them again. */
	bool is_changed;
	/* Another value of a field that was known: match all filters again. */
	bool is_revision;
};

static bool
is_new_number(int64_t reported, int64_t stored)
{
	return reported != PAPER_UNKNOWN && reported != stored;
}

static bool
is_new_text(const char *reported, const char *stored)
{
	return reported && g_strcmp0(reported, stored) != 0;
}

static bool
is_new_list(const GPtrArray *reported, const GPtrArray *stored)
{
	if (!reported)
		return false;
	if (!stored || reported->len != stored->len)
		return true;
	for (unsigned i = 0; i < reported->len; i++)
		if (strcmp(reported->pdata[i], stored->pdata[i]) != 0)
			return true;
	return false;
}

/*
 * Note a new value of a field.  Of a known value filters have seen the old one, so they
 * are matched again; an unknown one only matters to pending matches.
 *
 * @param was_known  the field had a value, or was known to have none
 */
static void
note(struct paper_changes *changes, bool is_new, bool was_known)
{
	changes->is_changed |= is_new;
	changes->is_revision |= is_new && was_known;
}

/* Note new values of fields that lookups report. */
static void
note_looked_up(const struct paper *reported, const struct paper *stored,
    bool is_settled, struct paper_changes *changes)
{
	unsigned awaited = is_settled ? 0 : paper_find_lookups(stored);
	bool for_article = awaited & (PAPER_LOOKUP_EUROPEPMC | PAPER_LOOKUP_CROSSREF);

	/* An answer without a value, too: whether there is one is no longer unknown. */
	changes->is_changed |= (awaited & ~paper_find_lookups(reported)) != 0;
	note(changes, is_new_list(reported->categories, stored->categories),
	    stored->categories || !(awaited & PAPER_LOOKUP_ARXIV));
	note(changes, is_new_text(reported->comment, stored->comment),
	    stored->comment || !(awaited & PAPER_LOOKUP_ARXIV));
	note(changes,
	    is_new_text(reported->journal, stored->journal) ||
	        is_new_list(reported->journal_names, stored->journal_names),
	    stored->journal || !awaited);
	note(changes, is_new_text(reported->doi, stored->doi), stored->doi || !awaited);
	note(changes, is_new_list(reported->mesh, stored->mesh),
	    stored->mesh || !for_article);
	/* No match waits for an id, so all filters are matched again. */
	note(changes,
	    is_new_text(reported->pmid, stored->pmid) ||
	        is_new_text(reported->pmcid, stored->pmcid),
	    true);
}

static void
find_changes(const struct paper *reported, const struct paper *stored, bool is_settled,
    struct paper_changes *changes)
{
	*changes = (struct paper_changes){0};
	note_looked_up(reported, stored, is_settled, changes);
	changes->is_text = strcmp(reported->title, stored->title) != 0 ||
	                   strcmp(reported->abstract, stored->abstract) != 0 ||
	                   is_new_list(reported->authors, stored->authors);
	changes->are_links = is_new_text(reported->id, stored->id) ||
	                     is_new_text(reported->url, stored->url) ||
	                     is_new_text(reported->pmid, stored->pmid) ||
	                     is_new_text(reported->pmcid, stored->pmcid) ||
	                     is_new_text(reported->code_url, stored->code_url) ||
	                     is_new_text(reported->project_url, stored->project_url) ||
	                     is_new_text(reported->video_url, stored->video_url) ||
	                     is_new_text(reported->summary, stored->summary);
	changes->is_changed |= is_new_number(reported->upvotes, stored->upvotes) ||
	                       is_new_number(reported->comments, stored->comments) ||
	                       is_new_number(reported->stars, stored->stars);
	note(changes, is_new_text(reported->organization, stored->organization),
	    stored->organization != NULL);
	note(changes, is_new_list(reported->keywords, stored->keywords),
	    stored->keywords != NULL);
}

/* @param seq  set to that of the new row */
static bool
insert_paper(struct store *store, const struct paper *paper, const char *day,
    int64_t now, int64_t *seq, GError **error)
{
	static const char sql[] =
	    "INSERT INTO paper (id, title, abstract, authors, url, code_url,"
	    " project_url, video_url, organization, keywords, categories, comment,"
	    " journal, doi, published_at, upvotes, comments, stars, fetched_at,"
	    " first_seen_at, last_day, source_rank, summary, upvotes_day, pmid,"
	    " pmcid, mesh, looked_up, awaited, revision)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
	    " ?15, ?16, ?17, ?18, ?19, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27,"
	    " ?28,"
	    " (SELECT coalesce(max(revision), 0) + 1 FROM paper)) RETURNING seq";
	g_autofree char *authors = paper_row_join(paper->authors);
	g_autofree char *keywords = paper_row_join(paper->keywords);
	g_autofree char *categories = paper_row_join(paper->categories);
	g_autofree char *mesh = paper_row_join(paper->mesh);
	g_autofree char *journal = paper_row_format_journal(paper);
	char today[DAY_BYTES];

	day_format(now, today);
	return sql_number(store, sql, seq, error, SQL_TEXT(paper->id),
	           SQL_TEXT(paper->title), SQL_TEXT(paper->abstract), SQL_TEXT(authors),
	           SQL_TEXT(paper->url), SQL_TEXT(paper->code_url),
	           SQL_TEXT(paper->project_url), SQL_TEXT(paper->video_url),
	           SQL_TEXT(paper->organization), SQL_TEXT(keywords),
	           SQL_TEXT(categories), SQL_TEXT(paper->comment), SQL_TEXT(journal),
	           SQL_TEXT(paper->doi), SQL_INT_OR_NULL(paper->published_at),
	           SQL_INT_OR_NULL(paper->upvotes), SQL_INT_OR_NULL(paper->comments),
	           SQL_INT_OR_NULL(paper->stars), SQL_INT(now), SQL_TEXT(day),
	           SQL_INT(paper->source_rank), SQL_TEXT(paper->summary),
	           SQL_TEXT(paper->upvotes == PAPER_UNKNOWN ? NULL : today),
	           SQL_TEXT(paper->pmid), SQL_TEXT(paper->pmcid), SQL_TEXT(mesh),
	           SQL_INT(paper->looked_up), SQL_INT(paper_find_lookups(paper))) &&
	       archive_index(store, NULL, paper, error) &&
	       add_aliases(store, paper, *seq, error);
}

/* Maximum number of messages that may have been sent whose papers are read; with more,
 * the texts of all papers are frozen. */
#define FROZEN_MESSAGES 10000

/* Reports being saved, in one transaction. */
struct saving {
	struct store *store;
	int64_t now;
	GHashTable *frozen;   /* paper seqs; NULL before the first use */
	GHashTable *answered; /* paper seqs that a lookup found */
	bool are_all_frozen;
};

static void
saving_clear(struct saving *saving)
{
	g_clear_pointer(&saving->frozen, g_hash_table_unref);
}

/* @param papers  of struct digest_contents_version */
static void
add_frozen(struct saving *saving, const GArray *papers)
{
	for (unsigned i = 0; i < papers->len; i++) {
		const int64_t *seq = &packed_papers_get(papers, i)->seq;

		if (!g_hash_table_contains(saving->frozen, seq))
			g_hash_table_add(saving->frozen, g_memdup2(seq, sizeof(*seq)));
	}
}

/* A message that names a merged paper is composed from the row that is left. */
static bool
follow_frozen(struct saving *saving, GError **error)
{
	g_autoptr(GArray) papers = packed_papers_new();
	GHashTableIter at;
	void *seq;

	g_hash_table_iter_init(&at, saving->frozen);
	while (g_hash_table_iter_next(&at, &seq, NULL)) {
		const struct digest_contents_version paper = {
		    .seq = *(const int64_t *)seq};

		g_array_append_val(papers, paper);
	}
	if (!packed_papers_follow(saving->store, papers, error))
		return false;
	add_frozen(saving, papers);
	return true;
}

static bool
load_frozen(struct saving *saving, GError **error)
{
	/* Messages that may have been sent; HELD ones before the store was restored. */
	static const char sql[] =
	    "SELECT g.contents FROM outbox o JOIN digest g ON g.id = o.digest_id"
	    " WHERE o.ended_at IS NULL AND o.state <> 'NEW'"
	    " AND (o.attempt > 0 OR o.state = 'HELD') LIMIT ?1";
	g_autoptr(GArray) papers = packed_papers_new();
	sql_auto *statement =
	    sql_bind(saving->store, sql, error, SQL_INT(FROZEN_MESSAGES + 1));
	enum sql_step step = SQL_STEP_FAILED;
	unsigned messages = 0;

	saving->frozen =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	while (statement && (step = sql_step(statement, error)) == SQL_STEP_ROW) {
		if (++messages > FROZEN_MESSAGES)
			break;
		g_array_set_size(papers, 0);
		/* A damaged one is not composed again. */
		if (packed_papers_add(statement, 0, papers, NULL))
			add_frozen(saving, papers);
	}
	saving->are_all_frozen = step == SQL_STEP_ROW;
	return step != SQL_STEP_FAILED && follow_frozen(saving, error);
}

/*
 * A digest that may have been delivered is composed again from its papers for a retry,
 * which must send the same bytes; so their text is frozen until its delivery has ended.
 */
static bool
are_words_frozen(struct saving *saving, int64_t seq, bool *are_frozen, GError **error)
{
	if (!saving->frozen && !load_frozen(saving, error))
		return false;
	*are_frozen =
	    saving->are_all_frozen || g_hash_table_contains(saving->frozen, &seq);
	return true;
}

/* Match all filters again. */
static bool
renew_revision(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET is_revised = 1, revision ="
	    " (SELECT max(revision) + 1 FROM paper) WHERE seq = ?1";

	return sql_exec(store, sql, error, SQL_INT(seq));
}

static bool
update_links(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET id = ?6, url = ?2, code_url = coalesce(?3, code_url),"
	    " project_url = coalesce(?4, project_url),"
	    " video_url = coalesce(?5, video_url), summary = coalesce(?7, summary),"
	    " pmid = ?8, pmcid = ?9 WHERE seq = ?1";

	return sql_exec(store, sql, error, SQL_INT(seq), SQL_TEXT(paper->url),
	    SQL_TEXT(paper->code_url), SQL_TEXT(paper->project_url),
	    SQL_TEXT(paper->video_url), SQL_TEXT(paper->id), SQL_TEXT(paper->summary),
	    SQL_TEXT(paper->pmid), SQL_TEXT(paper->pmcid));
}

static bool
update_text(struct store *store, const struct paper *paper,
    const struct stored_paper *stored, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET title = ?2, abstract = ?3, authors = ?4 WHERE seq = ?1";
	g_autofree char *authors = paper_row_join(paper->authors);

	return sql_exec(store, sql, error, SQL_INT(stored->seq), SQL_TEXT(paper->title),
	           SQL_TEXT(paper->abstract), SQL_TEXT(authors)) &&
	       archive_index(store, stored->paper, paper, error);
}

/* A retracted paper stays one, whatever other sources call it. */
static void
retain_mark(struct paper *merged, const struct paper *stored)
{
	if (paper_is_retracted(stored->title))
		paper_mark_retracted(merged);
}

/* Retain the last votes of the day before, if they were read then. */
static bool
start_votes_day(struct store *store, int64_t seq, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET upvotes_day = ?2,"
	    " upvotes_before = CASE WHEN upvotes_day = ?3 THEN upvotes END"
	    " WHERE seq = ?1 AND coalesce(upvotes_day, '') <> ?2";
	char today[DAY_BYTES], yesterday[DAY_BYTES];

	day_format(now, today);
	day_format(now - CLOCK_DAY_S, yesterday);
	return sql_exec(
	    store, sql, error, SQL_INT(seq), SQL_TEXT(today), SQL_TEXT(yesterday));
}

static bool
update_reported(struct store *store, const struct paper *paper, int64_t now,
    int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET organization = coalesce(?2, organization),"
	    " keywords = coalesce(?3, keywords),"
	    " published_at = coalesce(?4, published_at),"
	    " upvotes = coalesce(?5, upvotes), comments = coalesce(?6, comments),"
	    " stars = coalesce(?7, stars), fetched_at = ?8, source_rank = ?9"
	    " WHERE seq = ?1";
	g_autofree char *keywords = paper_row_join(paper->keywords);

	return sql_exec(store, sql, error, SQL_INT(seq), SQL_TEXT(paper->organization),
	    SQL_TEXT(keywords), SQL_INT_OR_NULL(paper->published_at),
	    SQL_INT_OR_NULL(paper->upvotes), SQL_INT_OR_NULL(paper->comments),
	    SQL_INT_OR_NULL(paper->stars), SQL_INT(now), SQL_INT(paper->source_rank));
}

static bool
update_looked_up(
    struct store *store, const struct paper *paper, int64_t seq, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET categories = ?2, comment = ?3, journal = ?4, doi = ?5,"
	    " mesh = ?6, looked_up = ?7, awaited = ?8 WHERE seq = ?1";
	g_autofree char *categories = paper_row_join(paper->categories);
	g_autofree char *mesh = paper_row_join(paper->mesh);
	g_autofree char *journal = paper_row_format_journal(paper);

	return sql_exec(store, sql, error, SQL_INT(seq), SQL_TEXT(categories),
	    SQL_TEXT(paper->comment), SQL_TEXT(journal), SQL_TEXT(paper->doi),
	    SQL_TEXT(mesh), SQL_INT(paper->looked_up),
	    SQL_INT(paper_find_lookups(paper)));
}

static bool
mark_changed(struct store *store, int64_t seq, GError **error)
{
	static const char sql[] = "UPDATE paper SET is_changed = 1 WHERE seq = ?1";

	return sql_exec(store, sql, error, SQL_INT(seq));
}

static bool
is_settled(const struct stored_paper *stored, int64_t now)
{
	return now >= stored->settled_at;
}

/*
 * Merge a response into a known paper.
 *
 * @param is_revision  in and out; whether filters that saw it have to be matched again
 */
static bool
update_paper(struct saving *saving, const struct paper *paper,
    const struct stored_paper *stored, struct papers_saved *saved, bool *is_revision,
    GError **error)
{
	struct store *store = saving->store;
	struct paper_changes changes;
	int64_t now = saving->now;
	bool are_frozen = false;

	find_changes(paper, stored->paper, is_settled(stored, now), &changes);
	if ((changes.is_text || changes.are_links) &&
	    !are_words_frozen(saving, stored->seq, &are_frozen, error))
		return false;
	if (are_frozen)
		changes.is_text = changes.are_links = false;
	changes.is_changed |= changes.are_links;
	if ((changes.are_links && !update_links(store, paper, stored->seq, error)) ||
	    (changes.is_text && !update_text(store, paper, stored, error)) ||
	    (changes.is_text && paper_is_retracted(paper->title) &&
	        !paper_is_retracted(stored->paper->title) &&
	        !paper_events_add(
	            store, stored->seq, PAPER_EVENT_RETRACTED, 0, now, error)) ||
	    (changes.are_links && paper->code_url && !stored->paper->code_url &&
	        !paper_events_add(
	            store, stored->seq, PAPER_EVENT_CODE, 0, now, error)) ||
	    !update_reported(store, paper, now, stored->seq, error) ||
	    !update_looked_up(store, paper, stored->seq, error) ||
	    (changes.is_changed && !mark_changed(store, stored->seq, error)))
		return false;
	*is_revision |= changes.is_text || changes.is_revision;
	saved->changed += changes.is_changed;
	saved->frozen += are_frozen;
	return true;
}

/* @return the version, at least 2, that replaces another; 0: none */
static int64_t
get_replacement(const struct listing *listing)
{
	switch (listing->listing_type) {
	case LISTING_NEW:
	case LISTING_CROSS:
		return 0;
	case LISTING_REPLACE:
	case LISTING_REPLACE_CROSS:
		return MAX(listing->version, 2);
	}
	return 0;
}

/* Note a version that was not announced before. */
static bool
add_version(struct store *store, const struct listing *listing, int64_t seq,
    int64_t now, GError **error)
{
	int64_t version = get_replacement(listing);

	return !version ||
	       paper_events_add(store, seq, PAPER_EVENT_VERSION, version, now, error);
}

/* @param is_revision  set if the source had no listing of this type on that day */
static bool
record_listing(struct store *store, const char *source, const struct listing *listing,
    int64_t seq, int64_t now, bool *is_revision, GError **error)
{
	static const char sql_has[] =
	    "SELECT EXISTS (SELECT 1 FROM listing WHERE source = ?1 AND day = ?2"
	    " AND paper_seq = ?3 AND type = ?4)";
	static const char sql[] =
	    "INSERT INTO listing (source, day, paper_seq, type, upvotes,"
	    " first_seen_at, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
	    " ON CONFLICT (source, day, paper_seq) DO UPDATE SET type = excluded.type,"
	    " upvotes = coalesce(excluded.upvotes, listing.upvotes),"
	    " version = coalesce(excluded.version, listing.version)";
	static const char sql_day[] =
	    "UPDATE paper SET last_day ="
	    "  CASE WHEN last_day < ?2 THEN ?2 ELSE last_day END, replacement ="
	    "  CASE WHEN replacement < ?3 THEN ?3 ELSE replacement END WHERE seq = ?1"
	    " AND (last_day < ?2 OR replacement < ?3)";
	const char *listing_type = listing_type_name(listing->listing_type);
	int64_t has;

	if (!sql_number(store, sql_has, &has, error, SQL_TEXT(source),
	        SQL_TEXT(listing->day), SQL_INT(seq), SQL_TEXT(listing_type)) ||
	    !sql_exec(store, sql, error, SQL_TEXT(source), SQL_TEXT(listing->day),
	        SQL_INT(seq), SQL_TEXT(listing_type),
	        SQL_INT_OR_NULL(listing->paper->upvotes), SQL_INT(now),
	        SQL_INT_OR_NULL(listing->version ? (int64_t)listing->version : -1)) ||
	    !sql_exec(store, sql_day, error, SQL_INT(seq), SQL_TEXT(listing->day),
	        SQL_INT(get_replacement(listing))))
		return false;
	*is_revision = !has;
	return true;
}

/*
 * Merge two rows of one paper.  The one with the preferred id is retained, else the
 * first one; not yet while the other one is in a message that may have been delivered.
 *
 * Two papers can share names with a third, and rows recorded as duplicates can have
 * got ids since then: distinct papers stay as they are.
 *
 * @param stored, other  in: the rows; out: if they were merged, *stored is the one that
 *                       is retained
 * @param with_doi       whether different DOIs distinguish them
 */
static bool
unite(struct saving *saving, struct stored_paper **stored, struct stored_paper **other,
    bool with_doi, GError **error)
{
	struct store *store = saving->store;
	bool is_frozen, is_other_frozen, is_other_better;
	pb_auto(paper) merged = NULL;
	struct papers_saved saved = {0};
	bool is_revision = false; /* the row gets a new revision in any case */

	if (are_distinct((*stored)->paper, (*other)->paper, with_doi))
		return remove_duplicates(store, (*stored)->seq, (*other)->seq, error);
	if (!are_words_frozen(saving, (*stored)->seq, &is_frozen, error) ||
	    !are_words_frozen(saving, (*other)->seq, &is_other_frozen, error))
		return false;
	/* The trigger match_is_final requires it before matches are moved. */
	if (!add_duplicates(store, (*stored)->seq, (*other)->seq, error))
		return false;
	is_other_better =
	    paper_dedup_is_better_id((*other)->paper->id, (*stored)->paper->id);
	/* The preferred id would be lost, since the row in the message keeps its own.
	 */
	if (is_other_better ? is_frozen : is_other_frozen)
		return true;
	if (is_other_better) {
		struct stored_paper *swap = *stored;

		*stored = *other;
		*other = swap;
	}
	merged = paper_dedup_merge((*stored)->paper, (*other)->paper);
	retain_mark(merged, (*stored)->paper);
	retain_mark(merged, (*other)->paper);
	/* Delete it first, since the other may get its id. */
	return replace_row(store, *other, (*stored)->seq, error) &&
	       update_paper(saving, merged, *stored, &saved, &is_revision, error) &&
	       renew_revision(store, (*stored)->seq, error);
}

static bool
reload(struct store *store, struct stored_paper **stored, GError **error)
{
	struct stored_paper *fresh = papers_load(store, (*stored)->seq, error);

	if (!fresh)
		return false;
	stored_paper_free(*stored);
	*stored = fresh;
	return true;
}

/* Find the row of a paper. *stored stays NULL if there is none. */
static bool
find_one(struct saving *saving, const struct paper *reported,
    struct stored_paper **stored, GError **error)
{
	struct store *store = saving->store;
	g_autoptr(GPtrArray) found = find_rows(store, reported, saving->now, error);

	if (!found)
		return false;
	/* A stored DOI that is not the reported one is out of date. */
	for (unsigned i = 1; i < found->len; i++)
		if (!unite(saving, (struct stored_paper **)&found->pdata[0],
		        (struct stored_paper **)&found->pdata[i], !reported->doi,
		        error) ||
		    !reload(store, (struct stored_paper **)&found->pdata[0], error))
			return false;
	if (found->len)
		*stored = g_ptr_array_steal_index(found, 0);
	return true;
}

bool
papers_merge_duplicates(
    struct store *store, int64_t now, unsigned limit, GError **error)
{
	pb_local(saving) saving = {.store = store, .now = now};
	g_autoptr(GArray) pairs = load_duplicates(store, limit, error);

	for (unsigned i = 0; pairs && i < pairs->len; i += 2) {
		/* A row may have been deleted with an earlier pair. */
		pb_auto(stored_paper) one =
		    papers_load(store, g_array_index(pairs, int64_t, i), NULL);
		pb_auto(stored_paper) other =
		    papers_load(store, g_array_index(pairs, int64_t, i + 1), NULL);

		if (one && other && !unite(&saving, &one, &other, true, error))
			return false;
	}
	return pairs != NULL;
}

/* A feed lists each paper only once. */
static bool
is_listed_before(struct store *store, const struct source_fetch *fetch, int64_t seq,
    bool *is_listed, GError **error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM listing"
	                          " WHERE paper_seq = ?1 AND source = ?2)";

	*is_listed = false;
	return !fetch->is_rolling || sql_has(store, sql, is_listed, error, SQL_INT(seq),
	                                 SQL_TEXT(fetch->source));
}

/*
 * If two feeds have different text for a paper, keep that of the first; otherwise it
 * would change at every poll.
 */
static bool
is_first_elsewhere(struct store *store, const struct source_fetch *fetch, int64_t seq,
    bool *is_elsewhere, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce((SELECT source FROM listing WHERE paper_seq = ?1"
	    " ORDER BY first_seen_at, source LIMIT 1), ?2) <> ?2";

	*is_elsewhere = false;
	return !fetch->is_rolling || sql_has(store, sql, is_elsewhere, error,
	                                 SQL_INT(seq), SQL_TEXT(fetch->source));
}

/* Mark the papers that a notice retracts, if they are stored. */
static bool
save_notice(struct saving *saving, const struct paper *notice,
    struct papers_saved *saved, GError **error)
{
	for (unsigned i = 0; i < notice->records->len; i++) {
		pb_auto(stored_paper) stored = NULL;
		pb_auto(paper) merged = NULL;
		bool is_revision = false;

		if (!papers_find(
		        saving->store, notice->records->pdata[i], &stored, error))
			return false;
		if (!stored || paper_is_retracted(stored->paper->title))
			continue;
		merged = paper_dedup_merge(stored->paper, stored->paper);
		paper_mark_retracted(merged);
		if (!update_paper(saving, merged, stored, saved, &is_revision, error) ||
		    (is_revision && !renew_revision(saving->store, stored->seq, error)))
			return false;
	}
	return true;
}

/* Whether a source lists the article of a preprint, in whose row it is merged. */
static bool
is_published(const struct paper *reported, const struct paper *stored,
    const struct paper *merged)
{
	return merged->journal && !stored->journal &&
	       paper_id_is_preprint(stored->id) && !paper_id_is_preprint(reported->id);
}

static bool
save_listing(struct saving *saving, const struct source_fetch *fetch,
    const struct listing *listing, struct papers_saved *saved, GError **error)
{
	struct store *store = saving->store;
	const struct paper *paper = listing->paper;
	pb_auto(stored_paper) stored = NULL;
	pb_auto(paper) merged = NULL;
	bool is_revision = false, is_listed, is_elsewhere, is_retitled;
	int64_t seq;

	if (paper->is_notice)
		return save_notice(saving, paper, saved, error);
	if (!find_one(saving, paper, &stored, error))
		return false;
	if (!stored) {
		saved->fresh++;
		return insert_paper(store, paper, listing->day, fetch->fetched_at, &seq,
		           error) &&
		       record_listing(store, fetch->source, listing, seq,
		           fetch->fetched_at, &is_revision, error) &&
		       works_link(store, paper, seq, true, saving->now, error);
	}
	if (!is_first_elsewhere(store, fetch, stored->seq, &is_elsewhere, error))
		return false;
	merged = is_elsewhere ? paper_dedup_merge(paper, stored->paper)
	                      : paper_dedup_merge(stored->paper, paper);
	retain_mark(merged, stored->paper);
	if (paper_is_retracted(paper->title))
		paper_mark_retracted(merged);
	is_retitled = strcmp(merged->title, stored->paper->title) != 0 ||
	              is_new_list(merged->authors, stored->paper->authors);
	return is_listed_before(store, fetch, stored->seq, &is_listed, error) &&
	       add_version(store, listing, stored->seq, saving->now, error) &&
	       (is_listed || record_listing(store, fetch->source, listing, stored->seq,
	                         fetch->fetched_at, &is_revision, error)) &&
	       (paper->upvotes == PAPER_UNKNOWN ||
	           start_votes_day(store, stored->seq, fetch->fetched_at, error)) &&
	       update_paper(saving, merged, stored, saved, &is_revision, error) &&
	       (!is_published(paper, stored->paper, merged) ||
	           paper_events_add(store, stored->seq, PAPER_EVENT_PUBLISHED, 0,
	               saving->now, error)) &&
	       add_aliases(store, paper, stored->seq, error) &&
	       works_link(store, paper, stored->seq, is_retitled, saving->now, error) &&
	       (!is_revision || renew_revision(store, stored->seq, error));
}

/*
 * A new entry of a known feed gets the day on which it appears; in the first fetch
 * entries keep their own date.  A feed is known by its fetches, and by its entries once
 * these fetches are deleted (RETENTION_FETCH).
 */
static bool
date_listings(struct store *store, const struct source_fetch *fetch,
    const GPtrArray *listings, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM source_fetch"
	    " WHERE source = ?1 AND status IN ('ok', 'empty'))"
	    " OR EXISTS (SELECT 1 FROM listing WHERE source = ?1)";
	int64_t was_read;

	if (!fetch->is_rolling || !listings)
		return true;
	if (!sql_number(store, sql, &was_read, error, SQL_TEXT(fetch->source)))
		return false;
	for (unsigned i = 0; was_read && i < listings->len; i++) {
		struct listing *listing = listings->pdata[i];

		g_strlcpy(listing->day, fetch->day, sizeof(listing->day));
	}
	return true;
}

bool
papers_save_fetch(struct store *store, const struct source_fetch *fetch,
    const GPtrArray *listings, struct papers_saved *saved, GError **error)
{
	static const char sql[] =
	    "INSERT INTO source_fetch (source, day, fetched_at, status, "
	    "etag, count, fresh, ids_hash,"
	    " error, is_of_day)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
	pb_local(saving) saving = {.store = store, .now = fetch->fetched_at};
	struct papers_saved sums = {.listed = listings ? listings->len : 0};
	const char *etag;

	if (!date_listings(store, fetch, listings, error))
		return false;
	for (unsigned i = 0; i < sums.listed; i++) {
		const struct listing *listing = listings->pdata[i];

		if (!save_listing(&saving, fetch, listing, &sums, error)) {
			g_prefix_error(error, "paper %s: ", listing->paper->id);
			return false;
		}
	}
	/* Frozen papers have to be fetched again. */
	etag = sums.frozen ? NULL : fetch->etag;
	if (!sql_exec(store, sql, error, SQL_TEXT(fetch->source), SQL_TEXT(fetch->day),
	        SQL_INT(fetch->fetched_at),
	        SQL_TEXT(source_fetch_status_name(fetch->status)), SQL_TEXT(etag),
	        SQL_INT(sums.listed), SQL_INT(sums.fresh), SQL_TEXT(fetch->ids_hash),
	        SQL_TEXT(fetch->error), SQL_INT(fetch->is_of_day)))
		return false;
	*saved = sums;
	return true;
}

/*
 * Select the fields of a service's answer that are merged: never the title, the
 * abstract if there is none, and fuller names of authors for papers from feeds.
 *
 * @return with borrowed members
 */
static struct paper
select_answer(
    const struct paper *reported, const struct paper *stored, bool is_of_arxiv)
{
	static GPtrArray nobody;
	bool is_fuller =
	    stored->source_rank == PAPER_SOURCE_RANK_FEED &&
	    paper_dedup_compare_names(reported->authors, stored->authors) > 0;
	bool has_journal = stored->journal && !is_of_arxiv &&
	                   !paper_has_journal_name(reported, stored->journal);
	bool has_doi = stored->doi && !is_of_arxiv;

	return (struct paper){
	    .id = reported->id,
	    .source_rank =
	        is_of_arxiv ? PAPER_SOURCE_RANK_ARXIV : PAPER_SOURCE_RANK_FEED,
	    .abstract = *stored->abstract ? NULL : reported->abstract,
	    .authors = is_fuller ? reported->authors : &nobody,
	    .published_at = PAPER_UNKNOWN,
	    .upvotes = PAPER_UNKNOWN,
	    .comments = PAPER_UNKNOWN,
	    .stars = PAPER_UNKNOWN,
	    .code_url = reported->code_url,
	    .project_url = reported->project_url,
	    .keywords = stored->keywords ? NULL : reported->keywords,
	    .categories = reported->categories,
	    .comment = reported->comment,
	    .journal = has_journal ? NULL : reported->journal,
	    .journal_names = reported->journal_names,
	    .doi = has_doi ? NULL : reported->doi,
	    .pmid = reported->pmid,
	    .pmcid = reported->pmcid,
	    .mesh = reported->mesh,
	};
}

/* Whether the DOI that arXiv reports, which authors type, is that of a paper by others.
 */
static bool
check_doi(
    struct store *store, const struct paper *reported, bool *is_wrong, GError **error)
{
	g_autofree char *name =
	    reported->doi ? g_strconcat("doi:", reported->doi, NULL) : NULL;
	pb_auto(stored_paper) own = NULL;
	pb_auto(stored_paper) other = NULL;

	*is_wrong = false;
	if (!name)
		return true;
	if (!papers_find(store, reported->id, &own, error) ||
	    !papers_find(store, name, &other, error))
		return false;
	*is_wrong = own && other && own->seq != other->seq &&
	            !paper_id_share_author(own->paper, other->paper);
	return true;
}

static bool
save_answer(struct saving *saving, enum paper_lookup lookup,
    const struct paper *reported, struct papers_saved *sums, GError **error)
{
	struct store *store = saving->store;
	struct paper identity = {
	    .id = reported->id,
	    .authors = reported->authors,
	    .doi = reported->doi,
	    .pmid = reported->pmid,
	    .pmcid = reported->pmcid,
	};
	bool is_of_arxiv = lookup == PAPER_LOOKUP_ARXIV;
	pb_auto(stored_paper) stored = NULL;
	pb_auto(paper) merged = NULL;
	unsigned frozen = sums->frozen;
	bool is_revision = false, is_wrong = false;
	struct paper answer;

	if (is_of_arxiv && !check_doi(store, reported, &is_wrong, error))
		return false;
	if (is_wrong)
		identity.doi = NULL;
	if (!find_one(saving, &identity, &stored, error))
		return false;
	if (!stored)
		return !reported->is_notice ||
		       save_notice(saving, reported, sums, error);
	answer = select_answer(reported, stored->paper, is_of_arxiv);
	if (is_wrong)
		answer.doi = NULL;
	merged = paper_dedup_merge(stored->paper, &answer);
	merged->source_rank = stored->paper->source_rank;
	merged->looked_up |= lookup;
	if (reported->title && paper_is_retracted(reported->title))
		paper_mark_retracted(merged);
	g_hash_table_add(
	    saving->answered, g_memdup2(&stored->seq, sizeof(stored->seq)));
	sums->listed++;
	return update_paper(saving, merged, stored, sums, &is_revision, error) &&
	       add_aliases(store, &identity, stored->seq, error) &&
	       (reported->is_notice ? save_notice(saving, reported, sums, error)
	                            : works_link(store, reported, stored->seq, false,
	                                  saving->now, error)) &&
	       (!merged->journal || stored->paper->journal ||
	           !stored->paper->looked_up ||
	           paper_events_add(store, stored->seq, PAPER_EVENT_PUBLISHED, 0,
	               saving->now, error)) &&
	       (!is_revision || renew_revision(store, stored->seq, error)) &&
	       /* Its abstract could not be stored: ask again. */
	       (sums->frozen == frozen ||
	           update_looked_up(store, stored->paper, stored->seq, error));
}

/* Record that a service does not know a paper, so that matches stop waiting for it. */
static bool
save_unknown(struct saving *saving, enum paper_lookup lookup, int64_t seq,
    struct papers_saved *sums, GError **error)
{
	struct store *store = saving->store;
	pb_auto(stored_paper) stored = papers_load(store, seq, NULL);

	/* It may have been merged with another. */
	if (!stored || g_hash_table_contains(saving->answered, &seq))
		return true;
	sums->changed++;
	stored->paper->looked_up |= lookup;
	return update_looked_up(store, stored->paper, seq, error) &&
	       mark_changed(store, seq, error);
}

bool
papers_save_lookup(struct store *store, enum paper_lookup lookup,
    const GPtrArray *papers, const GPtrArray *asked, int64_t now,
    struct papers_saved *saved, GError **error)
{
	g_autoptr(GHashTable) answered =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	pb_local(saving) saving = {.store = store, .now = now, .answered = answered};
	struct papers_saved sums = {0};

	for (unsigned i = 0; i < papers->len; i++)
		if (!save_answer(&saving, lookup, papers->pdata[i], &sums, error))
			return false;
	for (unsigned i = 0; asked && i < asked->len; i++) {
		const struct stored_paper *stored = asked->pdata[i];

		if (!save_unknown(&saving, lookup, stored->seq, &sums, error))
			return false;
	}
	*saved = sums;
	return true;
}

/* Note the version of a paper that is watched. */
static bool
save_version(
    struct store *store, const struct listing *listing, int64_t now, GError **error)
{
	static const char sql[] =
	    "UPDATE paper SET replacement = ?2 WHERE seq = ?1 AND replacement < ?2";
	pb_auto(stored_paper) stored = NULL;
	bool is_watched, was_asked;

	if (listing->version < 2 ||
	    !papers_find(store, listing->paper->id, &stored, error))
		return listing->version < 2;
	if (!stored)
		return true;
	if (!paper_events_find_watched(
	        store, stored->seq, now, &is_watched, &was_asked, error))
		return false;
	return !is_watched ||
	       ((!was_asked || paper_events_add(store, stored->seq, PAPER_EVENT_VERSION,
	                           listing->version, now, error)) &&
	           sql_exec(store, sql, error, SQL_INT(stored->seq),
	               SQL_INT(listing->version)));
}

bool
papers_save_versions(
    struct store *store, const GPtrArray *listings, int64_t now, GError **error)
{
	for (unsigned i = 0; i < listings->len; i++)
		if (!save_version(store, listings->pdata[i], now, error))
			return false;
	return true;
}
