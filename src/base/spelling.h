/*
 * spelling.h - how far one name is from another that may have been meant.
 */
#ifndef PAPERBOY_BASE_SPELLING_H
#define PAPERBOY_BASE_SPELLING_H

#include <stddef.h>

/* Octets of a name that count; what is behind them is taken as equal. */
#define SPELLING_LONGEST 40

/**
 * Count the octets to add, drop, change or swap with a neighbour (optimal string
 * alignment) to get from one name to another.
 */
unsigned
spelling_measure_distance(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
