/*
 * archive.c - index of all papers: full text, vocabulary, acronyms.
 */
#include "store/paper/archive.h"

#include <string.h>

#include "base/bigram.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "query/text/acronym.h"
#include "query/text/stem.h"
#include "store/core/fts_score.h"
#include "store/core/record.h"
#include "store/paper/paper_row.h"

/* Papers read at a time for a rebuild: more take more memory. */
#define BATCH_PAPERS 500

/* Cursors with totals over all indexed papers. */
#define TOTAL_PAPERS         "archive papers"
#define TOTAL_TITLE_WORDS    "archive title words"
#define TOTAL_ABSTRACT_WORDS "archive abstract words"

/* Words and acronyms of one paper, or of all papers. */
struct word_counts {
	GHashTable *words; /* word -> struct entry * */
	GHashTable *forms; /* "short TAB long", folded -> struct entry * */
	int64_t papers;
	int64_t title_words;
	int64_t abstract_words;
};

struct entry {
	char *text; /* of a word, its plural class; of an acronym, the long form */
	int64_t papers;
};

/* Data of read_word(). */
struct reading {
	struct word_counts *word_counts;
	int64_t *words;
	const char *text;
};

static void
entry_free(void *data)
{
	struct entry *entry = data;

	g_free(entry->text);
	g_free(entry);
}

static void
word_counts_init(struct word_counts *word_counts)
{
	*word_counts = (struct word_counts){
	    .words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free),
	    .forms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free),
	};
}

static void
word_counts_clear(struct word_counts *word_counts)
{
	g_hash_table_unref(word_counts->words);
	g_hash_table_unref(word_counts->forms);
}

/* @param key, text  ownership is transferred */
static void
put(GHashTable *table, char *key, char *text)
{
	struct entry *entry = g_new(struct entry, 1);

	*entry = (struct entry){.text = text, .papers = 1};
	g_hash_table_insert(table, key, entry);
}

static void
keep_word(struct word_counts *word_counts, const char *token, size_t len)
{
	char *word = g_strndup(token, len);

	if (g_hash_table_contains(word_counts->words, word))
		g_free(word);
	else
		put(word_counts->words, word, stem_plural(word, len));
}

static void
read_word(void *data, const char *token, size_t len, size_t start, size_t end)
{
	const struct reading *reading = data;
	const char *last = bigram_find_last(token, len, reading->text + end);

	(void)start;
	(*reading->words)++;
	keep_word(reading->word_counts, token, len);
	if (last)
		keep_word(reading->word_counts, last, (size_t)(token + len - last));
}

static void
append_folded(void *data, const char *token, size_t len, size_t start, size_t end)
{
	GString *text = data;
	g_autofree char *folded = stem_plural(token, len);

	(void)start;
	(void)end;
	g_string_append_printf(text, "%s%s", text->len ? " " : "", folded);
}

static char *
fold(const struct tokenizer *tokenizer, const char *text)
{
	GString *folded = g_string_new(NULL);

	tokenizer->split(tokenizer->self, text, strlen(text), append_folded, folded);
	return g_string_free(folded, FALSE);
}

static void
read_forms(struct word_counts *word_counts, const struct tokenizer *tokenizer,
    const char *text)
{
	g_autoptr(GPtrArray) forms = acronym_find(text);

	for (unsigned i = 0; i < forms->len; i++) {
		struct acronym *form = forms->pdata[i];
		g_autofree char *short_text = fold(tokenizer, form->short_text);
		g_autofree char *long_text = fold(tokenizer, form->long_text);
		g_autofree char *key = g_strconcat(short_text, "\t", long_text, NULL);

		if (*short_text && *long_text &&
		    !g_hash_table_contains(word_counts->forms, key))
			put(word_counts->forms, g_steal_pointer(&key),
			    g_steal_pointer(&form->long_text));
	}
}

static bool
read_paper(struct word_counts *word_counts, const struct tokenizer *tokenizer,
    const struct paper *paper, GError **error)
{
	const char *texts[] = {paper->title, paper->abstract};
	int64_t *counts[] = {&word_counts->title_words, &word_counts->abstract_words};

	word_counts->papers = 1;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct reading reading = {word_counts, counts[i], texts[i]};

		if (!tokenizer->split(tokenizer->self, texts[i], strlen(texts[i]),
		        read_word, &reading))
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "cannot tokenize paper %s", paper->id);
		read_forms(word_counts, tokenizer, texts[i]);
	}
	return true;
}

