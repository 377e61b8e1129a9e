/*
 * archive.h - index of all papers: full text, vocabulary, acronyms.
 *
 * `paper_fts` is a full-text index of title, abstract and authors, maintained by
 * triggers.  `word` has each word of titles and abstracts, its plural class and the
 * number of papers that contain it; `acronym` has the long forms that papers give for
 * acronyms.  All are updated incrementally, in the transaction that changes the paper.
 *
 * The functions work on store_get_archive().
 */
#ifndef PAPERBOY_STORE_PAPER_ARCHIVE_H
#define PAPERBOY_STORE_PAPER_ARCHIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/hit.h"
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

/** Called for each paper. @param row  of the full-text index, valid during the call */
typedef void (*archive_found)(void *data, int64_t seq, void *row);

/**
 * Call a function for each paper that an FTS5 expression matches, oldest first.
 *
 * @param least_seq  skips papers before it
 * @param found      must not use the store
 */
bool archive_find(struct store *store, const char *match, int64_t least_seq,
    archive_found found, void *data, GError **error);

/** Load the first papers that an expression matches. @return of int64_t: seqs */
GArray *archive_load_matches(
    struct store *store, const char *match, unsigned limit, GError **error);

/**
 * As archive_find(), for each paper with a phrase anywhere, as FTS5 writes it: "a
 * model".
 *
 * @param found  the phrase is number 0 of the row
 */
bool archive_find_phrase(struct store *store, const char *phrase, int64_t least_seq,
    archive_found found, void *data, GError **error);

/** Whether a phrase of the expression is in title (bit 0), abstract or authors (2). */
bool archive_has_place(void *row, unsigned phrase, unsigned columns);
/** Add the places of a phrase of the expression to those in title, abstract, authors.
 */
void archive_count_places(void *row, unsigned phrase, unsigned columns[3]);
/** Likewise, add the places to arrays of int. */
void archive_list_places(void *row, unsigned phrase, GArray *const columns[3]);

/** Load the words of a plural class (model, models). @return of char *, maybe empty */
GPtrArray *archive_load_class(struct store *store, const char *folded, GError **error);

struct archive_word {
	const char *text;
	int64_t papers; /* number of papers with it */
};

/** Load the words with a prefix. @return of struct archive_word *, at most limit */
GPtrArray *archive_load_prefix(
    struct store *store, const char *prefix, unsigned limit, GError **error);

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

/** Likewise, of at most 100 words: short prefixes have thousands. */
bool archive_estimate_prefix(
    struct store *store, const char *prefix, int64_t *papers, GError **error);

/** Count the papers with two words side by side, likewise with their plurals. */
bool archive_count_pair(struct store *store, const char *first, const char *second,
    int64_t *papers, GError **error);

/** Count the papers listed on a day or later. */
bool archive_count_since(
    struct store *store, const char *day, int64_t *papers, GError **error);

/* Columns of archive_read(): HIT_FIELD_TITLE to HIT_FIELD_JOURNAL. */
#define ARCHIVE_COLUMNS (HIT_FIELD_JOURNAL + 1)

/**
 * Call a function for the texts of a paper, if it exists: several times as fast as
 * papers_load().
 *
 * @param read  its columns may be NULL, and are valid during the call
 */
bool archive_read(struct store *store, int64_t seq,
    void (*read)(void *data, const char *const columns[ARCHIVE_COLUMNS]), void *data,
    GError **error);

/* Texts of a paper. */
struct archive_text {
	const char *title, *abstract;
};

/** Load the texts of a paper. @param text  set; NULL: it is gone; g_free() it */
bool archive_find_text(
    struct store *store, int64_t seq, struct archive_text **text, GError **error);

/**
 * Find the known word closest to an unknown one: up to two characters wrong, missing,
 * extra or swapped; the most frequent of several at the same distance.
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
 * Load the long forms of an acronym.
 *
 * @return of struct archive_acronym *, the most frequent first, at most limit
 */
GPtrArray *archive_load_acronyms(
    struct store *store, const char *folded_short, unsigned limit, GError **error);

/** Load the acronyms of a long form, likewise. */
GPtrArray *archive_load_acronyms_of(
    struct store *store, const char *folded_long, unsigned limit, GError **error);

/** Number of papers, and the average length of their titles and abstracts. */
struct archive_size {
	int64_t papers;
	double title_words; /* words, average */
	double abstract_words;
};

bool archive_load_size(struct store *store, struct archive_size *size, GError **error);

/** Compare counts only; for the daily check and for doctor. */
bool archive_check_counts(struct store *store, char **problem, GError **error);

/** Rebuild the index from the papers, in a transaction of store_get_archive(). */
bool archive_rebuild(struct store *store, GError **error);

#endif
