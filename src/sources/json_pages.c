/*
 * json_pages.c - sources that list any day in pages of JSON.
 */
#include "sources/json_pages.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "model/paper_id.h"

/* Number of times that the pages of a day are read if papers have shifted from one to
 * another meanwhile.  More requests would not help while papers keep arriving: those
 * that are missed come with the next poll. */
#define PASSES 3

struct json_pages {
	struct source source;
	const struct json_pages_service *service;
	struct source_options options; /* in `texts`, but the categories */
	GStringChunk *texts;
	bool is_directory;
};

/* State of fetching one day. */
struct fetch {
	const struct json_pages *self;
	struct http *http;
	const char *day;
	GPtrArray *listings;    /* so far */
	GHashTable *seen;       /* as of source_move_listings() */
	GHashTable *records;    /* "ID VERSION", also of versions that are not kept */
	int64_t total;          /* of records, or -1 */
	bool has_shifted;       /* the total has changed between two pages */
	unsigned pages;         /* requested, this time */
	int64_t *retry_after_s; /* set on failure too */
};

char *
json_pages_format_category(const char *text)
{
	GString *out = g_string_new(NULL);

	for (const char *at = text; *at && *at != '('; at++)
		if (g_ascii_isalnum(*at))
			g_string_append_c(out, g_ascii_tolower(*at));
		else if (out->len && out->str[out->len - 1] != '-')
			g_string_append_c(out, '-');
	if (out->len && out->str[out->len - 1] == '-')
		g_string_truncate(out, out->len - 1);
	return g_string_free(out, FALSE);
}

void
json_pages_complete(
    struct paper *paper, const char *doi, const char *name, const char *own)
{
	g_autofree char *arxiv_id = NULL;

	if (!paper->abstract)
		paper->abstract = g_strdup("");
	paper->source_rank = PAPER_SOURCE_RANK_FEED;
	paper->doi = paper_id_parse_doi(doi);
	paper_id_parse_arxiv(paper->doi ? doi : NULL, &arxiv_id, NULL);
	/* Only arXiv papers are looked up at arXiv. */
	if (!arxiv_id) {
		paper->is_enriched = true;
		if (!paper->categories)
			paper->categories = g_ptr_array_new_with_free_func(g_free);
	}
	paper_id_choose(paper, arxiv_id, name, own);
}

/* Leave out the papers of categories that were not asked for. */
static void
remove_unwanted(const struct json_pages *self, GPtrArray *listings)
{
	const char *const *wanted = self->options.categories;

	for (guint i = listings->len; wanted && *wanted && i-- > 0;) {
		const struct listing *listing = listings->pdata[i];
		const GPtrArray *categories = listing->paper->categories;

		if (categories && categories->len &&
		    !g_strv_contains(wanted, categories->pdata[0]))
			g_ptr_array_remove_index(listings, i);
	}
}

static GPtrArray *
parse_page(const struct json_pages *self, GBytes *body, const char *day,
    struct json_page *page, GError **error)
{
	if (g_bytes_get_size(body) > 0)
		return self->service->parse(body, &self->options, day, page, error);
	pb_fail(error, PB_ERROR_TEMPORARY, JSON_PAGES_NO_LIST);
	return NULL;
}

static bool
parse(struct source *source, GBytes *body, const char *url,
    struct source_answer *answer, GError **error)
{
	const struct json_pages *self = (const struct json_pages *)source;
	struct json_page page = {.total = -1};
	GPtrArray *listings = parse_page(self, body, answer->day, &page, error);

	(void)url;
	g_free(page.next);
	if (!listings)
		return false;
	listings = source_merge_listings(listings);
	remove_unwanted(self, listings);
	source_answer_set_listings(answer, listings);
	return true;
}

static bool
add_page(struct fetch *fetch, GPtrArray *page, GError **error)
{
	for (guint i = 0; i < page->len; i++) {
		const struct listing *listing = page->pdata[i];

		g_hash_table_add(fetch->records,
		    g_strdup_printf("%s %u", listing->paper->id, listing->version));
	}
	source_move_listings(page, fetch->listings, fetch->seen);
	if (fetch->listings->len > BOUNDS_PAPERS_BATCH)
		return pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
	return true;
}

static GPtrArray *
request_page(struct fetch *fetch, struct json_page *page, GError **error)
{
	const struct json_pages *self = fetch->self;
	const struct source_options *options = &self->options;
	g_autofree char *url =
	    self->is_directory
	        ? g_strdup_printf(
	              "%s/%s-%s.json", options->url, options->name, fetch->day)
	        : self->service->format_url(options, fetch->day, page->cursor);
	pb_local(http_response) response = {0};

	if (fetch->pages++ == BOUNDS_PAGES_BATCH) {
		pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d pages",
		    BOUNDS_PAGES_BATCH);
		return NULL;
	}
	if ((!self->is_directory &&
	        !http_pause(fetch->http, options->request_interval_ms, error)) ||
	    !http_get(fetch->http, url, NULL, &response, error))
		return NULL;
	*fetch->retry_after_s = response.retry_after_s;
	if (response.status == 200)
		return parse_page(self, response.body, fetch->day, page, error);
	source_set_status_error(response.status, NULL, error);
	return NULL;
}

