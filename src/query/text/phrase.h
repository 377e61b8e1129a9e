/*
 * phrase.h - a word or several adjacent words; the last may be a prefix.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"
#include "query/tokenizer_ops.h"

/* A word and its hash, for lookups in documents. */
struct phrase_key {
	guint hash;
	const char *text;
};

struct phrase_word {
	struct phrase_key key; /* folded; a prefix is not folded; owns its text */
	char *signs;           /* immediately after the word: "++", "#", "."; or NULL */
	char *exact_text;      /* of =word: as in the paper; or NULL */
	bool is_char;   /* one character of a script without spaces (base/bigram.h) */
	bool is_joined; /* the next word follows the signs immediately: node.js */
};

struct phrase {
	GArray *words;  /* of struct phrase_word, at least one */
	bool is_prefix; /* the last word is one; a single character always is */
};

/* Text in a filter, and its place. */
struct phrase_source {
	const char *text;
	size_t len;
	unsigned column; /* of the first character of the text */
	bool is_quoted;
	bool is_exact; /* after "=": one word, exactly as typed */
};

/**
 * Parse a word or the text between quotation marks.
 *
 * The words of a run of a script without spaces are its pairs, whose prefix may be one
 * character.
 *
 * @return NULL and sets problem on error: no word, "*" not at the end, a prefix under
 *         BOUNDS_PREFIX_CHARS, signs before an unquoted word, several words or a prefix
 *         after "=", failure of the tokenizer
 */
struct phrase *phrase_parse(const struct phrase_source *source,
    const struct tokenizer *tokenizer, struct query_error *problem);
void phrase_free(struct phrase *phrase);

/** Format so that phrase_parse() returns it, quoted where needed. */
void phrase_append(const struct phrase *phrase, GString *out);

/** Join the folded words. @return "low rank adaptation" */
char *phrase_join(const struct phrase *phrase);

/** Get a word. @param i  less than words->len */
static inline const struct phrase_word *
phrase_get_word(const struct phrase *phrase, unsigned i)
{
	return &g_array_index(phrase->words, struct phrase_word, i);
}

/** Length of the run of +, # and . at the beginning of a text. */
size_t phrase_count_signs(const char *text, size_t len);

gboolean phrase_key_equal(const void *a, const void *b);
