/*
 * stem.h - `models` is `model`: English plurals made equal, nothing else.
 *
 * No stemmer: the endings -s, -es and -ies, and a list of exceptions for words
 * that only look like plurals (news, bias, analysis) or have another one
 * (matrices).  Query words and document words go the same way, prefixes do
 * not.  Folding twice is folding once, and no word grows by it.
 */
#ifndef PAPERBOY_QUERY_TEXT_STEM_H
#define PAPERBOY_QUERY_TEXT_STEM_H

#include <stdbool.h>
#include <stddef.h>

/** Tell whether a word can be a plural; one that cannot is its own singular. */
static inline bool
plural_is_possible(const char *word, size_t len)
{
	return len > 0 && word[len - 1] == 's';
}

/**
 * Fold a word to its singular.
 *
 * Words of three characters and fewer, words with a digit before the s (or the
 * ms of milliseconds), and words that do not end in s stay as they are.
 *
 * @param word  one token of the tokenizer, in lower case
 * @return a new string, freed with g_free()
 */
char *stem_plural(const char *word, size_t len);

#endif
