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

/**
 * Create the source of one category.
 *
 * Days are those of the feed.  Past days are requested from the API by submission time
 * (14:00 to 14:00 Eastern, Friday to Monday for a Tuesday), which matches the
 * announcements except around arXiv holidays.
 *
 * @param options  with one category; url is followed by `/rss/CATEGORY`, or is
 *                 file:///DIRECTORY with CATEGORY.xml in it; api_url is for past days
 * @return named "NAME/CATEGORY"; to be freed by source_free()
 */
struct source *arxiv_new(const struct source_options *options);

/** Look up papers by the API. @param options  with url and request_interval_ms */
source_find_fn arxiv_find;

/** Find those of the papers that are among the last ones with a new version. */
source_find_fn arxiv_find_versions;
