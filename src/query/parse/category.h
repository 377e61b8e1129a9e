/*
 * category.h - the names of arXiv's categories and archives.
 *
 * Names are compared in any case and given back as arXiv writes them
 * (https://arxiv.org/category_taxonomy).
 */
#ifndef PAPERBOY_QUERY_PARSE_CATEGORY_H
#define PAPERBOY_QUERY_PARSE_CATEGORY_H

#include <stddef.h>

/** Find a category: cs.CL, hep-th; not github.com. @return static, or NULL */
const char *category_find(const char *word, size_t len);

/** Find an archive: cs, astro-ph, hep-th. @return newly allocated, or NULL */
char *category_find_archive(const char *word, size_t len);

/** Find the category or archive with the fewest slips. @return newly allocated */
char *category_find_nearest(const char *word, size_t len);

/** Walk the categories. @return NULL behind the last one */
const char *category_get(size_t i);

#endif
