/*
 * archive.h - index of all papers: full text, vocabulary, acronyms.
 *
 * `paper_fts` is an index over title, abstract and authors that triggers keep; `word`
 * knows each word of titles and abstracts, its plural class and in how many papers it
 * is; `acronym` what papers say their short forms stand for.  All change in the
 * transaction that changes the paper, and only by what is new in it.
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
	const char *match;      /* an expression of FTS5, or NULL: all papers */
	const char *oldest_day; /* papers listed last before it are left out; or NULL */
	unsigned most;          /* so many papers are looked at, the newest */
};

/** Called for a paper. @return false to end the scan, with the error set */
typedef bool (*archive_found)(
    void *data, const struct stored_paper *stored, GError **error);

/**
 * Go through the papers that a scan finds, newest first.
 *
 * @param found  must not begin a transaction or scan again
 * @param is_cut  set to whether there are more than scan->most
 */
bool archive_scan(struct store *store, const struct archive_scan *scan,
    archive_found found, void *data, bool *is_cut, GError **error);

/** The words of a plural class: model, models. @return of char *, maybe empty */
GPtrArray *archive_load_class(struct store *store, const char *folded, GError **error);

/** In how many papers a word or its plural is; one with both may count twice. */
bool archive_count_class(
    struct store *store, const char *folded, int64_t *papers, GError **error);

/** In how many papers it is exactly: dearer, for what people are told. */
bool archive_count_papers(
    struct store *store, const char *folded, int64_t *papers, GError **error);

/** The same of all words that begin like this; a paper counts for each. */
bool archive_count_prefix(
    struct store *store, const char *prefix, int64_t *papers, GError **error);

/**
 * Find the word nearest to one that is not there: one or two letters wrong, missing,
 * too many or swapped; of equally near ones the most frequent.
 *
 * @param word  set to a new string; NULL when none is near
 */
bool archive_find_nearest(
    struct store *store, const char *folded, char **word, GError **error);

struct archive_acronym {
	char *shown;    /* as a paper wrote it: "low-rank adaptation" */
	int64_t papers; /* that say so */
};

void archive_acronym_free(struct archive_acronym *form);

/** @return of struct archive_acronym *, the most frequent first, at most limit */
GPtrArray *archive_load_acronyms(
    struct store *store, const char *folded_short, unsigned limit, GError **error);

/** How many papers there are, and how long their titles and abstracts are in words. */
struct archive_size {
	int64_t papers;
	double title_words; /* on average */
	double abstract_words;
};

bool archive_load_size(struct store *store, struct archive_size *size, GError **error);

/**
 * Look closely whether the archive is what the papers make of it: for tests.
 *
 * It reads every paper, and holds the writer's lock meanwhile.
 *
 * @param problem  set to a new string that says what differs, or to NULL
 */
bool archive_check(struct store *store, char **problem, GError **error);

/** The same at a glance, by counts: for every day, and for doctor. */
bool archive_check_counts(struct store *store, char **problem, GError **error);

/** Make it anew from the papers, in one transaction. */
bool archive_rebuild(struct store *store, GError **error);

#endif
