/*
 * paper_values.c - values of all papers, in memory.
 */
#include "store/paper/paper_values.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "query/parse/date.h"
#include "store/core/sql.h"
#include "store/paper/paper_row.h"
#include "store/paper/papers.h"

/* Numbers of papers are not reused, but few are without a paper. */
#define SEQS_PER_PAPER 8
#define SEQS_MORE      100000

/* Expressions of the index paper_value, whose values it has. */
#define PAPER_VALUE_LINKS                                        \
	"(code_url IS NOT NULL) + 2 * (project_url IS NOT NULL)" \
	" + 4 * (video_url IS NOT NULL)"
#define PAPER_VALUE_AUTHORS                                        \
	"length(authors) - length(replace(authors, char(10), ''))" \
	" + (authors <> '')"

struct paper_values {
	GArray *values; /* of struct paper_value */
	struct paper_details_all details;
	int64_t papers;  /* number of papers ... */
	int64_t changes; /* and of updates and deletions, when they were read */
};

static void
details_clear(struct paper_details_all *details)
{
	g_clear_pointer(&details->papers, g_array_unref);
	g_clear_pointer(&details->listings, g_array_unref);
	g_clear_pointer(&details->texts, g_ptr_array_unref);
}

static void
paper_values_free(void *data)
{
	struct paper_values *paper_values = data;

	g_array_unref(paper_values->values);
	details_clear(&paper_values->details);
	g_free(paper_values);
}

/* A day as text and as numbers: adjacent rows mostly have the same. */
struct day {
	char text[DAY_BYTES];
	int32_t day;
	uint32_t date;
};

static void
set_day(struct day *day, const char *text)
{
	if (strcmp(day->text, text) == 0)
		return;
	g_strlcpy(day->text, text, sizeof(day->text));
	day->day = (int32_t)(day_start(text) / CLOCK_DAY_S);
	day->date = date_read_day(text);
}

/* Number of a value, PAPER_UNKNOWN for NULL. */
static int64_t
get_number(sqlite3_value *value)
{
	return sqlite3_value_type(value) == SQLITE_NULL ? PAPER_UNKNOWN
	                                                : sqlite3_value_int64(value);
}

static bool
call_each(struct store *store, const char *sql,
    void (*call)(void *data, sqlite3_value **values), void *data, GError **error)
{
	const struct sql_callback callback = {call, data};

	return sql_exec(store, sql, error, SQL_POINTER(&callback, SQL_CALLBACK_TYPE));
}

/* ---- votes, days and lengths ---- */

/* Papers being read. */
struct loading {
	GArray *values;
	struct day day;
};

static struct paper_value *
get_value(GArray *values, int64_t seq)
{
	return seq >= 0 && seq < values->len
	           ? &g_array_index(values, struct paper_value, seq)
	           : NULL;
}

static GArray *
new_values(struct store *store, int64_t papers, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(seq), 0) FROM paper";
	const struct paper_value none = {.day = PAPER_VALUE_NONE};
	GArray *values;
	int64_t last;

	if (!sql_number(store, sql, &last, error))
		return NULL;
	if (last < 0 || last > papers * SEQS_PER_PAPER + SEQS_MORE) {
		pb_fail(error, PB_ERROR_PERMANENT,
		    "store: a paper has the number %" G_GINT64_FORMAT, last);
		return NULL;
	}
	values = g_array_sized_new(
	    FALSE, FALSE, sizeof(struct paper_value), (guint)last + 1);
	for (int64_t i = 0; i <= last; i++)
		g_array_append_val(values, none);
	return values;
}

static void
add_day(void *data, sqlite3_value **values)
{
	struct loading *loading = data;
	struct paper_value *value =
	    get_value(loading->values, sqlite3_value_int64(values[0]));

	set_day(&loading->day, (const char *)sqlite3_value_text(values[2]));
	if (!value)
		return;
	value->upvotes = get_number(values[1]);
	value->day = loading->day.day;
	value->date = loading->day.date;
}

/* Read a variable-length integer of SQLite, of at most 16 bits. */
static uint16_t
read_number(const uint8_t **at, const uint8_t *end)
{
	uint32_t number = 0;

	while (*at < end && **at & 0x80 && number <= G_MAXUINT16)
		number = number << 7 | (*(*at)++ & 0x7f);
	if (*at < end)
		number = number << 7 | *(*at)++;
	return (uint16_t)MIN(number, G_MAXUINT16);
}

