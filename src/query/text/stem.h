/*
 * stem.h - light stemmer that folds English plurals.
 *
 * Only the endings -s, -es and -ies, and a list of exceptions for words that look like
 * plurals (news, bias, analysis) or have irregular ones (matrices). Words of queries
 * and documents are folded alike, prefixes are not. Folding is idempotent and never
 * makes a word longer.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** Whether a word may be a plural; others are their own singular. */
static inline bool
stem_may_be_plural(const char *word, size_t len)
{
	return len > 0 && word[len - 1] == 's';
}

/**
 * Fold a word to its singular.
 *
 * Words of up to three characters, words with a digit before the s (or the ms of
 * milliseconds), and words that do not end in s are not changed.
 *
 * @param word  one token of the tokenizer, in lower case
 * @return a new string, freed with g_free()
 */
char *stem_plural(const char *word, size_t len);

/** List all words that fold to a singular, itself among them. @return of char * */
GPtrArray *stem_list_spellings(const char *folded);
