/*
 * arxiv_listing.h - arXiv's feeds and the answers of its API become papers.
 *
 * https://info.arxiv.org/help/rss.html and
 * https://info.arxiv.org/help/api/user-manual.html
 */
#ifndef PAPERBOY_SOURCES_ARXIV_LISTING_H
#define PAPERBOY_SOURCES_ARXIV_LISTING_H

#include <glib.h>
#include <stdbool.h>

#include "model/paper.h"
#include "sources/feed_xml.h"

/**
 * Make listings of a category's feed, RSS or Atom.
 *
 * Versions come from the guid; the head of an abstract ("arXiv:... Announce Type: ...
 * Abstract:") goes; authors are cut apart, without their affiliations.  Categories
 * are in the feed's order, in which the primary one is the first.
 *
 * @param day  of the list
 * @return of struct listing *, a paper once (new before cross before replace); NULL
 *         with PB_ERROR_INPUT when an entry is none of arXiv's
 */
GPtrArray *
arxiv_listing_make(const struct feed_xml *bulletin, const char *day, GError **error);

/**
 * Make papers of an answer of the API: every field is told, and each category with the
 * primary one first.
 *
 * @return of struct listing *, as new on the day of their first version; NULL with
 *         PB_ERROR_PERMANENT and arXiv's words when the answer is an error
 */
GPtrArray *arxiv_listing_make_found(const struct feed_xml *bulletin, GError **error);

/**
 * Cut apart what dc:creator holds: commas between people, affiliations in parentheses
 * that may have commas too.
 *
 * @param authors  of char *: normalised names are appended
 */
void arxiv_listing_split_authors(const char *text, GPtrArray *authors);

#endif
