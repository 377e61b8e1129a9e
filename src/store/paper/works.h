/*
 * works.h - records of one paper: its preprint, its article.
 *
 * Two records of a work are two papers with different ids, each with its own listings
 * and matches; what has the same id is one paper (papers_save.c).  They are linked if a
 * service states it, in either direction and order.  Without such a statement they are
 * linked if title and first author are equal, their years differ by WORKS_YEARS at
 * most, and they are the preprint and the article, or preprints of arXiv and of another
 * server: articles of a series, replies and editorials that have a title in common are
 * never a preprint and its article.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"
#include "store/paper/papers.h"

/* Maximum years between a preprint and an article with its title. */
#define WORKS_YEARS 2

/* Maximum records of a work: a service that says that all is the same would silence
 * all papers but one. */
#define WORKS_RECORDS 20

/**
 * Link a paper with the other records of its work, when it is stored.
 *
 * @param reported    as the source returned it
 * @param is_retitled  it has a new title or new authors
 */
bool works_link(struct store *store, const struct paper *reported, int64_t seq,
    bool is_retitled, int64_t now, GError **error);

/** Move a paper's place in its work to the row with which it is merged. */
bool works_move(struct store *store, int64_t from, int64_t to, GError **error);

/** Join the works of two papers, as an operator decided. */
bool works_join(struct store *store, int64_t one, int64_t other, GError **error);

/** Take a paper out of its work; they are not linked again. */
bool works_split(struct store *store, int64_t seq, GError **error);

struct work_record {
	int64_t seq;
	const char *id;
	const char *title;
	const char *journal;  /* or NULL */
	int64_t published_at; /* s, or PAPER_UNKNOWN */
	char day[11];         /* last listed */
};

/**
 * Load the records of a work.
 *
 * @return of struct work_record *: those with an abstract first, of these the newest
 */
GPtrArray *works_load_records(struct store *store, int64_t work, GError **error);
