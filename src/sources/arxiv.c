/*
 * arxiv.c - source: the daily announcements of one arXiv category.
 */
#include "sources/arxiv.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "base/zone.h"
#include "sources/arxiv_listing.h"
#include "sources/feed_xml.h"

#define FEED_URL "https://rss.arxiv.org"
#define API_URL  "https://export.arxiv.org"

/* Midnight Eastern is 05:00 UTC at the latest; plus three hours. */
#define EXPECTED_BY (8 * 60)

/* Daily submission deadline (https://info.arxiv.org/help/availability.html). */
#define EASTERN    "America/New_York"
#define DEADLINE_S (14 * CLOCK_HOUR_S)

#define PAGE_RESULTS 200

/* Papers of a day with new versions, of all of arXiv; the maximum of a request. */
#define VERSIONS 2000

struct arxiv {
	struct source source;
	char *name, *label;
	char *feed_url, *api_url; /* without a final slash */
	char *category;
	int64_t request_interval_ms;
	bool is_directory;
};

/* Errors come as a feed with this title, with status 400 or 200. */
static bool
is_feed_error(const struct feed_xml *feed)
{
	return feed->title && g_str_has_prefix(feed->title, "Feed error");
}

static void
set_error(struct source *source, const struct http_response *response, GError **error)
{
	const struct arxiv *self = (const struct arxiv *)source;
	pb_auto(feed_xml) feed =
	    feed_xml_parse(response->body, response->final_url, NULL);
	g_autofree char *message = feed ? feed_xml_format_line(feed->title,
	                                      FEED_XML_PLAIN, BOUNDS_SOURCE_ERROR_BYTES)
	                                : NULL;

	if (feed && is_feed_error(feed))
		pb_fail(error, PB_ERROR_PERMANENT, "no such arXiv category '%s': %s",
		    self->category, message);
	else
		source_set_status_error(response->status, message, error);
}

static bool
parse(struct source *source, GBytes *xml, const char *url, struct source_answer *answer,
    GError **error)
{
	const struct arxiv *self = (const struct arxiv *)source;
	pb_auto(feed_xml) feed = feed_xml_parse(xml, url, error);
	GPtrArray *listings;

	if (!feed)
		return false;
	if (is_feed_error(feed))
		return pb_fail(error, PB_ERROR_PERMANENT, "no such arXiv category '%s'",
		    self->category);
	listings =
	    arxiv_listing_from_feed(feed, *feed->day ? feed->day : answer->day, error);
	if (!listings)
		return false;
	source_answer_set_listings(answer, listings);
	if (*feed->day)
		g_strlcpy(answer->day, feed->day, sizeof(answer->day));
	return true;
}

static bool
poll(struct source *source, struct http *http, const char *today, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct arxiv *self = (struct arxiv *)source;
	g_autofree char *url =
	    g_strdup_printf(self->is_directory ? "%s/%s.xml" : "%s/rss/%s",
	        self->feed_url, self->category);

	(void)today;
	if (!self->is_directory && !http_pause(http, self->request_interval_ms, error))
		return false;
	return source_get(source, http, url, etag, answer, error);
}

/* Send one request to the API, after a pause. */
static struct feed_xml *
query_api(struct http *http, const char *url, int64_t request_interval_ms,
    int64_t *retry_after_s, GError **error)
{
	pb_local(http_response) response = {0};
	struct feed_xml *feed = NULL;

	if (!http_pause(http, request_interval_ms, error) ||
	    !http_get(http, url, NULL, &response, error))
		return NULL;
	*retry_after_s = response.retry_after_s;
	feed = feed_xml_parse(
	    response.body, response.final_url, response.status == 200 ? error : NULL);
	/* API errors are feeds of one entry, whatever the status. */
	if (response.status != 200 && feed) {
		g_autoptr(GPtrArray) none = arxiv_listing_from_api(feed, error);

		if (none)
			source_set_status_error(response.status, NULL, error);
		g_clear_pointer(&feed, feed_xml_free);
	} else if (response.status != 200) {
		source_set_status_error(response.status, NULL, error);
	}
	return feed;
}

static void
format_api_time(int64_t at, char out[13])
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);
	g_autofree char *text = g_date_time_format(time, "%Y%m%d%H%M");

	g_strlcpy(out, text, 13);
}

