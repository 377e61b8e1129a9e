/*
 * category.h - the names of arXiv's categories.
 */
#ifndef PAPERBOY_QUERY_CATEGORY_H
#define PAPERBOY_QUERY_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Tell whether a word is the name of an arXiv category, in any case: cs.CL,
 * hep-th; not github.com (https://arxiv.org/category_taxonomy).
 */
bool category_is_name(const char *word, size_t len);

#endif
