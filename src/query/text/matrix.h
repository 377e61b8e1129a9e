/*
 * matrix.h - document-term matrix: the words of many papers, and pairs of adjacent
 * words, with their counts.
 *
 * Terms are words of the tokenizer without function words ("diffusion") and pairs of
 * such words ("diffusion model"); a pair does not extend across punctuation or a
 * function word, and has no words of scripts without spaces (base/bigram.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "query/tokenizer_ops.h"

struct matrix_term {
	const char *text; /* a pair has one space between its words */
	unsigned papers;  /* number of papers with the term, */
	unsigned titles;  /* and of those with it in the title */
	bool is_pair;
};

/* Occurrences of a term in a paper. */
struct matrix_count {
	uint32_t term;
	uint16_t title;
	uint16_t abstract;
};

struct matrix;

/**
 * @param tokenizer      borrowed for the life of the matrix
 * @param folds_plurals  "models" counts as "model"
 */
struct matrix *matrix_new(const struct tokenizer *tokenizer, bool folds_plurals);
void matrix_free(struct matrix *matrix);
PB_DEFINE_AUTO(matrix, matrix_free);

/**
 * Add a paper.
 *
 * @param title     at most BOUNDS_PAPER_TITLE_BYTES
 * @param abstract  at most BOUNDS_PAPER_ABSTRACT_BYTES
 * @return false with PB_ERROR_LIMIT after BOUNDS_MATRIX_PAPERS papers or for a longer
 *         text, PB_ERROR_TEMPORARY when the tokenizer failed, after which the matrix
 *         can only be freed
 */
bool matrix_add(
    struct matrix *matrix, const char *title, const char *abstract, GError **error);

unsigned matrix_count_papers(const struct matrix *matrix);
unsigned matrix_count_terms(const struct matrix *matrix);

/** @param term  less than matrix_count_terms(); valid until the next matrix_add() */
const struct matrix_term *matrix_get_term(const struct matrix *matrix, uint32_t term);

bool matrix_find_term(const struct matrix *matrix, const char *text, uint32_t *term);

/**
 * Get the terms of a paper, those of the first one in the order of their numbers; valid
 * until the next matrix_add().
 *
 * @param paper  papers are numbered from 0 as they were added
 * @param count  set to their number
 */
const struct matrix_count *
matrix_get_counts(const struct matrix *matrix, unsigned paper, size_t *count);