/* 14:00 Eastern, `back` days before a day. */
static int64_t
get_deadline(GTimeZone *eastern, const char *day, int back)
{
	int64_t noon = day_start(day) + (12 - back * 24) * (int64_t)CLOCK_HOUR_S;
	char before[DAY_BYTES];
	int64_t midnight = 0;

	day_format(noon, before);
	day_parse(before, eastern, &midnight, NULL);
	return midnight + DEADLINE_S;
}

/*
 * Find the submission window of a day's feed: Thursday to Friday for Monday, Friday to
 * Monday for Tuesday, the two days before otherwise.
 *
 * @return false for a day without announcements
 */
static bool
find_window(const char *day, int64_t *from, int64_t *to)
{
	static const struct {
		int from, to;
	} back[] = {{4, 3}, {4, 1}, {2, 1}, {2, 1}, {2, 1}, {0, 0}, {0, 0}};
	g_autoptr(GTimeZone) eastern = zone_load_or_utc(EASTERN);
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(day_start(day));
	int weekday = g_date_time_get_day_of_week(time) - 1;

	if (!back[weekday].from)
		return false;
	*from = get_deadline(eastern, day, back[weekday].from);
	*to = get_deadline(eastern, day, back[weekday].to);
	return true;
}

static char *
make_search_url(const struct arxiv *self, int64_t from, int64_t to, unsigned start)
{
	bool is_archive = !strchr(self->category, '.') && !strchr(self->category, '-');
	char first[13], last[13];

	format_api_time(from, first);
	format_api_time(to - 1, last);
	return g_strdup_printf("%s/api/query?search_query=cat:%s%s+AND+submittedDate:"
	                       "%%5B%s+TO+%s%%5D&sortBy=submittedDate&sortOrder="
	                       "ascending&start=%u&max_results=%d",
	    self->api_url, self->category, is_archive ? "*" : "", first, last, start,
	    PAGE_RESULTS);
}

/* Move the papers of a page; their date is that of the feed, not of submission. */
static void
add_found(const struct arxiv *self, GPtrArray *found, const char *day, GHashTable *seen,
    GPtrArray *listings)
{
	for (unsigned i = 0; i < found->len; i++) {
		struct listing *listing = found->pdata[i];
		const GPtrArray *categories = listing->paper->categories;
		bool is_primary =
		    categories->len && g_ascii_strncasecmp(categories->pdata[0],
		                           self->category, strlen(self->category)) == 0;

		if (g_hash_table_contains(seen, listing->paper->id))
			continue;
		found->pdata[i] = NULL;
		g_strlcpy(listing->day, day, sizeof(listing->day));
		listing->listing_type = is_primary ? LISTING_NEW : LISTING_CROSS;
		g_hash_table_add(seen, listing->paper->id);
		g_ptr_array_add(listings, listing);
	}
}

static GPtrArray *
search(const struct arxiv *self, struct http *http, const char *day, int64_t from,
    int64_t to, int64_t *retry_after_s, GError **error)
{
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned entries = PAGE_RESULTS;

	for (unsigned page = 0; entries > 0; page++) {
		g_autofree char *url =
		    make_search_url(self, from, to, page * PAGE_RESULTS);
		pb_auto(feed_xml) feed = query_api(
		    http, url, self->request_interval_ms, retry_after_s, error);
		g_autoptr(GPtrArray) found =
		    feed ? arxiv_listing_from_api(feed, error) : NULL;

		if (!found)
			return NULL;
		if (page == BOUNDS_PAGES_BATCH ||
		    listings->len + found->len > BOUNDS_PAPERS_BATCH) {
			pb_fail(error, PB_ERROR_LIMIT,
			    "the day has more than %d pages or %d papers",
			    BOUNDS_PAGES_BATCH, BOUNDS_PAPERS_BATCH);
			return NULL;
		}
		entries = feed->entries->len;
		add_found(self, found, day, seen, listings);
		/* A short page need not be the last: under load the API truncates
		 * pages. */
		if (feed->total >= 0 &&
		    (page + 1) * (int64_t)PAGE_RESULTS >= feed->total)
			break;
	}
	return g_steal_pointer(&listings);
}

