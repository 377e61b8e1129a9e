/*
 * suggest_trial.h - trying a term as an alternative in a filter.
 */
#ifndef PAPERBOY_SERVICE_EXPLAIN_SUGGEST_TRIAL_H
#define PAPERBOY_SERVICE_EXPLAIN_SUGGEST_TRIAL_H

#include "service/explain/likeness.h"
#include "service/explain/suggest_hits.h"

/* How many times as often as all papers the filter finds those with a related term. */
#define SUGGEST_LIFT_MIN 5

struct suggest_trial {
	struct suggest_hits *hits;
	GArray *places;            /* parts of the filter to which terms are added */
	struct likeness *likeness; /* of papers to the hits; NULL: not compared */
};

/* A term to be tried. */
struct suggest_candidate {
	const char *term;
	bool is_form;    /* an acronym or long form of what the filter has */
	bool is_group;   /* several terms, each of which is good */
	unsigned shared; /* papers of the sample with it */
	unsigned titles; /* of these, in the title */
};

/* @param hits  live as long as the trial; loaded before suggest_trial_run() */
void suggest_trial_init(struct suggest_trial *trial, struct suggest_hits *hits);
void suggest_trial_clear(struct suggest_trial *trial);

/** Get the root, or an operand of its AND, by its index in the places. */
const struct node *
suggest_trial_get_part(const struct suggest_trial *trial, unsigned place);

/**
 * Try a term in each place.
 *
 * @param suggestions  of struct suggestion *; the best is added, unless none is good or
 *                     the subscriber has refused the term
 */
bool suggest_trial_run(struct suggest_trial *trial,
    const struct suggest_candidate *candidate, GPtrArray *suggestions, GError **error);

#endif
