/*
 * source.c - interface of the sources of papers.
 */
#include "sources/source.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "net/http_file.h"

/* Maximum number of papers in a lookup, and of bytes of their identities: Europe PMC
 * takes queries of 1,500 characters. */
#define LOOKUP_PAPERS 100
#define LOOKUP_BYTES  1400

void
source_answer_init(struct source_answer *answer)
{
	*answer = (struct source_answer){.retry_after_s = HTTP_RETRY_AFTER_UNKNOWN};
}

void
source_answer_clear(struct source_answer *answer)
{
	g_clear_pointer(&answer->listings, g_ptr_array_unref);
	g_clear_pointer(&answer->etag, g_free);
	source_answer_init(answer);
}

static int
compare_ids(const void *left, const void *right)
{
	const struct listing *const *a = left;
	const struct listing *const *b = right;

	return strcmp((*a)->paper->id, (*b)->paper->id);
}

void
source_answer_set_listings(struct source_answer *answer, GPtrArray *listings)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new(listings->len);

	for (guint i = 0; i < listings->len; i++)
		g_ptr_array_add(sorted, g_ptr_array_index(listings, i));
	g_ptr_array_sort(sorted, compare_ids);
	for (guint i = 0; i < sorted->len; i++) {
		const struct listing *listing = g_ptr_array_index(sorted, i);

		g_checksum_update(checksum, (const guchar *)listing->paper->id, -1);
		g_checksum_update(checksum, (const guchar *)"\n", 1);
	}
	g_strlcpy(answer->ids_sha256, g_checksum_get_string(checksum),
	    sizeof(answer->ids_sha256));
	answer->count = listings->len;
	answer->status = listings->len > 0 ? SOURCE_OK : SOURCE_EMPTY;
	if (listings->len > 0)
		answer->listings = listings;
	else
		g_ptr_array_unref(listings);
}

static bool
check_day(const char *day, GError **error)
{
	if (day_is_valid(day))
		return true;
	return pb_fail(
	    error, PB_ERROR_INPUT, "'%s' is not a date (expected YYYY-MM-DD)", day);
}

bool
source_fetch_day(struct source *source, struct http *http, const char *day,
    const char *etag, struct source_answer *answer, GError **error)
{
	if (!check_day(day, error))
		return false;
	if (!source->fetch_day)
		return pb_fail(error, PB_ERROR_INPUT,
		    "source %s does not support past days", source->name);
	g_strlcpy(answer->day, day, sizeof(answer->day));
	return source->fetch_day(source, http, day, etag, answer, error);
}

bool
source_poll(struct source *source, struct http *http, const char *today,
    const char *etag, struct source_answer *answer, GError **error)
{
	if (!check_day(today, error))
		return false;
	g_strlcpy(answer->day, today, sizeof(answer->day));
	return source->poll(source, http, today, etag, answer, error);
}

bool
source_fetch_current(struct source *source, struct http *http, const char *day,
    struct source_answer *answer, GError **error)
{
	return source->poll ? source_poll(source, http, day, NULL, answer, error)
	                    : source_fetch_day(source, http, day, NULL, answer, error);
}

bool
source_get(struct source *source, struct http *http, const char *url, const char *etag,
    struct source_answer *answer, GError **error)
{
	pb_local(http_response) response = {0};

	if (!http_get(http, url, etag, &response, error))
		return false;
	answer->retry_after_s = response.retry_after_s;
	if (response.status == 304 && etag) {
		answer->status = SOURCE_NOT_MODIFIED;
		answer->etag = g_strdup(etag);
		return true;
	}
	if (response.status != 200) {
		if (source->set_error)
			source->set_error(source, &response, error);
		else
			source_set_status_error(response.status, NULL, error);
		return false;
	}
	if (!source->parse(source, response.body, response.final_url, answer, error))
		return false;
	answer->etag = g_steal_pointer(&response.etag);
	return true;
}

