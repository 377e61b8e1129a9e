/*
 * background.h - loads papers against which the words of others are weighed.
 *
 * A word tells something about a paper if it is rarer in other papers, so the papers
 * stored last are the background.  Loading it takes about 0.1 s.
 */
#ifndef PAPERBOY_SERVICE_TASTE_BACKGROUND_H
#define PAPERBOY_SERVICE_TASTE_BACKGROUND_H

#include "query/taste/matrix.h"
#include "store/core/store.h"

/** @return owned by the caller, while the store is open */
struct matrix *background_load(struct store *store, GError **error);

#endif
