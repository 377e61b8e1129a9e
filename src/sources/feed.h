/*
 * feed.h - any RSS or Atom feed as a source.
 *
 * A feed lists the newest papers and has no date itself.  An entry that names an arXiv
 * id or a DOI is that paper; others are identified by link, guid, or feed and title
 * (paperboyd(8)).
 */
#pragma once

#include "sources/feed_xml.h"
#include "sources/source.h"

/**
 * Convert a feed to listings.  Entries without title or link are left out.
 *
 * @param name   of the feed
 * @param today  used for entries without a date or with a future one
 * @return of struct listing *, distinct papers, each dated by its entry
 */
GPtrArray *feed_source_make_listings(
    const struct feed_xml *feed, const char *name, const char *today);

/**
 * Create the source.
 *
 * @param options  url may be a file: if the http handle allows files
 * @return to be freed by source_free()
 */
struct source *feed_source_new(const struct source_options *options);
