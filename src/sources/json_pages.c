/*
 * json_pages.c - sources that list any day in pages of JSON.
 */
#include "sources/json_pages.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
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
	const char *etag;          /* of the last answer, or NULL */
	enum source_status status; /* SOURCE_OK while pages are read */
	GPtrArray *listings;       /* so far */
	GHashTable *seen;          /* as of source_move_listings() */
	GHashTable *records; /* "ID VERSION", also of versions that are not kept */
	int64_t total;       /* of records, or -1 */
	bool has_shifted;    /* the total has changed between two pages */
	unsigned pages;      /* requested, this time */
	struct source_answer *answer; /* retry_after_s is set on failure too */
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

/* Move the papers of a page. @param has_new  set: it is not a repetition of others */
static bool
add_page(struct fetch *fetch, GPtrArray *page, bool *has_new, GError **error)
{
	*has_new = page->len == 0;
	for (guint i = 0; i < page->len; i++) {
		const struct listing *listing = page->pdata[i];

		*has_new |= g_hash_table_add(fetch->records,
		    g_strdup_printf("%s %u", listing->paper->id, listing->version));
	}
	source_move_listings(page, fetch->listings, fetch->seen);
	if (fetch->listings->len > BOUNDS_PAPERS_BATCH)
		return pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
	return true;
}

/* Whether the day has ended by the server's clock: its date check may lag by a day. */
static bool
is_past(const char *day, int64_t served_at)
{
	char yesterday[DAY_BYTES];

	if (served_at < CLOCK_DAY_S)
		return false;
	day_format(served_at - CLOCK_DAY_S, yesterday);
	return strcmp(day, yesterday) < 0;
}

/* A response that is not a list: the day does not exist yet, or an error. */
static GPtrArray *
refuse(struct fetch *fetch, const struct http_response *response, GError *failure,
    GError **error)
{
	const struct json_pages_service *service = fetch->self->service;
	int status = response->status;
	bool is_not_yet = false;
	g_autofree char *message =
	    service->parse_error ? service->parse_error(response->body, &is_not_yet)
	                         : NULL;

	if (is_not_yet && (status == 400 || status == 200) && fetch->pages == 1 &&
	    !is_past(fetch->day, response->served_at)) {
		fetch->status = SOURCE_NOT_YET;
		return g_ptr_array_new();
	}
	if (message || !failure)
		source_set_status_error(status, message, error);
	else
		g_propagate_error(error, g_error_copy(failure));
	return NULL;
}

static GPtrArray *
read_page(struct fetch *fetch, const struct http_response *response,
    struct json_page *page, GError **error)
{
	bool is_first = fetch->pages == 1;
	g_autoptr(GError) failure = NULL;
	GPtrArray *listings = NULL;

	fetch->answer->retry_after_s = response->retry_after_s;
	g_clear_pointer(&fetch->answer->etag, g_free);
	if (response->status == 304 && is_first && fetch->etag) {
		fetch->status = SOURCE_NOT_MODIFIED;
		fetch->answer->etag = g_strdup(fetch->etag);
		return g_ptr_array_new();
	}
	if (response->status == 200)
		listings =
		    parse_page(fetch->self, response->body, fetch->day, page, &failure);
	if (!listings)
		return refuse(fetch, response, failure, error);
	if (is_first)
		fetch->answer->etag = g_strdup(response->etag);
	return listings;
}

static GPtrArray *
request_page(struct fetch *fetch, struct json_page *page, GError **error)
{
	const struct json_pages *self = fetch->self;
	const struct source_options *options = &self->options;
	const char *file = self->service->file;
	g_autofree char *url =
	    self->is_directory
	        ? g_strdup_printf("%s/%s-%s.json", options->url,
	              file ? file : options->name, fetch->day)
	        : self->service->format_url(options, fetch->day, page->cursor);
	pb_local(http_response) response = {0};

	if (fetch->pages++ == BOUNDS_PAGES_BATCH) {
		pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d pages",
		    BOUNDS_PAGES_BATCH);
		return NULL;
	}
	if ((!self->is_directory &&
	        !http_pause(fetch->http, options->request_interval_ms, error)) ||
	    !http_get(fetch->http, url, fetch->pages == 1 ? fetch->etag : NULL,
	        &response, error))
		return NULL;
	return read_page(fetch, &response, page, error);
}

GPtrArray *
json_pages_find(const struct json_pages_service *service, struct http *http,
    const struct source_options *options, const char *url, struct source_lookup *lookup,
    GError **error)
{
	const struct json_pages self = {.service = service, .options = *options};
	pb_local(source_answer) answer = {0};
	struct fetch fetch = {
	    .self = &self, .http = http, .day = "", .pages = 1, .answer = &answer};
	struct json_page page = {.total = -1};
	pb_local(http_response) response = {0};
	GPtrArray *listings;

	if (!http_pause(http, options->request_interval_ms, error) ||
	    !http_get(http, url, NULL, &response, error))
		return NULL;
	listings = read_page(&fetch, &response, &page, error);
	lookup->retry_after_s = answer.retry_after_s;
	g_free(page.next);
	return listings;
}

/* Fetch all pages once. */
static bool
fetch_pages(struct fetch *fetch, GError **error)
{
	g_autofree char *cursor = NULL;
	bool has_new = true;

	do {
		struct json_page page = {.cursor = cursor, .total = -1};
		g_autoptr(GPtrArray) listings = request_page(fetch, &page, error);

		g_free(cursor);
		cursor = page.next;
		if (!listings || !add_page(fetch, listings, &has_new, error))
			return false;
		if (page.total >= 0 && fetch->total >= 0 && page.total != fetch->total)
			fetch->has_shifted = true;
		if (page.total >= 0)
			fetch->total = page.total;
		/* A mirror without paging repeats its only page. */
	} while (
	    cursor && (has_new || fetch->total >= 0) && !fetch->self->is_directory);
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
	    .etag = etag,
	    .answer = answer,
	};
	g_autoptr(GError) failure = NULL;

	answer->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	if (!fetch_all(&fetch, &failure)) {
		g_clear_pointer(&answer->etag, g_free);
		if (!self->is_directory ||
		    !g_error_matches(failure, PB_ERROR, PB_ERROR_NOT_FOUND))
			return pb_error_forward(error, &failure);
		if (!source_check_directory(self->options.url, error))
			return false;
		answer->status = SOURCE_NOT_YET;
		return true;
	}
	answer->status = fetch.status;
	if (fetch.status != SOURCE_OK)
		return true;
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

static const char *
copy(GStringChunk *texts, const char *text)
{
	return g_string_chunk_insert(texts, text ? text : "");
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
	    .name = copy(texts, options->name),
	    .kind = copy(texts, options->kind),
	    .url = g_string_chunk_insert(texts, url),
	    .categories = copy_categories(options->categories),
	    .list = copy(texts, options->list),
	    .query = copy(texts, options->query),
	    .issn = copy(texts, options->issn),
	    .prefix = copy(texts, options->prefix),
	    .contact = copy(texts, options->contact),
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
