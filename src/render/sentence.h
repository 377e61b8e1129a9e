/*
 * sentence.h - the sentences of an abstract, the most informative one, and the first
 * ones.
 */
#pragma once

#include <glib.h>

/* Maximum length of a key sentence in characters, including the ellipsis. */
#define SENTENCE_CHARS 400

/**
 * Find the sentence that states the idea or the result of an English abstract, by a few
 * words and its place.
 *
 * @param abstract  any text
 * @return one sanitized line (message/sanitize.h); "" if it is empty; owned by the
 *         caller
 */
char *sentence_find_key(const char *abstract);

/* Maximum length of an excerpt in characters, including the ellipsis, and number of its
 * sentences. */
#define EXCERPT_CHARS     300
#define EXCERPT_SENTENCES 2

/**
 * Format the first EXCERPT_SENTENCES sentences, or EXCERPT_CHARS of them, cut at a
 * word and ended with U+2026.
 *
 * @param text  any text
 * @return one sanitized line (message/sanitize.h), owned by the caller
 */
char *sentence_format_excerpt(const char *text);
