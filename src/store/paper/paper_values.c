/*
 * paper_values.c - values of all papers, in memory.
 */
#include "store/paper/paper_values.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "query/parse/date.h"
#include "store/core/record.h"
#include "store/paper/paper_row.h"
#include "store/paper/papers.h"

/* Numbers of papers are not reused, but few are without a paper. */
#define SEQS_PER_PAPER 8
#define SEQS_MORE      100000

/* Maximum number of papers that were listed again, to be read one by one. */
#define SINGLES_MAX 100

/* Papers that the full-text index scans while one is read and evaluated. */
#define SCANNED_PER_READ 250

/* Expressions of the index paper_value, whose values it has. */
#define PAPER_VALUE_LINKS                                        \
	"(code_url IS NOT NULL) + 2 * (project_url IS NOT NULL)" \
	" + 4 * (video_url IS NOT NULL)"
#define PAPER_VALUE_AUTHORS                                        \
	"length(authors) - length(replace(authors, char(10), ''))" \
	" + (authors <> '')"

static void
paper_values_free(void *data)
{
	struct paper_values *paper_values = data;

	g_clear_pointer(&paper_values->values, g_array_unref);
	g_array_unref(paper_values->details);
	g_array_unref(paper_values->listings);
	g_ptr_array_unref(paper_values->texts);
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

/* Papers being read. */
struct loading {
	struct paper_values *paper_values;
	struct day day;
	GHashTable *indexes; /* char * -> index in texts */
	int64_t first;       /* seq of the first paper to read */
	int64_t end;         /* those from this on were read */
	char *source;        /* of the listing before, or NULL */
	uint32_t source_index;
};

/* ---- votes, days and lengths ---- */

static struct paper_value *
get_value(const struct loading *loading, int64_t seq)
{
	GArray *values = loading->paper_values->values;

	return seq >= 0 && seq < values->len
	           ? &g_array_index(values, struct paper_value, seq)
	           : NULL;
}

static GArray *
new_values(struct store *store, GError **error)
{
	static const char sql[] = "SELECT coalesce(max(seq), 0) FROM paper";
	const struct paper_value none = {.day = PAPER_VALUE_NONE};
	GArray *values;
	int64_t papers, last;

	if (!store_load_count(store, "paper", &papers, error) ||
	    !sql_number(store, sql, &last, error))
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
add_day(void *data, struct sql_statement *row)
{
	struct loading *loading = data;
	struct paper_value *value = get_value(loading, sql_get_int(row, 0));

	set_day(&loading->day, sql_get_text(row, 2));
	if (!value)
		return;
	value->upvotes = sql_get_int(row, 1);
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

/* Without votes. */
static void
add_last_day(void *data, struct sql_statement *row)
{
	struct loading *loading = data;
	struct paper_value *value = get_value(loading, sql_get_int(row, 0));

	set_day(&loading->day, sql_get_text(row, 1));
	if (!value)
		return;
	value->day = loading->day.day;
	value->date = loading->day.date;
}

static void
add_words(void *data, struct sql_statement *row)
{
	const struct loading *loading = data;
	struct paper_value *value = get_value(loading, sql_get_int(row, 0));
	struct sql_bytes sizes = sql_get_bytes(row, 1);
	const uint8_t *at = sizes.data, *end = at + sizes.size;

	for (unsigned i = 0; value && i < G_N_ELEMENTS(value->words); i++)
		value->words[i] = read_number(&at, end);
}

/* ---- details ---- */

/* Index of a text in the texts; 0 for NULL. */
static uint32_t
index_text(struct loading *loading, const char *text)
{
	GPtrArray *texts = loading->paper_values->texts;
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
get_details(const struct loading *loading, int64_t seq)
{
	GArray *details = loading->paper_values->details;

	return seq >= 0 && seq < details->len
	           ? &g_array_index(details, struct paper_details, seq)
	           : NULL;
}

static void
add_time(void *data, struct sql_statement *row)
{
	struct paper_details *details = get_details(data, sql_get_int(row, 0));

	if (details)
		details->first_seen_at = sql_get_int(row, 1);
}

static void
add_numbers(void *data, struct sql_statement *row)
{
	struct paper_details *details = get_details(data, sql_get_int(row, 0));

	if (!details)
		return;
	details->comments = sql_get_int(row, 1);
	details->stars = sql_get_int(row, 2);
}

static void
add_categories(void *data, struct sql_statement *row)
{
	struct paper_details *details = get_details(data, sql_get_int(row, 0));

	if (details)
		details->categories = index_text(data, sql_get_text(row, 1));
}

static void
add_organization(void *data, struct sql_statement *row)
{
	struct paper_details *details = get_details(data, sql_get_int(row, 0));

	if (details)
		details->organization = index_text(data, sql_get_text(row, 1));
}

static void
add_links(void *data, struct sql_statement *row)
{
	const struct loading *loading = data;
	struct paper_details *details = get_details(loading, sql_get_int(row, 0));

	if (!details)
		return;
	details->links = (uint8_t)sql_get_int(row, 1);
	details->authors = (uint32_t)sql_get_int(row, 2);
}

/* The lists of a service are one source: "arxiv/cs.AI" is "arxiv". */
static uint32_t
index_source(struct loading *loading, const char *source)
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
add_listed(void *data, struct sql_statement *row)
{
	struct loading *loading = data;
	int64_t seq = sql_get_int(row, 2);
	const struct paper_details *details = get_details(loading, seq);
	const char *day = sql_get_text(row, 1);
	enum listing_type listing_type = LISTING_NEW;
	struct paper_listed listed;

	if (!details || seq >= loading->end)
		return;
	set_day(&loading->day, day);
	listing_type_parse(sql_get_text(row, 3), &listing_type);
	listed = (struct paper_listed){
	    .seq = (uint32_t)seq,
	    .date = loading->day.date,
	    .source = index_source(loading, sql_get_text(row, 0)),
	    .listing_type = (uint8_t)listing_type,
	    .is_late =
	        paper_row_is_late(day, sql_get_int(row, 4), details->first_seen_at),
	};
	g_array_append_val(loading->paper_values->listings, listed);
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

/* Merge the listings of one service on a day, as load_listings() of paper_row.c does.
 */
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

/* ---- loading ---- */

static struct paper_values *
paper_values_new(struct store *store, int64_t revision, int64_t changes, GError **error)
{
	GArray *values = new_values(store, error);
	struct paper_values *paper_values;

	if (!values)
		return NULL;
	paper_values = g_new0(struct paper_values, 1);
	paper_values->values = values;
	paper_values->details = g_array_new(FALSE, TRUE, sizeof(struct paper_details));
	paper_values->listings = g_array_new(FALSE, FALSE, sizeof(struct paper_listed));
	paper_values->texts = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper_values->texts, NULL);
	paper_values->since = G_MAXINT32;
	for (unsigned i = 0; i < PAPER_PARTS; i++)
		paper_values->from[i] = values->len;
	paper_values->revision = revision;
	paper_values->changes = changes;
	return paper_values;
}

/* Get what is in memory, unless papers have changed. */
static struct paper_values *
find_values(struct store *store, GError **error)
{
	struct paper_values *paper_values = store->paper_values;
	int64_t revision, changes;

	if (!papers_load_newest_revision(store, &revision, error) ||
	    !papers_load_changes(store, &changes, error))
		return NULL;
	if (paper_values && paper_values->revision == revision &&
	    paper_values->changes == changes)
		return paper_values;
	g_clear_pointer(&store->paper_values, paper_values_free);
	paper_values = paper_values_new(store, revision, changes, error);
	store->paper_values = paper_values;
	store->free_paper_values = paper_values_free;
	return paper_values;
}

static bool
load_listings(struct store *store, struct loading *loading, GError **error)
{
#define LISTED "SELECT source, day, paper_seq, type, first_seen_at FROM listing"
	static const char sql_all[] = LISTED;
	static const char sql[] = LISTED " INDEXED BY listing_paper"
	                                 " WHERE paper_seq >= ?1 AND paper_seq < ?2";
#undef LISTED
	const struct record_callback each = {"listing", "tditn", add_listed, loading};
	bool is_ok = loading->first
	                 ? record_foreach(store, sql, &each, error,
	                       SQL_INT(loading->first), SQL_INT(loading->end))
	                 : record_foreach(store, sql_all, &each, error);

	merge_listings(loading->paper_values->listings);
	return is_ok;
}

static bool
load_part(
    struct store *store, enum paper_part part, struct loading *loading, GError **error)
{
#define FROM_SEQ " WHERE seq >= ?1"
	static const char sql_days[] = "SELECT seq, upvotes, last_day FROM paper"
	                               " INDEXED BY paper_rank" FROM_SEQ;
	/* The full-text index has the numbers of words of its columns. */
	static const char sql_words[] = "SELECT id, sz FROM paper_fts_docsize"
	                                " WHERE id >= ?1";
#define FROM_VALUE " FROM paper INDEXED BY paper_value" FROM_SEQ
	static const char sql_times[] = "SELECT seq, first_seen_at" FROM_VALUE;
	static const char sql_numbers[] = "SELECT seq, comments, stars" FROM_VALUE;
	static const char sql_categories[] = "SELECT seq, categories" FROM_VALUE;
	static const char sql_organizations[] = "SELECT seq, organization" FROM_VALUE;
	static const char sql_links[] =
	    "SELECT seq, " PAPER_VALUE_LINKS ", " PAPER_VALUE_AUTHORS FROM_VALUE;
#undef FROM_VALUE
#undef FROM_SEQ
	static const struct {
		const char *sql, *columns;
		void (*add)(void *data, struct sql_statement *row);
	} ways[] = {
	    [PAPER_PART_DAYS] = {sql_days, "iNd", add_day},
	    [PAPER_PART_WORDS] = {sql_words, "ib", add_words},
	    [PAPER_PART_TIMES] = {sql_times, "in", add_time},
	    [PAPER_PART_NUMBERS] = {sql_numbers, "iNN", add_numbers},
	    [PAPER_PART_CATEGORIES] = {sql_categories, "iT", add_categories},
	    [PAPER_PART_ORGANIZATIONS] = {sql_organizations, "iT", add_organization},
	    [PAPER_PART_LINKS] = {sql_links, "inn", add_links},
	};
	struct record_callback each = {"paper", NULL, NULL, loading};

	if (part == PAPER_PART_LISTINGS)
		return load_listings(store, loading, error);
	each.columns = ways[part].columns;
	each.call = ways[part].add;
	return record_foreach(
	    store, ways[part].sql, &each, error, SQL_INT(loading->first));
}

static void
index_texts(struct loading *loading)
{
	const GPtrArray *texts = loading->paper_values->texts;

	for (guint i = 1; i < texts->len; i++)
		g_hash_table_insert(
		    loading->indexes, texts->pdata[i], GUINT_TO_POINTER(i));
}

/* Load parts of the papers from a seq on, but for those of which they were read. */
static bool
load_parts(struct store *store, struct paper_values *paper_values, unsigned parts,
    int64_t least_seq, GError **error)
{
	g_autoptr(GHashTable) indexes = g_hash_table_new(g_str_hash, g_str_equal);
	struct loading loading = {
	    .paper_values = paper_values, .indexes = indexes, .first = least_seq};
	bool is_ok = true;

	index_texts(&loading);
	if (parts & ~(PAPER_PART_DAYS | PAPER_PART_WORDS))
		g_array_set_size(paper_values->details, paper_values->values->len);
	for (unsigned i = 0; is_ok && i < PAPER_PARTS; i++) {
		loading.end = paper_values->from[i];
		if (!(parts & 1U << i) || loading.end <= least_seq)
			continue;
		is_ok = load_part(store, (enum paper_part)(1U << i), &loading, error);
		if (is_ok)
			paper_values->from[i] = least_seq;
		if (is_ok && !least_seq)
			paper_values->parts |= 1U << i;
	}
	g_free(loading.source);
	return is_ok;
}

const struct paper_values *
paper_values_load(
    struct store *store, unsigned parts, int64_t least_seq, GError **error)
{
	struct store *archive = store_get_archive(store);
	struct paper_values *paper_values = find_values(archive, error);

	if (!paper_values || !(parts & ~paper_values->parts))
		return paper_values;
	if (least_seq < paper_values->values->len / 2)
		least_seq = 0;
	return load_parts(archive, paper_values, parts, least_seq, error) ? paper_values
	                                                                  : NULL;
}

static bool
load_votes(struct store *store, int64_t seq, struct loading *loading, GError **error)
{
	static const char sql[] = "SELECT seq, upvotes, last_day FROM paper"
	                          " INDEXED BY paper_rank WHERE seq = ?1";
	const struct record_callback each = {"paper", "iNd", add_day, loading};

	return record_foreach(store, sql, &each, error, SQL_INT(seq));
}

static bool
load_since(struct store *store, int32_t oldest, struct loading *loading, GError **error)
{
	static const char sql_days[] =
	    "SELECT seq, last_day FROM paper"
	    " INDEXED BY paper_last_day WHERE last_day >= ?1";
	static const char sql_votes[] = "SELECT seq, upvotes, last_day FROM paper"
	                                " INDEXED BY paper_rank WHERE seq >= ?1";
	const struct record_callback days = {"paper", "id", add_last_day, loading};
	const struct record_callback votes = {"paper", "iNd", add_day, loading};
	const struct paper_values *paper_values = loading->paper_values;
	char day[DAY_BYTES];
	guint first;

	day_format(oldest * (int64_t)CLOCK_DAY_S, day);
	if (!record_foreach(store, sql_days, &days, error, SQL_TEXT(day)))
		return false;
	first = paper_values_find_first(paper_values, oldest, SINGLES_MAX);
	for (guint seq = 0; seq < first; seq++)
		if (g_array_index(paper_values->values, struct paper_value, seq).day >=
		        oldest &&
		    !load_votes(store, seq, loading, error))
			return false;
	return record_foreach(store, sql_votes, &votes, error, SQL_INT(first));
}

const struct paper_values *
paper_values_load_since(struct store *store, int32_t oldest, GError **error)
{
	struct store *archive = store_get_archive(store);
	struct paper_values *paper_values = find_values(archive, error);
	struct loading loading = {.paper_values = paper_values};

	if (!paper_values || paper_values->parts & PAPER_PART_DAYS ||
	    paper_values->since <= oldest)
		return paper_values;
	if (!load_since(archive, oldest, &loading, error))
		return NULL;
	paper_values->since = oldest;
	return paper_values;
}

const struct paper_values *
paper_values_load_some(struct store *store, const GArray *seqs, GError **error)
{
	static const char sql[] = "SELECT id, sz FROM paper_fts_docsize WHERE id = ?1";
	struct store *archive = store_get_archive(store);
	struct paper_values *paper_values = find_values(archive, error);
	struct loading loading = {.paper_values = paper_values};
	const struct record_callback words = {"paper", "ib", add_words, &loading};

	for (guint i = 0; paper_values && i < seqs->len; i++) {
		int64_t seq = g_array_index(seqs, int64_t, i);

		if (!load_votes(archive, seq, &loading, error) ||
		    !record_foreach(archive, sql, &words, error, SQL_INT(seq)))
			return NULL;
	}
	return paper_values;
}

guint
paper_values_find_first(
    const struct paper_values *paper_values, int32_t oldest, unsigned few)
{
	const GArray *values = paper_values->values;
	/* The least sum of papers to scan, and those that are read instead. */
	guint first = values->len, least = G_MAXUINT;
	unsigned skipped = 0;

	for (guint seq = 0; seq < values->len && skipped <= few; seq++) {
		guint sum = values->len - seq + skipped * SCANNED_PER_READ;

		if (g_array_index(values, struct paper_value, seq).day < oldest)
			continue;
		if (sum < least) {
			first = seq;
			least = sum;
		}
		skipped++;
	}
	return first;
}

/* ---- texts ---- */

/* A function to call with texts. */
struct passing {
	paper_values_found found;
	void *data;
};

static void
pass_text(void *data, struct sql_statement *row)
{
	const struct passing *passing = data;
	const char *text = sql_get_text(row, 1);

	if (text)
		passing->found(passing->data, sql_get_int(row, 0), text);
}

bool
paper_values_foreach(struct store *store, enum hit_field field, int64_t least_seq,
    paper_values_found found, void *data, GError **error)
{
	static const char *const statements[HIT_FIELDS] = {
	    [HIT_FIELD_KEYWORD] = "SELECT seq, keywords FROM paper"
	                          " INDEXED BY paper_value_words WHERE seq >= ?1",
	    [HIT_FIELD_COMMENT] = "SELECT seq, comment FROM paper"
	                          " INDEXED BY paper_value_words WHERE seq >= ?1",
	    [HIT_FIELD_JOURNAL] = "SELECT seq, journal FROM paper"
	                          " INDEXED BY paper_value_words WHERE seq >= ?1",
	    [HIT_FIELD_ID] = "SELECT seq, id FROM paper"
	                     " INDEXED BY sqlite_autoindex_paper_1 WHERE seq >= ?1",
	    [HIT_FIELD_DOI] = "SELECT seq, doi FROM paper"
	                      " INDEXED BY paper_value WHERE seq >= ?1",
	};
	struct passing passing = {found, data};
	const struct record_callback each = {"paper", "iT", pass_text, &passing};

	return record_foreach(store_get_archive(store), statements[field], &each, error,
	    SQL_INT(least_seq));
}
