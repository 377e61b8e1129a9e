/*
 * archive.h - index of all papers: full text, vocabulary, acronyms.
 *
 * `paper_fts` is a full-text index of title, abstract and authors, maintained by
 * triggers.  `word` has each word of titles and abstracts, its plural class and the
 * number of papers that contain it; `acronym` has the long forms that papers give for
 * acronyms.  All are updated incrementally, in the transaction that changes the paper.
 */
#ifndef PAPERBOY_STORE_PAPER_ARCHIVE_H
#define PAPERBOY_STORE_PAPER_ARCHIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"
#include "store/paper/papers.h"

/**
 * Update the index for a paper, in the transaction that stores it.
 *
 * @param old    NULL: the paper is new
 * @param fresh  NULL: the paper is deleted
 */
bool archive_index(struct store *store, const struct paper *old,
    const struct paper *fresh, GError **error);

struct archive_scan {
	const char *match;      /* FTS5 expression; NULL: all papers */
	const char *oldest_day; /* skip papers last listed before this day; or NULL */
	unsigned most;          /* maximum number of papers, newest first */
};

/** Called for each paper. @return false to end the scan, with the error set */
typedef bool (*archive_found)(
    void *data, const struct stored_paper *stored, GError **error);

/**
 * Iterate over the papers that match a scan, newest first.
 *
 * @param found  must not begin a transaction or another scan
 * @param is_cut  set; whether there are more than scan->most
 */
bool archive_scan(struct store *store, const struct archive_scan *scan,
    archive_found found, void *data, bool *is_cut, GError **error);

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

/**
 * Find the known word closest to an unknown one: up to two characters wrong, missing,
 * extra or swapped; the most frequent of several at the same distance.
 *
 * @param word  set to a new string; NULL: none is close enough
 */
bool archive_find_nearest(
    struct store *store, const char *folded, char **word, GError **error);

struct archive_acronym {
	const char *shown; /* as written in a paper: "low-rank adaptation" */
	int64_t papers;    /* number of papers with this long form */
};

/** @return of struct archive_acronym *, the most frequent first, at most limit */
GPtrArray *archive_load_acronyms(
    struct store *store, const char *folded_short, unsigned limit, GError **error);

/** Number of papers, and the average length of their titles and abstracts. */
struct archive_size {
	int64_t papers;
	double title_words; /* words, average */
	double abstract_words;
};

bool archive_load_size(struct store *store, struct archive_size *size, GError **error);

/** Compare counts only; for the daily check and for doctor. */
bool archive_check_counts(struct store *store, char **problem, GError **error);

/** Rebuild the index from the papers. */
bool archive_rebuild(struct store *store, GError **error);

#endif