static bool
add_word(
    struct store *store, const char *text, const struct entry *entry, GError **error)
{
	static const char sql[] =
	    "INSERT INTO vocabulary (text, folded, papers) VALUES (?1, ?2, ?3)"
	    " ON CONFLICT (text) DO UPDATE"
	    " SET papers = vocabulary.papers + excluded.papers";

	return sql_exec(store, sql, error, SQL_TEXT(text), SQL_TEXT(entry->text),
	    SQL_INT(entry->papers));
}

static bool
remove_word(
    struct store *store, const char *text, const struct entry *entry, GError **error)
{
	static const char sql_last[] =
	    "DELETE FROM vocabulary WHERE text = ?1 AND papers <= 1";
	static const char sql[] =
	    "UPDATE vocabulary SET papers = papers - 1 WHERE text = ?1 AND papers > 1";

	unsigned count;

	(void)entry;
	return sql_exec_count(store, sql_last, &count, error, SQL_TEXT(text)) &&
	       (count || sql_exec(store, sql, error, SQL_TEXT(text)));
}

static bool
add_form(
    struct store *store, const char *key, const struct entry *entry, GError **error)
{
	static const char sql[] =
	    "INSERT INTO acronym (short, long, shown, papers)"
	    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (short, long) DO UPDATE"
	    " SET papers = acronym.papers + excluded.papers";
	g_auto(GStrv) parts = g_strsplit(key, "\t", 2);

	return sql_exec(store, sql, error, SQL_TEXT(parts[0]), SQL_TEXT(parts[1]),
	    SQL_TEXT(entry->text), SQL_INT(entry->papers));
}

static bool
remove_form(
    struct store *store, const char *key, const struct entry *entry, GError **error)
{
	static const char sql_last[] =
	    "DELETE FROM acronym WHERE short = ?1 AND long = ?2 AND papers <= 1";
	static const char sql[] = "UPDATE acronym SET papers = papers - 1"
	                          " WHERE short = ?1 AND long = ?2 AND papers > 1";
	g_auto(GStrv) parts = g_strsplit(key, "\t", 2);
	unsigned count;

	(void)entry;
	return sql_exec_count(store, sql_last, &count, error, SQL_TEXT(parts[0]),
	           SQL_TEXT(parts[1])) &&
	       (count ||
	           sql_exec(store, sql, error, SQL_TEXT(parts[0]), SQL_TEXT(parts[1])));
}

typedef bool (*apply_entry)(
    struct store *store, const char *key, const struct entry *entry, GError **error);

/*
 * Apply a change for each entry of one table that is missing from the other (NULL:
 * empty).
 */
static bool
change(struct store *store, GHashTable *here, GHashTable *not_there, apply_entry apply,
    GError **error)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, here);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		if (not_there && g_hash_table_contains(not_there, key))
			continue;
		if (!apply(store, key, value, error))
			return false;
	}
	return true;
}

static bool
add_number(struct store *store, const char *name, int64_t more, GError **error)
{
	static const char sql[] =
	    "INSERT INTO cursor (name, value) VALUES (?1, ?2)"
	    " ON CONFLICT (name) DO UPDATE SET value = cursor.value + excluded.value";

	return !more || sql_exec(store, sql, error, SQL_TEXT(name), SQL_INT(more));
}

/* @param old  of the previous version; empty for a new paper */
static bool
add_numbers(struct store *store, const struct word_counts *fresh,
    const struct word_counts *old, GError **error)
{
	return add_number(store, TOTAL_PAPERS, fresh->papers - old->papers, error) &&
	       add_number(store, TOTAL_TITLE_WORDS,
	           fresh->title_words - old->title_words, error) &&
	       add_number(store, TOTAL_ABSTRACT_WORDS,
	           fresh->abstract_words - old->abstract_words, error);
}

bool
archive_index(struct store *store, const struct paper *old, const struct paper *fresh,
    GError **error)
{
	pb_local(word_counts) before, after;

	word_counts_init(&before);
	word_counts_init(&after);
	if (store_get_archive(store) != store)
		return true;
	return (!old || read_paper(&before, store->tokenizer, old, error)) &&
	       (!fresh || read_paper(&after, store->tokenizer, fresh, error)) &&
	       change(store, after.words, before.words, add_word, error) &&
	       change(store, before.words, after.words, remove_word, error) &&
	       change(store, after.forms, before.forms, add_form, error) &&
	       change(store, before.forms, after.forms, remove_form, error) &&
	       add_numbers(store, &after, &before, error);
}

