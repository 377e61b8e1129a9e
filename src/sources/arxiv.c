/*
 * arxiv.c - one category of arXiv's daily announcements as a source.
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

/* Rebuilt at midnight Eastern, which is 05:00 UTC at the latest; three hours more. */
#define EXPECTED_BY (8 * 60)

/* Submissions of a day end at 14:00 Eastern
 * (https://info.arxiv.org/help/availability.html). */
#define EASTERN    "America/New_York"
#define DEADLINE_S (14 * CLOCK_HOUR_S)

#define PAGE_RESULTS 200

struct arxiv {
	struct source source;
	char *name, *label;
	char *feed_url, *api_url; /* without a slash at the end */
	char *category;
	int64_t gap_ms;
	bool is_folder;
};

bool
arxiv_is_category(const char *text)
{
	size_t size = strlen(text);
	const char *dot = strchr(text, '.');

	if (size < 2 || size > 30 || !g_ascii_isalpha(text[0]) || (dot && !dot[1]))
		return false;
	for (const char *at = text; *at; at++)
		if (!g_ascii_isalpha(*at) && *at != '-' && at != dot)
			return false;
	return true;
}

static char *
without_slash(const char *url)
{
	size_t length = strlen(url);

	while (length > 0 && url[length - 1] == '/')
		length--;
	return g_strndup(url, length);
}

/* The title of a feed that tells of an error, with status 400 and with 200. */
static bool
is_feed_error(const struct feed_xml *bulletin)
{
	return bulletin->title && g_str_has_prefix(bulletin->title, "Feed error");
}

static void
set_feed_error(
    const struct arxiv *self, const struct http_response *response, GError **error)
{
	pb_auto(feed_xml) bulletin =
	    feed_xml_parse(response->body, response->final_url, NULL);
	g_autofree char *reported = bulletin
	                                ? feed_xml_format_line(bulletin->title,
	                                      FEED_XML_PLAIN, BOUNDS_SOURCE_ERROR_BYTES)
	                                : NULL;

	if (bulletin && is_feed_error(bulletin))
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "arXiv has no category '%s': %s", self->category, reported);
	else
		source_set_status_error(response->status, reported, error);
}

/* Fill an answer from a feed's octets. @param day  of a feed that tells none */
static bool
read_feed(const struct arxiv *self, GBytes *xml, const char *url, const char *day,
    struct source_answer *answer, GError **error)
{
	pb_auto(feed_xml) bulletin = feed_xml_parse(xml, url, error);
	GPtrArray *listings;

	if (!bulletin)
		return false;
	if (is_feed_error(bulletin)) {
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "arXiv has no category '%s'", self->category);
		return false;
	}
	if (*bulletin->day)
		day = bulletin->day;
	listings = arxiv_listing_make(bulletin, day, error);
	if (!listings)
		return false;
	source_answer_set_listings(answer, listings);
	if (day != answer->day)
		g_strlcpy(answer->day, day, sizeof(answer->day));
	return true;
}

static bool
take_response(const struct arxiv *self, struct http_response *response,
    const char *etag, struct source_answer *answer, GError **error)
{
	if (source_answer_set_not_modified(answer, response, etag))
		return true;
	if (response->status != 200) {
		set_feed_error(self, response, error);
		return false;
	}
	if (!read_feed(
	        self, response->body, response->final_url, answer->day, answer, error))
		return false;
	answer->etag = g_steal_pointer(&response->etag);
	return true;
}

static bool
fetch_now(struct source *source, struct http *http, const char *today, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct arxiv *self = (struct arxiv *)source;
	g_autofree char *url =
	    g_strdup_printf(self->is_folder ? "%s/%s.xml" : "%s/rss/%s", self->feed_url,
	        self->category);
	struct http_response response = {0};
	bool is_ok;

	(void)today;
	if (!self->is_folder && !http_pause(http, self->gap_ms, error))
		return false;
	if (!http_get(http, url, etag, &response, error))
		return false;
	is_ok = take_response(self, &response, etag, answer, error);
	http_response_clear(&response);
	return is_ok;
}

/* Ask the API one question, after a pause. */
static struct feed_xml *
ask_api(struct http *http, const char *url, int64_t gap_ms, int64_t *retry_after_s,
    GError **error)
{
	struct http_response response = {0};
	struct feed_xml *bulletin = NULL;

	if (!http_pause(http, gap_ms, error) ||
	    !http_get(http, url, NULL, &response, error))
		return NULL;
	*retry_after_s = response.retry_after_s;
	bulletin = feed_xml_parse(
	    response.body, response.final_url, response.status == 200 ? error : NULL);
	/* An error of the API is a feed of one entry, whatever its status. */
	if (response.status != 200 && bulletin) {
		g_autoptr(GPtrArray) none = arxiv_listing_make_found(bulletin, error);

		if (none)
			source_set_status_error(response.status, NULL, error);
		g_clear_pointer(&bulletin, feed_xml_free);
	} else if (response.status != 200) {
		source_set_status_error(response.status, NULL, error);
	}
	http_response_clear(&response);
	return bulletin;
}

