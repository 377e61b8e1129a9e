/*
 * arxiv.h - source: the daily announcements of one arXiv category.
 *
 * https://rss.arxiv.org/rss/CATEGORY, rebuilt at midnight US Eastern with the list of
 * that day; empty on weekends and arXiv holidays.  The terms of use ask for one
 * connection and three seconds between requests
 * (https://info.arxiv.org/help/api/tou.html).
 */
#pragma once

#include "sources/source.h"

#define ARXIV_REQUEST_INTERVAL_MS 3000
#define ARXIV_IDS_MAX             100 /* in one request */

/** Whether a text has the form of a category or archive: "cs.CL", "hep-th", "cs". */
bool arxiv_is_category(const char *text);

/* Texts are copied. */
struct arxiv_options {
	const char
	    *feed_url;       /* ARXIV_FEED_URL or a mirror, followed by `/rss/CATEGORY`;
	                        or file:///DIRECTORY with CATEGORY.xml in it */
	const char *api_url; /* ARXIV_API_URL or a mirror, for past days */
	int64_t request_interval_ms; /* before each request */
};

/**
 * Create the source of one category.
 *
 * Days are those of the feed.  Past days are requested from the API by submission time
 * (14:00 to 14:00 Eastern, Friday to Monday for a Tuesday), which matches the
 * announcements except around arXiv holidays.
 *
 * @param category  valid for arxiv_is_category(); copied
 * @return named "arxiv/CATEGORY"; to be freed by source_free()
 */
struct source *arxiv_new(const struct arxiv_options *options, const char *category);

/**
 * Look up papers by the API.
 *
 * @param ids  of char *, arXiv ids; the first ARXIV_IDS_MAX are used
 * @return of struct listing *, the papers found; NULL with an error as of
 *         source_fetch_day()
 */
GPtrArray *arxiv_find(struct http *http, const struct arxiv_options *options,
    const GPtrArray *ids, int64_t *retry_after_s, GError **error);