/* Add a paper's entries to the totals. */
static void
merge(GHashTable *all, GHashTable *one)
{
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, one);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		struct entry *known = g_hash_table_lookup(all, key);

		if (known) {
			known->papers++;
			continue;
		}
		g_hash_table_iter_steal(&iter);
		g_hash_table_insert(all, key, value);
	}
}

static GPtrArray *
load_batch(struct store *store, int64_t after, GError **error)
{
	static const char sql[] = "SELECT " PAPER_ROW_COLUMNS " FROM paper"
	                          " WHERE seq > ?1 ORDER BY seq LIMIT ?2";
	sql_auto *statement =
	    sql_bind(store, sql, error, SQL_INT(after), SQL_INT(BATCH_PAPERS));

	return paper_row_load_all(store, statement, error);
}

static bool
read_all(struct store *store, struct word_counts *all, GError **error)
{
	int64_t after = 0;

	for (;;) {
		g_autoptr(GPtrArray) batch = load_batch(store, after, error);

		if (!batch)
			return false;
		if (!batch->len)
			return true;
		for (unsigned i = 0; i < batch->len; i++) {
			const struct stored_paper *stored = batch->pdata[i];
			pb_local(word_counts) one;

			word_counts_init(&one);
			if (!read_paper(&one, store->tokenizer, stored->paper, error))
				return false;
			merge(all->words, one.words);
			merge(all->forms, one.forms);
			all->papers++;
			all->title_words += one.title_words;
			all->abstract_words += one.abstract_words;
			after = stored->seq;
		}
	}
}

bool
archive_load_size(struct store *store, struct archive_size *size, GError **error)
{
	int64_t papers, title_words, abstract_words;

	store = store_get_archive(store);
	if (!store_load_cursor(store, TOTAL_PAPERS, 0, &papers, error) ||
	    !store_load_cursor(store, TOTAL_TITLE_WORDS, 0, &title_words, error) ||
	    !store_load_cursor(store, TOTAL_ABSTRACT_WORDS, 0, &abstract_words, error))
		return false;
	*size = (struct archive_size){
	    .papers = papers,
	    .title_words = papers ? (double)title_words / (double)papers : 0,
	    .abstract_words = papers ? (double)abstract_words / (double)papers : 0,
	};
	return true;
}

bool
archive_check_counts(struct store *store, char **problem, GError **error)
{
	static const char sql_papers[] = "SELECT count(*) FROM paper";
	static const char sql_indexed[] = "SELECT count(*) FROM paper_fts_docsize";
	int64_t papers, indexed, entry;

	store = store_get_archive(store);
	if (!sql_number(store, sql_papers, &papers, error) ||
	    !sql_number(store, sql_indexed, &indexed, error) ||
	    !store_load_cursor(store, TOTAL_PAPERS, 0, &entry, error))
		return false;
	*problem = NULL;
	if (indexed != papers || entry != papers)
		*problem = g_strdup_printf(
		    "%" G_GINT64_FORMAT " papers, but %" G_GINT64_FORMAT
		    " in the index and %" G_GINT64_FORMAT " in the word counts",
		    papers, indexed, entry);
	return true;
}

/* Remove vocabulary, acronyms and totals, and let FTS5 rebuild its index. */
static bool
reset_index(struct store *store, GError **error)
{
	static const char sql_index[] =
	    "INSERT INTO paper_fts (paper_fts) VALUES ('rebuild')";
	static const char sql_words[] = "DELETE FROM vocabulary";
	static const char sql_forms[] = "DELETE FROM acronym";

	return sql_exec(store, sql_words, error) && sql_exec(store, sql_forms, error) &&
	       store_save_cursor(store, TOTAL_PAPERS, 0, error) &&
	       store_save_cursor(store, TOTAL_TITLE_WORDS, 0, error) &&
	       store_save_cursor(store, TOTAL_ABSTRACT_WORDS, 0, error) &&
	       sql_exec(store, sql_index, error);
}

bool
archive_rebuild(struct store *store, GError **error)
{
	static const struct word_counts nothing = {0};
	pb_local(word_counts) all;

	store = store_get_archive(store);
	word_counts_init(&all);
	return reset_index(store, error) && read_all(store, &all, error) &&
	       change(store, all.words, NULL, add_word, error) &&
	       change(store, all.forms, NULL, add_form, error) &&
	       add_numbers(store, &all, &nothing, error);
}

/* Maximum length for spelling suggestions, characters. */
#define NEAR_CHARS 40

