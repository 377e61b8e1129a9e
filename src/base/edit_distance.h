/*
 * edit_distance.h - what somebody may have meant who typed a name wrong.
 */
#ifndef PAPERBOY_BASE_EDIT_DISTANCE_H
#define PAPERBOY_BASE_EDIT_DISTANCE_H

#include <glib.h>
#include <stddef.h>

/**
 * Find the name that is most like one that does not exist.
 *
 * Capitals and blanks do not matter; the last part of a name (after '/' or '.') is
 * enough.  A few letters may be wrong, missing or too many, fewer in short names.
 *
 * @param names  ended by NULL; of equally near ones the first is taken
 * @return borrowed from names; NULL when none is near
 */
const char *edit_distance_find_closest(const char *text, const char *const *names);

/**
 * Count the octets to add, drop, change or swap with a neighbour (optimal string
 * alignment) to get from one name to another.
 */
unsigned
edit_distance_count_slips(const char *a, size_t a_size, const char *b, size_t b_size);

/**
 * Count slips; one name within the other (votes, category) counts as one.
 *
 * @param typed, known  in lower case
 */
unsigned edit_distance_measure(const char *typed, const char *known);

#endif
