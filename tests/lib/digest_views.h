/*
 * digest_views.h - tables of what digests contain, for the SQL of tests.
 *
 *   digest_item (digest_id, position, paper_seq, day, upvotes, upvotes_before, stars,
 *     venue, shown, reasons, replacement): a row for each paper; reasons are lines of
 *     filter, tab, hits
 *   digest_head (id, coverage, notices, filters): filters are lines of number, papers,
 *     label and query, with tabs between them
 *   delivered_paper (subscriber_id, paper_seq, replacement, digest_id, at): a row for
 *     each delivered paper; an INSERT adds it to those of the digest
 *
 * They are temporary tables, for SQL has no functions of ours on a server.
 * tests/lib/digest_views.py is a second implementation.
 */
#pragma once

#include "model/digest.h"
#include "store/core/store.h"

/** Fill the tables if SQL that is about to run uses one. */
void digest_views_load(struct store *store, const char *sql);

/** Save the delivered papers that the SQL has inserted. */
void digest_views_save(struct store *store, const char *sql);

/** Change the detail of all papers of all digests. */
void digest_views_set_shown(struct store *store, enum digest_detail shown);
