/*
 * showing.h - papers that are shown to filters, and what is recorded of it.
 *
 * The papers of some revisions, made ready once for all filters.  A showing is between
 * commits: the caller's transaction holds what is recorded and how far it came.
 */
#ifndef PAPERBOY_SERVICE_SHOWING_H
#define PAPERBOY_SERVICE_SHOWING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/bulk.h"
#include "service/match.h"
#include "store/papers.h"
#include "store/store.h"

/* When a run is, and from when on the last word on what waits may be spoken. */
struct showing_moment {
	int64_t now;
	int64_t trusted_at;
};

/* The digits of a number, a comma and a zero octet. */
#define SHOWING_SEQ_BYTES 24

/* A paper made ready for many filters. */
struct showing_paper {
	struct query_document *document;
	struct stored_paper *stored;
	char seq[SHOWING_SEQ_BYTES]; /* stored->seq in digits, a comma behind */
	int seq_len;
};

struct showing {
	GPtrArray *papers; /* of struct showing_paper *; NULL: none was loaded */
	struct bulk *bulk;
	GArray *found;        /* of struct matches_found, to be written together */
	GString *found_texts; /* their papers, a zero octet behind each */
	int64_t after; /* the papers are those of the revisions in (after, through] */
	int64_t through;
	struct showing_moment moment;
};

/** Zeroed memory is an empty one. */
void showing_clear(struct showing *showing);

#define showing_auto __attribute__((cleanup(showing_clear))) struct showing

/**
 * Load the papers of the revisions in (after, newest] that somebody may still get, the
 * first BULK_PAPERS of them; through is set to how far that goes.
 */
bool showing_load(struct showing *showing, struct store *store, int64_t after,
    int64_t newest, const struct showing_moment *moment, GError **error);

/* A filter, and what it is to be shown. */
struct showing_filter {
	int64_t id;
	const char *canonical;
	struct bulk_mask papers;
	bool is_new_to_them; /* it has seen no paper that was not revised */
};

/** Show papers to a filter and record what it makes of them; what it found may be kept
 * back until showing_flush(). @param report added to */
bool showing_show(struct showing *showing, struct store *store,
    const struct showing_filter *filter, struct match_report *report, GError **error);

/** Write what was kept back: to be called before every commit. */
bool showing_flush(struct showing *showing, struct store *store, GError **error);

/** Make a paper ready. @return NULL with PB_ERROR_TEMPORARY */
struct query_document *
showing_make_document(struct store *store, const struct stored_paper *stored,
    const struct showing_moment *moment, GError **error);

/** Record that a filter waits. @param query  the filter */
bool showing_save_waiting(struct store *store, int64_t filter_id,
    const struct query *query, const struct stored_paper *stored,
    const struct showing_moment *moment, GError **error);

/** Record that a filter that waited has found a paper after all. */
bool showing_save_decided(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, int64_t now, GError **error);

#endif
