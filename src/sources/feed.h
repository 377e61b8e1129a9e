/*
 * feed.h - any RSS or Atom feed as a source.
 *
 * A feed is a window onto the newest papers, without a day of its own.  An entry that
 * names an arXiv paper or a DOI is that paper; any other is known
 * by its link, its guid, or its feed and title (paperboyd(8)).
 */
#ifndef PAPERBOY_SOURCES_FEED_H
#define PAPERBOY_SOURCES_FEED_H

#include "sources/feed_xml.h"
#include "sources/source.h"

/** Whether it can be a feed's name: letters of a to z, digits and hyphens, no source's
 * own. */
bool feed_source_is_name(const char *text);

/**
 * Make papers of a feed: an entry without title or link is left out.
 *
 * @param name   of the feed
 * @param today  the day of entries without a date, and of those of days to come
 * @return of struct listing *, a paper once, each dated by its entry
 */
GPtrArray *
feed_source_make(const struct feed_xml *bulletin, const char *name, const char *today);

/**
 * Make the source.
 *
 * @param name  that feed_source_is_name() takes; copied
 * @param url   of the feed; file: where the http handle allows files; copied
 * @return free with source_free()
 */
struct source *feed_source_new(const char *name, const char *url);

#endif
