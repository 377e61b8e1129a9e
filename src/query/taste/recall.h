/*
 * recall.h - estimates which part of the papers on its subject a filter finds.
 *
 * Words that are typical of the papers that the filter matches are a second way to find
 * its subject, independent of the filter's own words, which are left out (capture and
 * recapture): the filter finds as large a part of the subject as of the papers that
 * score highest by these words.
 *
 * A word's weight is that of naive Bayes, the difference of its log odds in the
 * matching papers and in the archive; a paper's score is the sum over its words. A
 * paper by which the words were chosen is scored as if it had not been among these
 * (leave one out), or it would resemble the others by chance.  The subject is taken to
 * be RECALL_SUBJECT times the fourth root of the number of matching papers, which
 * fitted systematic reviews best: narrow filters find a part of a subject, and the
 * papers of wide ones surround it.
 *
 * An acronym and its long form are the same subject by definition, so that the papers
 * with one of them are counted instead, where the filter has the other.
 */
#ifndef PAPERBOY_QUERY_TASTE_RECALL_H
#define PAPERBOY_QUERY_TASTE_RECALL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/query.h"
#include "query/taste/related.h"

/* Maximum number of words, and of papers with them, since reading these takes time. */
#define RECALL_WORDS 20
#define RECALL_ROWS  30000

/* Minimum weight of a word, and number of matching papers with it. */
#define RECALL_WEIGHT_MIN 0.5
#define RECALL_SHARED_MIN 3

/* Minimum number of papers that match. */
#define RECALL_MATCHING_MIN 10

#define RECALL_SUBJECT 55

struct recall_word {
	const char *text; /* of the matrix */
	uint32_t term;
	unsigned papers;   /* in the archive */
	double weight;     /* for papers by which it was not chosen */
	double own_weight; /* for the others */
	double order;
};

struct recall {
	GArray *words;  /* of struct recall_word */
	GArray *scores; /* of papers that have one of them */
};

void recall_init(struct recall *recall);
void recall_clear(struct recall *recall);

/**
 * Choose the words.
 *
 * @param query   the filter, whose words are left out
 * @param source  the papers that it matches, or a sample of them
 * @param part    of the archive that is searched for papers, from 0 to 1
 */
void recall_choose_words(struct recall *recall, const struct query *query,
    const struct related_source *source, double part);

/** Add a paper with at least one of the words. @param score  the sum of its weights */
void recall_add_paper(struct recall *recall, double score, bool matches);

/** Choose the words, and add all papers of a matrix that has the whole archive. */
void recall_add_all(struct recall *recall, const struct query *query,
    const struct related_source *source);

/**
 * Estimate the part that the filter finds.
 *
 * @param papers    number of papers that were searched
 * @param matching  of these, that the filter matches
 * @return from 0 to 1; -1 if too few papers match or no word is typical
 */
double recall_estimate(struct recall *recall, unsigned papers, unsigned matching);

/**
 * Estimate it by other forms of its acronyms.
 *
 * @param matching  number of papers that the filter matches
 * @param missed    number of other papers with one of related_list_forms(), not 0
 * @return likewise
 */
double recall_estimate_forms(unsigned matching, unsigned missed);

#endif
