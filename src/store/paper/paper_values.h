/*
 * paper_values.h - values of all papers, in memory.
 *
 * Searches look at these instead of reading papers.  Each part is read when the first
 * search of a handle needs it, and again after a paper has changed; 24 bytes for each
 * paper, then 40 for it and 16 for each listing.  Searches for few papers, or for the
 * last days, read only their votes, days and lengths.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_VALUES_H
#define PAPERBOY_STORE_PAPER_PAPER_VALUES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/hit.h"
#include "model/paper.h"
#include "store/core/store.h"

struct paper_value {
	int32_t day;     /* last listed, since the epoch; PAPER_VALUE_NONE: no paper */
	uint32_t date;   /* likewise, as date_read_day() */
	int64_t upvotes; /* or PAPER_UNKNOWN */
	uint16_t words[2]; /* in title and abstract, at most 65,535 */
};

#define PAPER_VALUE_NONE G_MININT32

/* Further values of a paper; all 0 for none. */
struct paper_details {
	int64_t first_seen_at;
	int64_t comments, stars; /* or PAPER_UNKNOWN */
	uint32_t categories;     /* index in texts; 0: not reported */
	uint32_t organization;   /* likewise */
	uint32_t authors;        /* number of authors */
	uint8_t links;           /* bits: code 1, project 2, video 4 */
};

/* A listing; several of one service on a day are one (struct paper_listing). */
struct paper_listed {
	uint32_t seq;
	uint32_t date;   /* as date_read_day() */
	uint32_t source; /* index in texts */
	uint8_t listing_type;
	bool is_late;
};

enum paper_part {
	PAPER_PART_DAYS = 1,           /* of values, and votes */
	PAPER_PART_WORDS = 2,          /* of values */
	PAPER_PART_TIMES = 4,          /* of details: first_seen_at */
	PAPER_PART_NUMBERS = 8,        /* of details: comments and stars */
	PAPER_PART_CATEGORIES = 16,    /* of details */
	PAPER_PART_ORGANIZATIONS = 32, /* of details */
	PAPER_PART_LINKS = 64,         /* of details, and the number of authors */
	PAPER_PART_LISTINGS = 128,     /* with times */
};

#define PAPER_PARTS 8

struct paper_values {
	GArray *values;   /* of struct paper_value, by seq */
	GArray *details;  /* of struct paper_details, by seq */
	GArray *listings; /* of struct paper_listed */
	GPtrArray *texts; /* of char *, distinct; the first is NULL */
	unsigned parts;   /* that were read of all papers */
	/* Private. */
	int64_t from[PAPER_PARTS]; /* parts were read of papers from this seq on */
	int32_t since;    /* votes and days of papers last listed on it or later, too */
	int64_t revision; /* the newest one of papers ... */
	int64_t changes;  /* and of updates and deletions, when they were read */
};

/**
 * Get the values of papers, in a transaction.
 *
 * @param parts      bits of enum paper_part; others may be missing
 * @param least_seq  papers before it may look as if there were none
 * @return the store's, until papers have changed; NULL on error
 */
const struct paper_values *paper_values_load(
    struct store *store, unsigned parts, int64_t least_seq, GError **error);

/**
 * Likewise, the votes and days of the papers last listed on a day or later; others may
 * look as if there were none.
 *
 * @param oldest  the day; as in struct paper_value
 */
const struct paper_values *
paper_values_load_since(struct store *store, int32_t oldest, GError **error);

/** Likewise, the votes, days and numbers of words of some papers. @param seqs  int64_t
 */
const struct paper_values *
paper_values_load_some(struct store *store, const GArray *seqs, GError **error);

/**
 * Find the first of the papers last listed on a day or later.
 *
 * @param oldest  the day; as in struct paper_value
 * @param few     skips at most so many of them that are far before the others
 * @return index in the values; their number for none
 */
guint paper_values_find_first(
    const struct paper_values *paper_values, int32_t oldest, unsigned few);

/** Called with a field of a paper that has it. */
typedef void (*paper_values_found)(void *data, int64_t seq, const char *text);

/**
 * Call a function for a field of each paper that has it.
 *
 * @param field      keywords (one per line), comment, journal, id or DOI
 * @param least_seq  skips papers before it
 */
bool paper_values_foreach(struct store *store, enum hit_field field, int64_t least_seq,
    paper_values_found found, void *data, GError **error);

#endif
