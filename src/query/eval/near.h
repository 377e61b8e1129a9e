/*
 * near.h - places where the phrases of a NODE_NEAR are near each other.
 */
#ifndef PAPERBOY_QUERY_EVAL_NEAR_H
#define PAPERBOY_QUERY_EVAL_NEAR_H

#include <glib.h>
#include <stdbool.h>

#include "query/parse/tree.h"

/**
 * Find the next place of a phrase, by its index.
 *
 * @param after  its previous place, or -1; never decreases between two searches
 * @return index of its first word in the text, or -1
 */
typedef int (*near_next)(const void *data, guint phrase, int after);

/**
 * Find the phrases near each other: at most `distance` words between the end of each
 * and the beginning of the last.
 *
 * @param places  for each phrase: all -1, or the previous result; set to the next
 * @return false when there is no further place
 */
bool near_find(const struct node *node, near_next next, const void *data, int *places);

#endif
