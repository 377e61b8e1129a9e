/*
 * archive.h - index of all papers: full text, vocabulary, acronyms.
 *
 * `paper_fts` is a full-text index of titles, abstracts, authors, ids and other fields,
 * maintained by triggers.  `vocabulary` has each word of titles and abstracts, its
 * plural class and the number of papers that contain it; `acronym` has the long forms
 * that papers give for acronyms.  All are updated incrementally, in the transaction
 * that changes the paper.
 *
 * The functions work on store_get_archive().
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/eval/fts_query.h"
#include "query/eval/rank.h"
#include "store/core/store.h"
#include "store/paper/papers.h"

/**
 * Update the index for a paper, in the transaction that stores it.  Where the index is
 * in another store, archive_cache_refresh() does so later.
 *
 * @param old    NULL: the paper is new
 * @param fresh  NULL: the paper is deleted
 */
bool archive_index(struct store *store, const struct paper *old,
    const struct paper *fresh, GError **error);

/* A paper that may match a filter. */
struct archive_candidate {
	int64_t seq;
	int64_t upvotes; /* or PAPER_UNKNOWN */
	char day[11];    /* last listed */
};

/* Which papers to select. */
struct archive_selection {
	const struct fts_query *fts;
	const char *oldest_day;  /* skips papers last listed before; NULL: none */
	const struct rank *rank; /* for archive_find_best() */
	int64_t now;             /* for archive_find_best(): origin of ages, s */
	unsigned limit;          /* for archive_find_best(): maximum number of papers */
};

/**
 * Find the candidates of a filter with the best scores (query/eval/rank.h).
 *
 * The scores are computed by FTS5 from the words of its expression.  They are exact if
 * fts->is_match; else they are mostly upper bounds of the scores by rank_blend().
 *
 * @param found  set to the number of candidates, also of those beyond the limit
 * @return of struct archive_candidate, best first; without fts->expression the papers
 *         listed last
 */
GArray *archive_find_best(struct store *store,
    const struct archive_selection *selection, int64_t *found, GError **error);

/** Find the candidates, without a limit. @return of struct archive_candidate, those
 * stored last first */
GArray *archive_find_newest(
    struct store *store, const struct archive_selection *selection, GError **error);

/** Load the words of a plural class (model, models). @return of char *, maybe empty */
GPtrArray *archive_load_class(struct store *store, const char *folded, GError **error);

/**
 * Count the papers that contain a word or its plural; one with both may count twice.
 */
bool archive_count_class(
    struct store *store, const char *folded, int64_t *papers, GError **error);

/** Count the papers exactly; slower, for numbers shown to users. */
bool archive_count_papers(
    struct store *store, const char *folded, int64_t *papers, GError **error);

/** Count the papers of all words with a prefix; a paper counts once for each word. */
bool archive_count_prefix(
    struct store *store, const char *prefix, int64_t *papers, GError **error);

/** Count the papers listed on a day or later. */
bool archive_count_since(
    struct store *store, const char *day, int64_t *papers, GError **error);

/* Id and texts of a paper. */
struct archive_text {
	const char *id, *title, *abstract;
};

/** Load id and texts of a paper. @param text  set; NULL: it is gone; g_free() it */
bool archive_find_text(
    struct store *store, int64_t seq, struct archive_text **text, GError **error);

/**
 * Find the known word closest to an unknown one: one character wrong, missing or extra,
 * or two adjacent ones swapped, in a word of 4 or 5 characters, up to two of these
 * errors in one of 6 to 40, none in others; the most frequent of several at the same
 * distance.
 *
 * @param word  set to a new string; NULL: none is close enough
 */
bool archive_find_nearest(
    struct store *store, const char *folded, char **word, GError **error);

struct archive_acronym {
	const char *shown; /* a long form as written in a paper: "low-rank adaptation";
	                      a short form folded: "lora" */
	int64_t papers;    /* number of papers that define the pair */
};

/**
 * Load the long forms of an acronym, or the acronyms of a phrase.
 *
 * @return of struct archive_acronym *, the most frequent first, at most limit
 */
GPtrArray *archive_load_forms(
    struct store *store, const char *folded, unsigned limit, GError **error);

/** Number of papers, and the average length of their titles and abstracts. */
struct archive_size {
	int64_t papers;
	double title_words; /* words, average */
	double abstract_words;
};

bool archive_load_size(struct store *store, struct archive_size *size, GError **error);

/**
 * Compare the numbers of papers, of indexed papers and of counted papers; contents are
 * not read.  For the daily check and for doctor.
 *
 * @param problem  set to a new string; NULL: they agree
 */
bool archive_check_counts(struct store *store, char **problem, GError **error);

/** Rebuild the index from the papers, in a transaction of store_get_archive(). */
bool archive_rebuild(struct store *store, GError **error);
