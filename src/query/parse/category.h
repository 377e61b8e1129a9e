/*
 * category.h - names of categories: of arXiv, and of bioRxiv and medRxiv.
 *
 * Names are compared without regard to case and returned as arXiv writes them
 * (https://arxiv.org/category_taxonomy); those of bioRxiv and medRxiv in lower case,
 * with hyphens for blanks.
 */
#pragma once

#include <stddef.h>

/** Find a category: cs.CL, hep-th; not github.com. @return static, or NULL */
const char *category_find(const char *word, size_t len);

/** Find an archive: cs, astro-ph, hep-th. @return newly allocated, or NULL */
char *category_find_archive(const char *word, size_t len);

/** Find a category of bioRxiv or medRxiv: cell-biology. @return static, or NULL */
const char *category_find_preprint(const char *word, size_t len);

/** Find the category or archive at the least edit distance. @return newly allocated */
char *category_find_nearest(const char *word, size_t len);

/** Get a category by index. @return NULL after the last one */
const char *category_get(size_t i);
