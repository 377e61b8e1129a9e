/*
 * edit_distance.h - suggestions for misspelled names (Damerau-Levenshtein distance).
 */
#pragma once

#include <glib.h>
#include <stddef.h>

/**
 * Find the name closest to an unknown one.
 *
 * Case is ignored, and blanks and hyphens match '_'; the last component of a name
 * (after '/' or '.') is sufficient.  The number of allowed edits grows with the length.
 *
 * @param names  NULL-terminated; the first of equally close names is returned
 * @return borrowed from names; NULL if none is close enough
 */
const char *edit_distance_find_closest(const char *text, const char *const *names);

/**
 * Compute the distance in bytes inserted, deleted, substituted or transposed (optimal
 * string alignment).
 */
unsigned
edit_distance_count_slips(const char *a, size_t a_size, const char *b, size_t b_size);

/**
 * Measure the distance of two names: 0 if they are equal; 1 if both have at least 3
 * bytes and either the known one contains the typed one or the typed one begins with
 * the known one; else that of edit_distance_count_slips().
 *
 * @param typed, known  in lower case
 */
unsigned edit_distance_measure(const char *typed, const char *known);