void
source_set_status_error(int status, const char *message, GError **error)
{
	enum pb_error code = PB_ERROR_PERMANENT;

	if (status == 429 || status == 408 || status >= 500)
		code = PB_ERROR_TEMPORARY;
	else if (status == 200)
		code = PB_ERROR_INPUT;

	pb_fail(error, code, "the source responded with status %d%s%s", status,
	    message ? ": " : "", message ? message : "");
}

GString *
source_lookup_format(struct source_lookup *lookup, const GPtrArray *papers,
    void (*append)(const struct paper *paper, GString *text))
{
	GString *text = g_string_new(NULL);

	lookup->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	lookup->is_complete = true;
	for (lookup->count = 0; lookup->at + lookup->count < papers->len;
	     lookup->count++) {
		gsize before = text->len;

		append(papers->pdata[lookup->at + lookup->count], text);
		if (lookup->count &&
		    (lookup->count == LOOKUP_PAPERS || text->len > LOOKUP_BYTES)) {
			g_string_truncate(text, before);
			break;
		}
	}
	return text;
}

bool
source_read_day(struct source *source, const char *path, const char *day,
    struct source_answer *answer, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	g_autofree char *url = g_filename_to_uri(absolute, NULL, error);
	g_autoptr(GBytes) body = NULL;

	if (!url || !check_day(day, error))
		return false;
	body = http_file_read(url, BOUNDS_HTTP_BODY_BYTES, error);
	if (!body)
		return false;
	g_strlcpy(answer->day, day, sizeof(answer->day));
	if (!source->parse(source, body, NULL, answer, error)) {
		g_prefix_error(error, "'%s': ", path);
		return false;
	}
	if (strcmp(answer->day, day) == 0)
		return true;
	pb_fail(error, PB_ERROR_INPUT, "'%s' is the list of %s, not of %s", path,
	    answer->day, day);
	source_answer_clear(answer);
	return false;
}

/* Keep the newer version in a place of a list. @param listing taken */
static void
merge_listing(GPtrArray *to, guint i, GHashTable *seen, struct listing *listing)
{
	struct listing *kept = to->pdata[i];
	enum listing_type listing_type = MIN(listing->listing_type, kept->listing_type);

	if (listing->version > kept->version) {
		struct listing *older = kept;

		to->pdata[i] = kept = listing;
		listing = older;
		/* The key is freed with the older version. */
		g_hash_table_replace(seen, kept->paper->id, GUINT_TO_POINTER(i));
	}
	kept->listing_type = listing_type;
	listing_free(listing);
}

void
source_move_listings(GPtrArray *from, GPtrArray *to, GHashTable *seen)
{
	for (guint i = 0; i < from->len; i++) {
		struct listing *listing = g_steal_pointer(&from->pdata[i]);
		void *at;

		if (g_hash_table_lookup_extended(seen, listing->paper->id, NULL, &at)) {
			merge_listing(to, GPOINTER_TO_UINT(at), seen, listing);
			continue;
		}
		g_hash_table_insert(
		    seen, listing->paper->id, GUINT_TO_POINTER(to->len));
		g_ptr_array_add(to, listing);
	}
	g_ptr_array_set_size(from, 0);
}

GPtrArray *
source_merge_listings(GPtrArray *listings)
{
	GPtrArray *merged =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	source_move_listings(listings, merged, seen);
	g_ptr_array_unref(listings);
	return merged;
}

bool
source_check_directory(const char *url, GError **error)
{
	g_autofree char *directory = g_filename_from_uri(url, NULL, NULL);

	if (!directory || g_file_test(directory, G_FILE_TEST_IS_DIR))
		return true;
	return pb_fail(error, PB_ERROR_TEMPORARY, "no such directory '%s'", directory);
}

char *
source_format_base(const char *url, const char *usual)
{
	size_t length = strlen(url);

	while (length > 0 && url[length - 1] == '/')
		length--;
	return length ? g_strndup(url, length) : g_strdup(usual);
}

void
source_free(struct source *source)
{
	if (!source)
		return;
	source_free(source->fallback);
	source->free(source);
}