static void
format_api_time(int64_t at, char out[13])
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);
	g_autofree char *text = g_date_time_format(time, "%Y%m%d%H%M");

	g_strlcpy(out, text, 13);
}

/* 14:00 Eastern, so many days before a day. */
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
 * When the papers of a day's feed were submitted: Monday's from Thursday to Friday,
 * Tuesday's from Friday to Monday, the others' the two days before.
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

/* Move what a page tells over; it is dated by the feed, not by its submission. */
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

static void
free_listing(void *listing)
{
	listing_free(listing);
}

static GPtrArray *
search(const struct arxiv *self, struct http *http, const char *day, int64_t from,
    int64_t to, int64_t *retry_after_s, GError **error)
{
	g_autoptr(GPtrArray) listings = g_ptr_array_new_with_free_func(free_listing);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned entries = PAGE_RESULTS;

	for (unsigned page = 0; entries > 0; page++) {
		g_autofree char *url =
		    make_search_url(self, from, to, page * PAGE_RESULTS);
		pb_auto(feed_xml) bulletin =
		    ask_api(http, url, self->gap_ms, retry_after_s, error);
		g_autoptr(GPtrArray) found =
		    bulletin ? arxiv_listing_make_found(bulletin, error) : NULL;

		if (!found)
			return NULL;
		if (page == BOUNDS_PAGES_BATCH ||
		    listings->len + found->len > BOUNDS_PAPERS_BATCH) {
			g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
			    "the day has more than %d pages or %d papers",
			    BOUNDS_PAGES_BATCH, BOUNDS_PAPERS_BATCH);
			return NULL;
		}
		entries = bulletin->entries->len;
		add_found(self, found, day, seen, listings);
		/* A short page is not always the last: the API cuts under load. */
		if (bulletin->total >= 0 &&
		    (page + 1) * (int64_t)PAGE_RESULTS >= bulletin->total)
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

static bool
read_day(struct source *source, const char *path, const char *day,
    struct source_answer *answer, GError **error)
{
	g_autoptr(GBytes) xml = source_load_file(path, error);

	if (!xml)
		return false;
	if (!read_feed((struct arxiv *)source, xml, NULL, day, answer, error)) {
		g_prefix_error(error, "'%s': ", path);
		return false;
	}
	if (strcmp(answer->day, day) == 0)
		return true;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "'%s' is the list of %s, not of %s", path, answer->day, day);
	source_answer_clear(answer);
	return false;
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
arxiv_new(const struct arxiv_options *options, const char *category)
{
	struct arxiv *self = g_new0(struct arxiv, 1);

	self->name = g_strconcat("arxiv/", category, NULL);
	self->label = g_strconcat("arXiv ", category, NULL);
	self->category = g_strdup(category);
	self->feed_url = without_slash(options->feed_url);
	self->api_url = without_slash(options->api_url);
	self->gap_ms = options->gap_ms;
	self->is_folder = g_str_has_prefix(options->feed_url, "file:");
	self->source = (struct source){
	    .name = self->name,
	    .label = self->label,
	    .url = self->feed_url,
	    .kind = SOURCE_DATED,
	    .expected_by = EXPECTED_BY,
	    .fetch_now = fetch_now,
	    .fetch_day = fetch_day,
	    .read_day = read_day,
	    .free = arxiv_free,
	};
	return &self->source;
}

GPtrArray *
arxiv_find(struct http *http, const struct arxiv_options *options, const GPtrArray *ids,
    int64_t *retry_after_s, GError **error)
{
	g_autofree char *api_url = without_slash(options->api_url);
	g_autoptr(GString) url = g_string_new(api_url);
	pb_auto(feed_xml) bulletin = NULL;

	*retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	/* Ten are told when no number is asked for. */
	g_string_append_printf(url, "/api/query?max_results=%d&id_list=", ARXIV_IDS);
	for (unsigned i = 0; i < ids->len && i < ARXIV_IDS; i++)
		g_string_append_printf(
		    url, "%s%s", i ? "," : "", (const char *)ids->pdata[i]);
	bulletin = ask_api(http, url->str, options->gap_ms, retry_after_s, error);
	return bulletin ? arxiv_listing_make_found(bulletin, error) : NULL;
}