/*
 * Conditions of a selection.
 *
 *  - ?1: the expression of FTS5.  Statements without one have "?1 IS NULL", as all get
 *    the same parameters.
 *  - ?2: day since which papers were listed; '': any.
 *  - ?3: minimum number of votes; -1: any, and unknown ones.
 *
 * Papers listed since a day are mostly those stored last, so reading begins at FIRST,
 * the one of them that was stored first.
 */
#define FIRST                                                                \
	"(SELECT coalesce(min(seq), 0) FROM paper INDEXED BY paper_last_day" \
	" WHERE ?2 <> '' AND last_day >= ?2)"
#define FROM_INDEX                                                \
	" FROM paper_fts JOIN paper INDEXED BY paper_rank"        \
	" ON paper.seq = paper_fts.rowid"                         \
	" WHERE paper_fts MATCH ?1 AND paper_fts.rowid >= " FIRST \
	" AND last_day >= ?2 AND coalesce(upvotes, -1) >= ?3"
#define FROM_PAPERS                                             \
	" FROM paper INDEXED BY paper_rank WHERE seq >= " FIRST \
	" AND last_day >= ?2 AND coalesce(upvotes, -1) >= ?3"
#define COLUMNS "SELECT seq, coalesce(upvotes, -1), last_day"

/* @param row  of COLUMNS */
static GArray *
read_candidates(struct sql_statement *row, GError **error)
{
	GArray *candidates =
	    g_array_new(FALSE, FALSE, sizeof(struct archive_candidate));
	enum sql_step step = SQL_STEP_FAILED;

	while (
	    row && (step = record_next(row, "paper", "ind", error)) == SQL_STEP_ROW) {
		struct archive_candidate one = {
		    .seq = sql_get_int(row, 0), .upvotes = sql_get_int(row, 1)};

		g_strlcpy(one.day, sql_get_text(row, 2), sizeof(one.day));
		g_array_append_val(candidates, one);
	}
	if (step != SQL_STEP_DONE)
		g_clear_pointer(&candidates, g_array_unref);
	return candidates;
}

static const char *
get_oldest(const struct archive_selection *selection)
{
	return selection->oldest_day ? selection->oldest_day : "";
}

GArray *
archive_find_best(struct store *store, const struct archive_selection *selection,
    int64_t *found, GError **error)
{
	static const char sql[] = COLUMNS FROM_INDEX
	    " ORDER BY fts_score(paper_fts, ?5, upvotes,"
	    " unixepoch(last_day)) DESC, last_day DESC, seq DESC LIMIT ?4";
	static const char sql_all[] =
	    COLUMNS " FROM paper WHERE last_day >= ?2 AND coalesce(upvotes, -1) >= ?3"
	            " AND ?1 IS NULL AND ?5 IS NULL"
	            " ORDER BY last_day DESC, seq DESC LIMIT ?4";
	static const char sql_count[] = "SELECT count(*)" FROM_PAPERS " AND ?1 IS NULL";
	const struct fts_query *fts = selection->fts;
	struct fts_score score = {selection->rank, fts, selection->now, 0};
	sql_auto *row = sql_bind(store_get_archive(store),
	    fts->expression ? sql : sql_all, error, SQL_TEXT(fts->expression),
	    SQL_TEXT(get_oldest(selection)), SQL_INT(fts->upvotes),
	    SQL_INT(selection->limit), SQL_POINTER(&score, FTS_SCORE_TYPE));
	g_autoptr(GArray) candidates = read_candidates(row, error);

	if (!candidates ||
	    (!fts->expression &&
	        !sql_number(store_get_archive(store), sql_count, &score.rows, error,
	            SQL_TEXT(NULL), SQL_TEXT(get_oldest(selection)),
	            SQL_INT(fts->upvotes))))
		return NULL;
	*found = score.rows;
	return g_steal_pointer(&candidates);
}

GArray *
archive_find_newest(
    struct store *store, const struct archive_selection *selection, GError **error)
{
	static const char sql[] = COLUMNS FROM_INDEX " ORDER BY paper_fts.rowid DESC";
	static const char sql_all[] =
	    COLUMNS FROM_PAPERS " AND ?1 IS NULL ORDER BY seq DESC";
	const struct fts_query *fts = selection->fts;
	sql_auto *row = sql_bind(store_get_archive(store),
	    fts->expression ? sql : sql_all, error, SQL_TEXT(fts->expression),
	    SQL_TEXT(get_oldest(selection)), SQL_INT(fts->upvotes));

	return read_candidates(row, error);
}

GPtrArray *
archive_load_class(struct store *store, const char *folded, GError **error)
{
	static const char sql[] = "SELECT text FROM vocabulary WHERE folded = ?1";

	return sql_load_texts(store_get_archive(store), sql, error, SQL_TEXT(folded));
}

