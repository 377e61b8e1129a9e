/*
 * vectors.h - papers as weighted vectors of terms, so that products compare them.
 *
 * Weights depend on how often papers repeat a word: in the mean 1.4 times in computer
 * science, where rare words and pairs tell papers apart, 1.7 times in medicine, where
 * the words that papers share and repeat tell more.  Below 1.56:
 *
 *   weight = f * idf^1.6,  pairs * 0.7;  terms of at least two papers
 *   f      = 1.6 t / (t + 0.6 (0.7 + 0.3 length / mean length)), t: occurrences,
 *            those in the title count twice (BM25 with k1 = 0.6, b = 0.3)
 *   idf    = ln(1 + (N - n + 0.5) / (n + 0.5)), n of N papers have the term
 *
 * divided by 0.4 * (norm of the vector) + 0.6 * (mean norm).  From 1.56 on:
 *
 *   weight = (1 + ln t) * idf^1.3,  words only
 *
 * where title and abstract are vectors of their own, each of norm 1, of which the title
 * is multiplied by 0.3.  Plurals had better be folded below 1.56, and only there.
 *
 * The constants were chosen on papers of the same authors and on systematic reviews
 * (bench/relevance.py).
 */
#ifndef PAPERBOY_QUERY_TASTE_VECTORS_H
#define PAPERBOY_QUERY_TASTE_VECTORS_H

#include "query/taste/matrix.h"

struct vectors;

/** Compute the vectors. @param matrix  borrowed, unchanged for the life of the vectors
 */
struct vectors *vectors_new(const struct matrix *matrix);
void vectors_free(struct vectors *vectors);
PB_DEFINE_AUTO(vectors, vectors_free);

const struct matrix *vectors_get_matrix(const struct vectors *vectors);

/** Whether the papers repeat their words. */
bool vectors_is_repetitive(const struct vectors *vectors);

/** Mean number of occurrences of a word in a paper that has it. */
double vectors_get_repetition(const struct vectors *vectors);

/** Get the weights of a paper: one for each of matrix_get_counts(). */
const float *vectors_get(const struct vectors *vectors, unsigned paper);

/**
 * Compute the weights of a paper of another matrix as if it had been added to this one.
 *
 * @param papers  likewise without or with folded plurals; best of one paper only
 * @return one for each of its matrix_get_counts(); owned by the caller
 */
float *vectors_project(
    const struct vectors *vectors, const struct matrix *papers, unsigned paper);

/** Multiply a paper by a dense vector. @param weights  one for each term */
double
vectors_multiply(const struct vectors *vectors, unsigned paper, const double *weights);

/** Add a paper to a dense vector, multiplied by a factor. */
void vectors_add(
    const struct vectors *vectors, unsigned paper, double factor, double *weights);

#endif
