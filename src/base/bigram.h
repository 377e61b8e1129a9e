/*
 * bigram.h - scripts without spaces between words, whose texts are searched by pairs of
 * adjacent characters (bigrams): Chinese, Japanese, Thai.
 *
 * A run is a sequence of such characters. Its tokens are its pairs, or its only
 * character: 大模型 has 大模 and 模型. In a text, its last character is found as well,
 * at the place of the last pair; every other one begins a pair.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/** Whether it is a letter or mark of Han, kana or Thai: no digit, no punctuation. */
bool bigram_is_char(gunichar c);

/**
 * Whether such a character is at a place of a text.
 *
 * @param len  bytes from there on, which need not be valid UTF-8; -1: up to the NUL
 */
static inline bool
bigram_is_at(const char *text, gssize len)
{
	/* All of them have three or four bytes, Latin letters one or two. */
	return len != 0 && (guchar)*text >= 0xe0 &&
	       bigram_is_char(g_utf8_get_char_validated(text, len));
}

/**
 * Find the last character of a run, given its last token.
 *
 * @param behind  the text after the token, up to its NUL
 * @return in the token; NULL if it is the whole token, or no run ends with it
 */
const char *bigram_find_last(const char *token, size_t token_len, const char *behind);