static void
add_words(void *data, sqlite3_value **values)
{
	const struct loading *loading = data;
	struct paper_value *value =
	    get_value(loading->values, sqlite3_value_int64(values[0]));
	const uint8_t *at = sqlite3_value_blob(values[1]);
	const uint8_t *end = at + sqlite3_value_bytes(values[1]);

	for (unsigned i = 0; value && i < G_N_ELEMENTS(value->words); i++)
		value->words[i] = read_number(&at, end);
}

const GArray *
paper_values_load(struct store *store, GError **error)
{
	static const char sql_days[] =
	    "SELECT call_each(?1, seq, upvotes, last_day) FROM paper"
	    " INDEXED BY paper_rank";
	/* The full-text index has the numbers of words of its columns. */
	static const char sql_words[] =
	    "SELECT call_each(?1, id, sz) FROM paper_fts_docsize";
	struct paper_values *paper_values = store->paper_values;
	g_autoptr(GArray) values = NULL;
	struct loading loading = {0};
	int64_t papers, changes;

	if (!store_load_count(store, "paper", &papers, error) ||
	    !papers_load_changes(store, &changes, error))
		return NULL;
	if (paper_values && paper_values->papers == papers &&
	    paper_values->changes == changes)
		return paper_values->values;
	loading.values = values = new_values(store, papers, error);
	if (!values || !call_each(store, sql_days, add_day, &loading, error) ||
	    !call_each(store, sql_words, add_words, &loading, error))
		return NULL;
	g_clear_pointer(&store->paper_values, paper_values_free);
	paper_values = g_new(struct paper_values, 1);
	*paper_values = (struct paper_values){
	    .values = g_steal_pointer(&values), .papers = papers, .changes = changes};
	store->paper_values = paper_values;
	store->free_paper_values = paper_values_free;
	return paper_values->values;
}

/* ---- details ---- */

/* Details being read. */
struct details_loading {
	struct paper_details_all all;
	GHashTable *indexes; /* char * -> index in all.texts */
	struct day day;
	char *source; /* of the listing before, or NULL */
	uint32_t source_index;
};

/* Index of a text in the texts; 0 for NULL. */
static uint32_t
index_text(struct details_loading *loading, const char *text)
{
	GPtrArray *texts = loading->all.texts;
	gpointer known;

	if (!text)
		return 0;
	known = g_hash_table_lookup(loading->indexes, text);
	if (!known) {
		known = GUINT_TO_POINTER(texts->len);
		g_ptr_array_add(texts, g_strdup(text));
		g_hash_table_insert(
		    loading->indexes, texts->pdata[texts->len - 1], known);
	}
	return GPOINTER_TO_UINT(known);
}

static struct paper_details *
get_details(const struct details_loading *loading, int64_t seq)
{
	return seq >= 0 && seq < loading->all.papers->len
	           ? &g_array_index(loading->all.papers, struct paper_details, seq)
	           : NULL;
}

static void
add_details(void *data, sqlite3_value **values)
{
	struct details_loading *loading = data;
	struct paper_details *details =
	    get_details(loading, sqlite3_value_int64(values[0]));

	if (!details)
		return;
	*details = (struct paper_details){
	    .first_seen_at = sqlite3_value_int64(values[1]),
	    .comments = get_number(values[2]),
	    .stars = get_number(values[3]),
	    .links = (uint8_t)sqlite3_value_int(values[4]),
	    .authors = (uint32_t)sqlite3_value_int(values[5]),
	    .categories =
	        index_text(loading, (const char *)sqlite3_value_text(values[6])),
	    .organization =
	        index_text(loading, (const char *)sqlite3_value_text(values[7])),
	};
}

/* The lists of a service are one source: "arxiv/cs.AI" is "arxiv". */
static uint32_t
index_source(struct details_loading *loading, const char *source)
{
	g_autofree char *service = NULL;

	if (loading->source && strcmp(loading->source, source) == 0)
		return loading->source_index;
	service = g_strndup(source, strcspn(source, "/"));
	g_free(loading->source);
	loading->source = g_strdup(source);
	loading->source_index = index_text(loading, service);
	return loading->source_index;
}

static void
add_listed(void *data, sqlite3_value **values)
{
	struct details_loading *loading = data;
	int64_t seq = sqlite3_value_int64(values[2]);
	const struct paper_details *details = get_details(loading, seq);
	const char *day = (const char *)sqlite3_value_text(values[1]);
	enum listing_type listing_type = LISTING_NEW;
	struct paper_listed listed;

	if (!details)
		return;
	set_day(&loading->day, day);
	listing_type_parse((const char *)sqlite3_value_text(values[3]), &listing_type);
	listed = (struct paper_listed){
	    .seq = (uint32_t)seq,
	    .date = loading->day.date,
	    .source =
	        index_source(loading, (const char *)sqlite3_value_text(values[0])),
	    .listing_type = (uint8_t)listing_type,
	    .is_late = paper_row_is_late(
	        day, sqlite3_value_int64(values[4]), details->first_seen_at),
	};
	g_array_append_val(loading->all.listings, listed);
}

