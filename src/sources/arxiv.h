/*
 * arxiv.h - one category of arXiv's daily announcements as a source.
 *
 * https://rss.arxiv.org/rss/CATEGORY, rebuilt at midnight US Eastern with the list of
 * that day alone; empty on week-ends and arXiv's holidays.  arXiv's terms ask for three
 * seconds between requests and one connection
 * (https://info.arxiv.org/help/api/tou.html).
 */
#ifndef PAPERBOY_SOURCES_ARXIV_H
#define PAPERBOY_SOURCES_ARXIV_H

#include "sources/source.h"

#define ARXIV_FEED_URL "https://rss.arxiv.org"
#define ARXIV_API_URL  "https://export.arxiv.org"
#define ARXIV_GAP_MS   3000
#define ARXIV_IDS      100 /* in one question */

/** Whether it can be the name of a category or an archive: "cs.CL", "hep-th", "cs". */
bool arxiv_is_category(const char *text);

/* Texts are copied. */
struct arxiv_options {
	const char *feed_url; /* ARXIV_FEED_URL or a mirror, to which `/rss/CATEGORY` is
	                         appended; file:///folder has CATEGORY.xml in it */
	const char *api_url; /* ARXIV_API_URL or a mirror, for days that have gone by */
	int64_t gap_ms;      /* before each request */
};

/**
 * Make the source of one category.
 *
 * Its days are those of the feeds.  A day that has gone by is asked of the API: what
 * was submitted in the day's window (14:00 to 14:00 Eastern, Friday's to Monday's for a
 * Tuesday), which is what was announced then but for arXiv's holidays.
 *
 * @param category  that arxiv_is_category() takes; copied
 * @return named "arxiv/CATEGORY"; free with source_free()
 */
struct source *arxiv_new(const struct arxiv_options *options, const char *category);

/**
 * Ask the API what it knows of papers.
 *
 * @param ids  of char *, arXiv ids; at most ARXIV_IDS of them are asked about
 * @return of struct listing *, those that it knows; NULL with an error as of
 *         source_fetch_day()
 */
GPtrArray *arxiv_find(struct http *http, const struct arxiv_options *options,
    const GPtrArray *ids, int64_t *retry_after_s, GError **error);

#endif
