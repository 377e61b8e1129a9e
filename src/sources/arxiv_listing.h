/*
 * arxiv_listing.h - papers from arXiv's feeds and API responses.
 *
 * https://info.arxiv.org/help/rss.html and
 * https://info.arxiv.org/help/api/user-manual.html
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "model/paper.h"
#include "sources/feed_xml.h"

/**
 * Convert the feed of a category, RSS or Atom, to listings.
 *
 * Versions are taken from the guid; the head of the abstract ("arXiv:... Announce Type:
 * ... Abstract:") is removed; authors are split, without affiliations.  Categories keep
 * the feed's order, the primary one first.
 *
 * @param day  of the list
 * @return of struct listing *, distinct papers (new before cross before replace); NULL
 *         with PB_ERROR_INPUT if an entry is not one of arXiv's
 */
GPtrArray *
arxiv_listing_from_feed(const struct feed_xml *feed, const char *day, GError **error);

/**
 * Convert an API response to listings, with all fields; the primary category is first.
 *
 * @return of struct listing *, as new on the day of their first version; NULL with
 *         PB_ERROR_PERMANENT and arXiv's message if the response is an error
 */
GPtrArray *arxiv_listing_from_api(const struct feed_xml *feed, GError **error);

/**
 * Split dc:creator: names separated by commas, affiliations in parentheses, which may
 * contain commas too.
 *
 * @param authors  of char *; normalised names are appended
 */
void arxiv_listing_split_authors(const char *text, GPtrArray *authors);
