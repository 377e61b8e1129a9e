/*
 * sentence.h - the sentences of an abstract, the most informative one, and the first
 * ones.
 */
#pragma once

#include <glib.h>

/* Maximum length of the sentence of a paper in characters, including the ellipsis: six
 * lines on a phone.  With a larger one a digest of 20 papers is longer than 6,000 px.
 */
#define SENTENCE_CHARS 240

/**
 * Find the sentence that states the idea or the result of an English abstract, by a few
 * words and its place.
 *
 * @param abstract  any text
 * @return one sanitized line (message/sanitize.h); "" if it is empty; owned by the
 *         caller
 */
char *sentence_find_key(const char *abstract);

/**
 * Format the first sentence of a summary that a source generated.
 *
 * @param text  any text
 * @return one sanitized line of at most SENTENCE_CHARS, owned by the caller
 */
char *sentence_cut(const char *text);

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
