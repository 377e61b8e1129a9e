/*
 * paper.h - one paper as paperboy knows it, and its listing by a source.
 *
 * Text is normalised (base/text.h): one line of valid UTF-8, NFC, TeX accents
 * decoded, white space collapsed, no control characters.  Nothing here does
 * I/O.
 */
#ifndef PAPERBOY_MODEL_PAPER_H
#define PAPERBOY_MODEL_PAPER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"

/* A number or a time that no source has told yet. */
#define PAPER_UNKNOWN ((int64_t)-1)

/* As what a source announced a paper. */
enum listing_type {
	LISTING_NEW,
	LISTING_CROSS,         /* new, and of another category in the first place */
	LISTING_REPLACE,       /* a new version */
	LISTING_REPLACE_CROSS, /* a new version of a cross-list */
};

/* Source of title and abstract; a higher rank replaces a lower one. */
enum paper_source_rank {
	PAPER_SOURCE_RANK_FEED,
	PAPER_SOURCE_RANK_HF,
	PAPER_SOURCE_RANK_ARXIV
};

/* Where a paper was listed: one source, one day. */
struct paper_listing {
	char *source;        /* "hf" */
	char day[DAY_BYTES]; /* YYYY-MM-DD, UTC */
	enum listing_type listing_type;
	/* Of the day on which the paper was first seen, or earlier, and learned on a
	 * later one. */
	bool is_late;
};

struct paper {
	unsigned shares; /* holders besides the first; with any, nobody changes it */
	char *id;        /* canonical (model/paper_id.h); never NULL */
	char *guid;      /* "SOURCE:what it calls the paper", or NULL */
	/* Names of an entry of a feed (model/paper_id.h), or NULL. */
	char *link;      /* "link=..." */
	char *entry_key; /* "post=SOURCE:..." */
	enum paper_source_rank source_rank;
	char *title;        /* never NULL, never empty */
	char *abstract;     /* never NULL; may be empty */
	GPtrArray *authors; /* of char *, in order, hidden ones left out; never NULL */
	char *url;          /* where a reader goes: http(s), validated; never NULL */
	int64_t published_at; /* s since the epoch, UTC, or PAPER_UNKNOWN */
	int64_t upvotes;      /* >= 0, or PAPER_UNKNOWN; may fall as well as rise */
	int64_t comments;     /* likewise */
	int64_t stars;        /* of the code repository; likewise */
	char *code_url;       /* http(s), validated, or NULL */
	char *project_url;    /* likewise */
	char *video_url;      /* likewise */
	char *organization;   /* display name, or NULL: not told */
	GPtrArray *keywords;  /* of char *, as the source gives them; NULL: not told */
	/* From arXiv.  While categories is NULL, the three texts are unknown too;
	 * afterwards NULL means none. */
	GPtrArray *categories; /* of char *, the primary one first: "cs.CL" */
	char *comment;
	char *journal;
	char *doi;        /* without https://doi.org/ */
	GArray *listings; /* of struct appearance, by day; empty before it is stored */
};

/* A source listed this paper on that day. */
struct listing {
	struct paper *paper; /* owned */
	char day[DAY_BYTES]; /* YYYY-MM-DD, UTC, as the source dates its list */
	enum listing_type listing_type;
	unsigned version; /* of the paper, from 1; 0: not told */
};

/** Allocate an empty paper: numbers unknown, no authors, the rest NULL. */
struct paper *paper_new(void);
void paper_free(struct paper *paper);

/**
 * Share a paper within one thread: from now on it is the same for all who hold it,
 * and that it is the same tells that its texts are.
 *
 * @return the paper, for one paper_free() more
 */
struct paper *paper_share(struct paper *paper);
PB_DEFINE_AUTO(paper, paper_free);

/** Note where a paper was listed. */
void paper_add_listing(struct paper *paper, const char *source, const char *day,
    enum listing_type listing_type);

/** "new", "cross", "replace", "replace-cross" */
const char *listing_type_name(enum listing_type listing_type);

/** The announcement with a name. @return false when there is none */
bool listing_type_parse(const char *name, enum listing_type *listing_type);

/**
 * Whether a paper is for a person at all: those listed as new somewhere are for
 * everybody, cross-lists and new versions for those who want them.
 *
 * @param wants_crosslist  the person's setting "crosslist"
 * @param wants_updates    the person's setting "updates"
 */
bool paper_matches_preferences(
    const struct paper *paper, bool wants_crosslist, bool wants_updates);

/** The last day on which it was listed so. @return NULL when it was not */
const char *paper_find_matching_day(
    const struct paper *paper, bool wants_crosslist, bool wants_updates);

/** Allocate a listing of a paper, as new. @param paper taken */
struct listing *listing_new(struct paper *paper, const char *day);
void listing_free(struct listing *listing);
PB_DEFINE_AUTO(listing, listing_free);

#endif