static bool
fetch_day(struct source *source, struct http *http, const char *day, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct arxiv *self = (struct arxiv *)source;
	GPtrArray *listings;
	int64_t from, to;

	(void)etag;
	if (!find_window(day, &from, &to)) {
		answer->status = SOURCE_EMPTY;
		return true;
	}
	listings = search(self, http, day, from, to, &answer->retry_after_s, error);
	if (!listings)
		return false;
	source_answer_set_listings(answer, listings);
	return true;
}

static void
arxiv_free(struct source *source)
{
	struct arxiv *self = (struct arxiv *)source;

	g_free(self->name);
	g_free(self->label);
	g_free(self->feed_url);
	g_free(self->api_url);
	g_free(self->category);
	g_free(self);
}

struct source *
arxiv_new(const struct source_options *options)
{
	struct arxiv *self = g_new0(struct arxiv, 1);
	bool is_usual = strcmp(options->name, "arxiv") == 0;

	self->category = g_strdup(*options->categories);
	self->name = g_strconcat(options->name, "/", self->category, NULL);
	self->label =
	    g_strconcat(is_usual ? "arXiv" : options->name, " ", self->category, NULL);
	self->feed_url = source_format_base(options->url, FEED_URL);
	self->api_url = source_format_base(options->api_url, API_URL);
	self->request_interval_ms = options->request_interval_ms;
	self->is_directory = g_str_has_prefix(options->url, "file:");
	self->source = (struct source){
	    .name = self->name,
	    .label = self->label,
	    .url = self->feed_url,
	    .kind = SOURCE_DATED,
	    .expected_by = EXPECTED_BY,
	    .poll = poll,
	    .fetch_day = fetch_day,
	    .parse = parse,
	    .set_error = set_error,
	    .free = arxiv_free,
	};
	return &self->source;
}

static void
append_id(const struct paper *paper, GString *ids)
{
	g_string_append_printf(ids, "%s%s", ids->len ? "," : "", paper->id);
}

GPtrArray *
arxiv_find(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	g_autoptr(GString) ids = source_lookup_format(lookup, papers, append_id);
	g_autofree char *base = source_format_base(options->url, API_URL);
	/* The default is ten results. */
	g_autofree char *url = g_strdup_printf(
	    "%s/api/query?max_results=%u&id_list=%s", base, lookup->count, ids->str);
	pb_auto(feed_xml) feed = query_api(
	    http, url, options->request_interval_ms, &lookup->retry_after_s, error);

	/* Under load the API truncates pages. */
	lookup->is_complete = feed && feed->total <= (int64_t)feed->entries->len;
	return feed ? arxiv_listing_from_api(feed, error) : NULL;
}

/* Format a query for the archives of papers: "cat:cs.*+OR+cat:hep-th*". */
static char *
format_archives(const GPtrArray *papers, GHashTable *ids)
{
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GString *query = g_string_new(NULL);

	for (unsigned i = 0; i < papers->len; i++) {
		const struct paper *paper = papers->pdata[i];
		const GPtrArray *categories = paper->categories;
		char *archive;

		g_hash_table_add(ids, paper->id);
		if (!categories || !categories->len)
			continue;
		archive =
		    g_strndup(categories->pdata[0], strcspn(categories->pdata[0], "."));
		if (g_hash_table_add(seen, archive))
			g_string_append_printf(
			    query, "%scat:%s*", query->len ? "+OR+" : "", archive);
	}
	return g_string_free(query, FALSE);
}

GPtrArray *
arxiv_find_versions(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree char *archives = format_archives(papers, ids);
	g_autofree char *base = source_format_base(options->url, API_URL);
	g_autofree char *url = g_strdup_printf("%s/api/query?search_query=%s"
	                                       "&sortBy=lastUpdatedDate"
	                                       "&sortOrder=descending&max_results=%d",
	    base, archives, VERSIONS);
	pb_auto(feed_xml) feed = NULL;
	GPtrArray *found;

	lookup->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	if (!*archives)
		return g_ptr_array_new();
	feed = query_api(
	    http, url, options->request_interval_ms, &lookup->retry_after_s, error);
	found = feed ? arxiv_listing_from_api(feed, error) : NULL;
	for (unsigned i = found ? found->len : 0; i-- > 0;)
		if (!g_hash_table_contains(
		        ids, ((struct listing *)found->pdata[i])->paper->id))
			g_ptr_array_remove_index_fast(found, i);
	return found;
}
