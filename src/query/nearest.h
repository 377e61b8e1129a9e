/*
 * nearest.h - how far a misspelt name is from a known one.
 */
#ifndef PAPERBOY_QUERY_NEAREST_H
#define PAPERBOY_QUERY_NEAREST_H

/**
 * Measure in slips: letters to add, drop, change or swap with a neighbour.
 *
 * One name within the other (votes, category) counts as one slip.
 *
 * @param typed, known  in lower case
 */
unsigned nearest_measure(const char *typed, const char *known);

#endif