static int
compare_listed(const void *a, const void *b)
{
	const struct paper_listed *left = a, *right = b;

	if (left->seq != right->seq)
		return left->seq < right->seq ? -1 : 1;
	if (left->date != right->date)
		return left->date < right->date ? -1 : 1;
	return (left->source > right->source) - (left->source < right->source);
}

/* Merge the listings of one service on a day, as paper_row_load() does. */
static void
merge_listings(GArray *listings)
{
	struct paper_listed *all = (struct paper_listed *)(void *)listings->data;
	guint n = 0;

	g_array_sort(listings, compare_listed);
	for (guint i = 0; i < listings->len; i++) {
		struct paper_listed *before = n ? &all[n - 1] : NULL;

		if (!before || compare_listed(before, &all[i]) != 0) {
			all[n++] = all[i];
			continue;
		}
		before->listing_type = MIN(before->listing_type, all[i].listing_type);
		before->is_late = before->is_late && all[i].is_late;
	}
	g_array_set_size(listings, n);
}

static bool
load_details(
    struct store *store, guint papers, struct paper_details_all *all, GError **error)
{
	static const char sql[] = "SELECT call_each(?1, seq, first_seen_at, comments,"
	                          " stars, " PAPER_VALUE_LINKS ", " PAPER_VALUE_AUTHORS
	                          ", categories, organization) FROM paper"
	                          " INDEXED BY paper_value";
	static const char sql_listings[] =
	    "SELECT call_each(?1, source, day, paper_seq, type, first_seen_at)"
	    " FROM listing";
	g_autoptr(GHashTable) indexes = g_hash_table_new(g_str_hash, g_str_equal);
	struct details_loading loading = {.indexes = indexes};
	bool is_ok;

	loading.all = (struct paper_details_all){
	    .papers =
	        g_array_sized_new(FALSE, TRUE, sizeof(struct paper_details), papers),
	    .listings =
	        g_array_sized_new(FALSE, FALSE, sizeof(struct paper_listed), papers),
	    .texts = g_ptr_array_new_with_free_func(g_free),
	};
	g_array_set_size(loading.all.papers, papers);
	g_ptr_array_add(loading.all.texts, NULL);
	is_ok = call_each(store, sql, add_details, &loading, error) &&
	        call_each(store, sql_listings, add_listed, &loading, error);
	g_free(loading.source);
	merge_listings(loading.all.listings);
	*all = loading.all;
	return is_ok;
}

const struct paper_details_all *
paper_values_load_details(struct store *store, GError **error)
{
	struct paper_values *paper_values = store->paper_values;
	struct paper_details_all all;

	g_assert(paper_values);
	if (paper_values->details.papers)
		return &paper_values->details;
	if (!load_details(store, paper_values->values->len, &all, error)) {
		details_clear(&all);
		return NULL;
	}
	paper_values->details = all;
	return &paper_values->details;
}

/* ---- identifiers ---- */

/* A function to call with identifiers. */
struct ids {
	paper_values_found found;
	void *data;
};

static void
pass_id(void *data, sqlite3_value **values)
{
	const struct ids *ids = data;

	ids->found(ids->data, sqlite3_value_int64(values[0]),
	    (const char *)sqlite3_value_text(values[1]));
}

bool
paper_values_foreach_id(
    struct store *store, paper_values_found found, void *data, GError **error)
{
	static const char sql[] = "SELECT call_each(?1, seq, id) FROM paper"
	                          " INDEXED BY sqlite_autoindex_paper_1";
	struct ids ids = {found, data};

	return call_each(store, sql, pass_id, &ids, error);
}

bool
paper_values_foreach_doi(
    struct store *store, paper_values_found found, void *data, GError **error)
{
	/* As doc_values_new(): it is reported with the categories. */
	static const char sql[] = "SELECT call_each(?1, seq, doi) FROM paper"
	                          " INDEXED BY paper_value WHERE doi IS NOT NULL"
	                          " AND categories IS NOT NULL";
	struct ids ids = {found, data};

	return call_each(store, sql, pass_id, &ids, error);
}