/* Fetch all pages once. */
static bool
fetch_pages(struct fetch *fetch, GError **error)
{
	g_autofree char *cursor = NULL;

	do {
		struct json_page page = {.cursor = cursor, .total = -1};
		g_autoptr(GPtrArray) listings = request_page(fetch, &page, error);

		g_free(cursor);
		cursor = page.next;
		if (!listings || !add_page(fetch, listings, error))
			return false;
		if (page.total >= 0 && fetch->total >= 0 && page.total != fetch->total)
			fetch->has_shifted = true;
		if (page.total >= 0)
			fetch->total = page.total;
	} while (cursor && !fetch->self->is_directory);
	return true;
}

/*
 * Fetch all pages, again while papers that arrive shift others to pages that have
 * already been read.  A total that is too large is accepted in the end: bioRxiv's was,
 * for months.
 */
static bool
fetch_all(struct fetch *fetch, GError **error)
{
	for (unsigned pass = 0; pass < PASSES; pass++) {
		fetch->has_shifted = false;
		fetch->total = -1;
		fetch->pages = 0;
		if (!fetch_pages(fetch, error))
			return false;
		if (fetch->self->is_directory ||
		    (!fetch->has_shifted &&
		        (int64_t)g_hash_table_size(fetch->records) >= fetch->total))
			break;
	}
	return true;
}

static bool
fetch_day(struct source *source, struct http *http, const char *day, const char *etag,
    struct source_answer *answer, GError **error)
{
	const struct json_pages *self = (const struct json_pages *)source;
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) records =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct fetch fetch = {
	    .self = self,
	    .http = http,
	    .day = day,
	    .listings = listings,
	    .seen = seen,
	    .records = records,
	    .total = -1,
	    .retry_after_s = &answer->retry_after_s,
	};
	g_autoptr(GError) failure = NULL;

	(void)etag;
	answer->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	if (!fetch_all(&fetch, &failure)) {
		if (!self->is_directory ||
		    !g_error_matches(failure, PB_ERROR, PB_ERROR_NOT_FOUND))
			return pb_error_forward(error, &failure);
		if (!source_check_directory(self->options.url, error))
			return false;
		answer->status = SOURCE_NOT_YET;
		return true;
	}
	remove_unwanted(self, listings);
	source_answer_set_listings(answer, g_steal_pointer(&listings));
	return true;
}

static void
json_pages_free(struct source *source)
{
	struct json_pages *self = (struct json_pages *)source;

	g_strfreev((char **)self->options.categories);
	g_string_chunk_free(self->texts);
	g_free(self);
}

static const char *const *
copy_categories(const char *const *categories)
{
	g_autoptr(GStrvBuilder) copies = g_strv_builder_new();

	for (; categories && *categories; categories++) {
		g_autofree char *category = json_pages_format_category(*categories);

		g_strv_builder_add(copies, category);
	}
	return (const char *const *)g_strv_builder_end(copies);
}

struct source *
json_pages_new(
    const struct json_pages_service *service, const struct source_options *options)
{
	struct json_pages *self = g_new0(struct json_pages, 1);
	GStringChunk *texts = g_string_chunk_new(256);
	g_autofree char *url = source_format_base(options->url, service->url);

	self->service = service;
	self->is_directory = g_str_has_prefix(url, "file:");
	self->texts = texts;
	self->options = (struct source_options){
	    .name = g_string_chunk_insert(texts, options->name),
	    .kind = g_string_chunk_insert(texts, options->kind),
	    .url = g_string_chunk_insert(texts, url),
	    .categories = copy_categories(options->categories),
	    .query = g_string_chunk_insert(texts, options->query),
	    .issn = g_string_chunk_insert(texts, options->issn),
	    .prefix = g_string_chunk_insert(texts, options->prefix),
	    .contact = g_string_chunk_insert(texts, options->contact),
	    .request_interval_ms = options->request_interval_ms,
	};
	self->source = (struct source){
	    .name = self->options.name,
	    .label = self->options.name,
	    .url = self->options.url,
	    .kind = SOURCE_BY_DAY,
	    .expected_by = -1,
	    .fetch_day = fetch_day,
	    .parse = parse,
	    .free = json_pages_free,
	};
	return &self->source;
}