bool
archive_count_class(
    struct store *store, const char *folded, int64_t *papers, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(sum(papers), 0) FROM vocabulary WHERE folded = ?1";

	return sql_number(
	    store_get_archive(store), sql, papers, error, SQL_TEXT(folded));
}

bool
archive_count_papers(
    struct store *store, const char *folded, int64_t *papers, GError **error)
{
	/*
	 * Words contain letters and digits only, so they need no escapes in an FTS5
	 * string.
	 */
	static const char sql[] =
	    "SELECT count(*) FROM paper_fts WHERE paper_fts MATCH"
	    " (SELECT '{title abstract} : (\"' || group_concat(text, '\" OR \"') ||"
	    "  '\")' FROM vocabulary WHERE folded = ?1)";
	int64_t known;

	if (!archive_count_class(store, folded, &known, error))
		return false;
	if (!known) {
		*papers = 0;
		return true;
	}
	return sql_number(
	    store_get_archive(store), sql, papers, error, SQL_TEXT(folded));
}

bool
archive_count_since(
    struct store *store, const char *day, int64_t *papers, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM paper WHERE last_day >= ?1";

	return sql_number(store_get_archive(store), sql, papers, error, SQL_TEXT(day));
}

bool
archive_find_text(
    struct store *store, int64_t seq, struct archive_text **text, GError **error)
{
	RECORD_LAYOUT(layout, archive_text, "paper", "ttt", (), id, title, abstract);
	static const char sql[] =
	    "SELECT id, title, abstract FROM paper WHERE seq = ?1";

	return record_find(
	    store_get_archive(store), sql, &layout, text, error, SQL_INT(seq));
}

bool
archive_count_prefix(
    struct store *store, const char *prefix, int64_t *papers, GError **error)
{
	static const char sql[] =
	    "SELECT coalesce(sum(papers), 0) FROM vocabulary"
	    " WHERE text >= ?1 AND text < ?1 || '\xf4\x8f\xbf\xbf'";

	return sql_number(
	    store_get_archive(store), sql, papers, error, SQL_TEXT(prefix));
}

bool
archive_find_nearest(
    struct store *store, const char *folded, char **word, GError **error)
{
	static const char sql[] =
	    "SELECT text, papers FROM vocabulary WHERE length(text) BETWEEN ?1 AND ?2";
	unsigned chars = (unsigned)g_utf8_strlen(folded, -1);
	unsigned best = chars < 4 ? 0 : chars < 8 ? 2 : 3; /* exclusive */
	g_autofree char *nearest = NULL;
	int64_t most = 0;
	sql_auto *statement = NULL;
	enum sql_step step;

	*word = NULL;
	if (!best || chars > NEAR_CHARS)
		return true;
	statement = sql_bind(store_get_archive(store), sql, error,
	    SQL_INT(chars - best + 1), SQL_INT(chars + best - 1));
	if (!statement)
		return false;
	while ((step = record_next(statement, "vocabulary", "tn", error)) ==
	       SQL_STEP_ROW) {
		const char *text = sql_get_text(statement, 0);
		int64_t papers = sql_get_int(statement, 1);
		unsigned distance = edit_distance_count_slips(
		    folded, strlen(folded), text, strlen(text));

		/* A slip is rarely in the first letter: "cell" is not meant as "well".
		 */
		if (*text != *folded || distance > best ||
		    (distance == best && papers <= most) ||
		    (distance == best && !nearest))
			continue;
		best = distance;
		most = papers;
		g_free(nearest);
		nearest = g_strdup(text);
	}
	if (step != SQL_STEP_DONE)
		return false;
	*word = g_steal_pointer(&nearest);
	return true;
}

GPtrArray *
archive_load_forms(
    struct store *store, const char *folded, unsigned limit, GError **error)
{
	static const char by_long[] =
	    "SELECT short AS shown, papers FROM acronym WHERE long = ?1"
	    " ORDER BY papers DESC, short LIMIT ?2";
	static const char by_short[] =
	    "SELECT shown, papers FROM acronym WHERE short = ?1"
	    " ORDER BY papers DESC, long LIMIT ?2";
	RECORD_LAYOUT(layout, archive_acronym, "acronym", "tn", (), shown, papers);

	return record_load_all(store_get_archive(store),
	    strchr(folded, ' ') ? by_long : by_short, &layout, error, SQL_TEXT(folded),
	    SQL_INT(limit));
}
