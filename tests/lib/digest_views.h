/*
 * digest_views.h - views of what digests contain, for the SQL of tests.
 *
 *   digest_item (digest_id, position, paper_seq, day, upvotes, upvotes_before, stars,
 *     venue, shown, reasons, replacement): a row for each paper; reasons are lines of
 *     filter, tab, hits
 *   digest_head (id, coverage, notices, filters): filters are lines of number, papers,
 *     label and query, with tabs between them
 *   delivered_paper (subscriber_id, paper_seq, replacement, digest_id, at): a row for
 *     each delivered paper; an INSERT adds it to those of the digest
 *
 * tests/lib/digest_views.py is a second implementation.
 */
#ifndef PAPERBOY_TESTS_LIB_DIGEST_VIEWS_H
#define PAPERBOY_TESTS_LIB_DIGEST_VIEWS_H

#include <sqlite3.h>

/** Create the views as temporary ones of a handle. */
void digest_views_create(sqlite3 *db);

#endif
