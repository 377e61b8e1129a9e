/*
 * huggingface.c - source: Hugging Face Daily Papers.
 */
#include "sources/huggingface.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "sources/huggingface_parse.h"

#define URL "https://huggingface.co"

/* Maximum page size of the service; its default of 50 truncates long days. */
#define PAGE_LIMIT 100
#define DAY_S      86400

/* For two years every working day had papers by 07:50 UTC; plus two hours. */
#define EXPECTED_BY (10 * 60)

struct huggingface {
	struct source source;
	char *name;
	char *base_url; /* without a final slash */
	bool is_directory;
};

/* State of fetching one day. */
struct fetch {
	const struct huggingface *self;
	struct http *http;
	const char *day;
	GPtrArray *listings; /* so far */
	GHashTable *seen;    /* as of source_move_listings() */
	char *etag;
	unsigned pages;
	int64_t *retry_after_s; /* set on failure too */
};

enum page_end {
	PAGE_FAILED,
	PAGE_MORE,
	PAGE_LAST,
	PAGE_NOT_MODIFIED,
	PAGE_NOT_YET,
};

static char *
make_url(const struct huggingface *self, const char *day, unsigned page)
{
	if (self->is_directory)
		return g_strdup_printf("%s/daily_papers-%s.json", self->base_url, day);
	return g_strdup_printf("%s/api/daily_papers?date=%s&limit=%d&p=%u",
	    self->base_url, day, PAGE_LIMIT, page);
}

/* Whether the day has ended by the server's clock: its date check may lag by a day. */
static bool
is_past(const char *day, int64_t served_at)
{
	g_autoptr(GDateTime) served = NULL;
	g_autofree char *yesterday = NULL;

	if (served_at == HTTP_RETRY_AFTER_UNKNOWN)
		return false;
	served = g_date_time_new_from_unix_utc(served_at - DAY_S);
	yesterday = served ? g_date_time_format(served, "%Y-%m-%d") : NULL;
	return yesterday && strcmp(day, yesterday) < 0;
}

/* A response that is not a list: the day does not exist yet, or an error. */
static enum page_end
refuse(const struct fetch *fetch, const struct http_response *response, GError **error)
{
	g_autofree char *message = huggingface_parse_error(response->body);
	int status = response->status;

	if (message && (status == 400 || status == 200) && fetch->pages == 0 &&
	    huggingface_is_not_yet(message) &&
	    !is_past(fetch->day, response->served_at))
		return PAGE_NOT_YET;
	source_set_status_error(status, message, error);
	return PAGE_FAILED;
}

/* Move the papers of a page that were not on an earlier one. */
static bool
add_new(struct fetch *fetch, GPtrArray *page, GError **error)
{
	guint before = fetch->listings->len;

	source_move_listings(page, fetch->listings, fetch->seen);
	if (fetch->listings->len > BOUNDS_PAPERS_BATCH)
		return pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
	return fetch->listings->len > before;
}

static enum page_end
read_page(struct fetch *fetch, const struct http_response *response, GError **error)
{
	g_autoptr(GPtrArray) page = NULL;
	g_autoptr(GError) failure = NULL;
	size_t elements = 0;
	bool has_new;

	page = huggingface_parse_page(response->body, fetch->day, &elements, &failure);
	if (!page) {
		g_autofree char *message = huggingface_parse_error(response->body);

		if (message)
			return refuse(fetch, response, error);
		pb_error_forward(error, &failure);
		return PAGE_FAILED;
	}
	has_new = add_new(fetch, page, &failure);
	if (!pb_error_forward(error, &failure))
		return PAGE_FAILED;
	if (fetch->pages == 0)
		fetch->etag = g_strdup(response->etag);
	else
		g_clear_pointer(&fetch->etag, g_free);
	/* A full page without new papers comes from a mirror without paging. */
	if (fetch->self->is_directory || elements < PAGE_LIMIT || !has_new)
		return PAGE_LAST;
	return PAGE_MORE;
}

static enum page_end
fetch_page(struct fetch *fetch, const char *etag, GError **error)
{
	g_autofree char *url = make_url(fetch->self, fetch->day, fetch->pages);
	g_autoptr(GError) failure = NULL;
	pb_local(http_response) response = {0};
	enum page_end end;

	if (!http_get(fetch->http, url, etag, &response, &failure)) {
		if (fetch->self->is_directory &&
		    g_error_matches(failure, PB_ERROR, PB_ERROR_NOT_FOUND))
			return source_check_directory(fetch->self->base_url, error)
			           ? PAGE_NOT_YET
			           : PAGE_FAILED;
		pb_error_forward(error, &failure);
		return PAGE_FAILED;
	}
	if (response.status == 200)
		end = read_page(fetch, &response, error);
	else if (response.status == 304 && etag)
		end = PAGE_NOT_MODIFIED;
	else
		end = refuse(fetch, &response, error);
	*fetch->retry_after_s = response.retry_after_s;
	return end;
}

static enum page_end
fetch_pages(struct fetch *fetch, const char *etag, GError **error)
{
	enum page_end end = PAGE_MORE;

	while (end == PAGE_MORE) {
		if (fetch->pages == BOUNDS_PAGES_BATCH) {
			pb_fail(error, PB_ERROR_LIMIT, "the day has more than %d pages",
			    BOUNDS_PAGES_BATCH);
			return PAGE_FAILED;
		}
		end = fetch_page(fetch, fetch->pages == 0 ? etag : NULL, error);
		fetch->pages++;
	}
	return end;
}

static bool
fetch_day(struct source *source, struct http *http, const char *day, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct huggingface *self = (struct huggingface *)source;
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	struct fetch fetch = {
	    .self = self,
	    .http = http,
	    .day = day,
	    .listings = listings,
	    .seen = seen,
	    .retry_after_s = &answer->retry_after_s,
	};
	enum page_end end;

	answer->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	end = fetch_pages(&fetch, etag, error);
	switch (end) {
	case PAGE_FAILED:
	case PAGE_MORE:
		g_free(fetch.etag);
		return false;
	case PAGE_NOT_MODIFIED:
		answer->status = SOURCE_NOT_MODIFIED;
		answer->etag = g_strdup(etag);
		break;
	case PAGE_NOT_YET:
		answer->status = SOURCE_NOT_YET;
		break;
	case PAGE_LAST:
		source_answer_set_listings(answer, g_steal_pointer(&listings));
		answer->etag = fetch.etag;
		break;
	}
	return true;
}

static bool
parse(struct source *source, GBytes *json, const char *url,
    struct source_answer *answer, GError **error)
{
	size_t elements;
	GPtrArray *listings =
	    huggingface_parse_page(json, answer->day, &elements, error);

	(void)source, (void)url;
	if (!listings)
		return false;
	source_answer_set_listings(answer, listings);
	return true;
}

static void
huggingface_free(struct source *source)
{
	struct huggingface *self = (struct huggingface *)source;

	g_free(self->name);
	g_free(self->base_url);
	g_free(self);
}

struct source *
huggingface_new(const struct source_options *options)
{
	struct huggingface *self = g_new0(struct huggingface, 1);

	self->name = g_strdup(options->name);
	self->source = (struct source){
	    .name = self->name,
	    .label = strcmp(self->name, "hf") ? self->name : "Hugging Face",
	    .kind = SOURCE_BY_DAY,
	    .expected_by = EXPECTED_BY,
	    .fetch_day = fetch_day,
	    .parse = parse,
	    .free = huggingface_free,
	};
	self->source.url = self->base_url = source_format_base(options->url, URL);
	self->is_directory = g_str_has_prefix(self->base_url, "file:");
	return &self->source;
}
