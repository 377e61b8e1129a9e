/*
 * digest.h - the digest of one subscriber for one slot, as stored.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/hit.h"
#include "model/paper.h"
#include "model/preferences.h"

/* Days for which a paper is eligible for digests after it was last listed. */
#define DIGEST_ELIGIBLE_DAYS 30

/* Days for which the papers delivered to a subscriber are stored: the article of a
 * preprint may appear years later, and is not mailed again.  Each digest reads those of
 * DIGEST_RECENT_DAYS, which are longer than DIGEST_ELIGIBLE_DAYS since the clock may
 * have been wrong; older ones are read only for papers that were first seen before
 * DIGEST_ELIGIBLE_DAYS, or have other records. */
#define DIGEST_DELIVERED_DAYS (3 * 365)
#define DIGEST_RECENT_DAYS    60

/* Days that the first digest of a new filter covers. */
#define DIGEST_FIRST_DAYS 3

/* Level of detail of a paper in a digest. */
enum digest_detail {
	DIGEST_DETAIL_FULL = 0,  /* authors, reasons and abstract */
	DIGEST_DETAIL_TITLE = 1, /* beyond the subscriber's max: one line */
	DIGEST_DETAIL_COUNT = 2, /* beyond that: only counted */
};

/* A filter that matched the paper. */
struct digest_reason {
	GPtrArray *hits; /* of struct hit *, by field */
	char filter[];   /* the filter's name, or its canonical text */
};

struct digest_entry {
	struct paper *paper; /* owned */
	char day[DAY_BYTES]; /* when it was listed, YYYY-MM-DD */
	/* At the time of the build, or PAPER_UNKNOWN. */
	int64_t upvotes;
	int64_t upvotes_before; /* the last number of the day before */
	int64_t stars;
	char *venue; /* journal, else primary category, or NULL */
	enum digest_detail shown;
	GPtrArray *reasons; /* of struct digest_reason *; never empty; first the filter
	                     * that the paper counts for */
};

/* A filter that matched papers of the digest. */
struct digest_filter {
	int number;
	unsigned papers;   /* that it matched */
	const char *label; /* as in the reasons */
	const char *query; /* as typed */
};

/* Chosen by the subscriber, and frozen when the digest is built. */
struct digest_style {
	enum preference_feedback feedback;
	enum preference_abstract abstract;
	enum preference_format format;
	enum preference_attach attach;
	enum preference_group group;
	enum preference_order order;
	bool is_failed;   /* no source answered: without papers it is no quiet day */
	bool is_event;    /* something became of papers that were sent or are watched */
	char language[3]; /* "de"; "" for the configured default */
};

struct digest {
	int64_t id;
	int64_t subscriber_id;
	int64_t subscriber_since; /* creation of that row, s; part of its tokens */
	char
	    *slot; /* "2026-11-21T07:30" in the subscriber's zone, or "first-SECONDS" */
	/* Keyed hash of subscriber, slot and papers: rebuilding the same digest gives
	 * the same Message-ID.  NULL in a preview. */
	char *message_token;
	char date[DAY_BYTES]; /* local date, YYYY-MM-DD */
	int64_t created_at;   /* s since the epoch, UTC */
	char *recipient;      /* addr-spec, valid */
	char *recipient_name; /* may be NULL */
	char *coverage;       /* one line that names the lists included; "" or NULL */
	char *notices;        /* what is unusual, a line each; "" or NULL */
	struct digest_style style;
	bool is_note;       /* "nothing new" notice without entries */
	GPtrArray *filters; /* of struct digest_filter *, in the order of `list` */
	GPtrArray *entries; /* of struct digest_entry *, in reading order */
};

/** Allocate a reason. @param hits  taken */
struct digest_reason *digest_reason_new(const char *filter, GPtrArray *hits);

/** Allocate an entry without reasons. @param paper taken */
struct digest_entry *digest_entry_new(struct paper *paper, const char *day);

struct digest *digest_new(void);

/** Append a filter to a digest. @param filter  copied */
void digest_add_filter(struct digest *digest, const struct digest_filter *filter);
void digest_free(struct digest *digest);
PB_DEFINE_AUTO(digest, digest_free);
