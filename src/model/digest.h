/*
 * digest.h - one edition for one person, frozen: what is in it and why.
 */
#ifndef PAPERBOY_MODEL_DIGEST_H
#define PAPERBOY_MODEL_DIGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "model/paper.h"
#include "model/preferences.h"

/* Days for which a paper is eligible for digests after it was last listed. */
#define DIGEST_ELIGIBLE_DAYS 30

/* Days that the first digest of a new filter covers. */
#define DIGEST_FIRST_DAYS 3

/* How a paper stands in a digest. */
enum digest_detail {
	DIGEST_DETAIL_FULL = 0,  /* with authors, reasons, abstract */
	DIGEST_DETAIL_TITLE = 1, /* past the person's max: one line */
	DIGEST_DETAIL_COUNT = 2, /* past that: counted only */
};

/* One filter of the person that found the paper. */
struct digest_reason {
	char *filter; /* the filter's name, or its canonical text */
	char *words;  /* what it hit, for a reader: "diffusion, \"state space\" in the
	                 title" */
};

struct digest_entry {
	struct paper *paper; /* owned */
	char day[DAY_BYTES]; /* the day it was listed, YYYY-MM-DD */
	int64_t upvotes;     /* as it was when the digest was made, or PAPER_UNKNOWN */
	enum digest_detail shown;
	GPtrArray *reasons; /* of struct digest_reason *; never empty */
};

/* Chosen by the subscriber, and frozen when the digest is built. */
struct digest_style {
	enum preference_abstract abstract;
	enum preference_format format;
	enum preference_attach attach;
	char language[3]; /* "de"; "" for that of the settings */
};

struct digest {
	int64_t id;
	int64_t subscriber_id;
	int64_t subscriber_since; /* when that row was made, s: its tokens hang on it */
	char *slot; /* "2026-11-21T07:30" in the person's zone, or "first-SECONDS" */
	/* A keyed hash of subscriber, slot and papers, so that the same digest that is
	 * built again has the same Message-ID; NULL in a preview. */
	char *message_token;
	char date[DAY_BYTES]; /* local date it is for, YYYY-MM-DD */
	int64_t created_at;   /* s since the epoch, UTC */
	char *recipient;      /* addr-spec, valid */
	char *recipient_name; /* may be NULL */
	char *coverage;       /* which lists it is made of, in one line; "" or NULL */
	struct digest_style style;
	bool is_note;       /* that there is nothing new: without entries */
	GPtrArray *entries; /* of struct digest_entry *, in reading order */
};

struct digest_reason *digest_reason_new(const char *filter, const char *words);
void digest_reason_free(struct digest_reason *reason);

/** Allocate an entry without reasons. @param paper taken */
struct digest_entry *digest_entry_new(struct paper *paper, const char *day);
void digest_entry_free(struct digest_entry *entry);

struct digest *digest_new(void);
void digest_free(struct digest *digest);
PB_DEFINE_AUTO(digest, digest_free);

#endif
