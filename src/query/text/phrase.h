/*
 * phrase.h - one word, or several side by side; the last may be a prefix.
 */
#ifndef PAPERBOY_QUERY_TEXT_PHRASE_H
#define PAPERBOY_QUERY_TEXT_PHRASE_H

#include <glib.h>
#include <stdbool.h>

#include "query/query_error.h"
#include "query/tokenizer_ops.h"

/* A word and its hash: what documents are asked for. */
struct phrase_key {
	guint hash;
	const char *text;
};

struct phrase_word {
	struct phrase_key key; /* folded, but a prefix plain; owns its text */
	char *signs;    /* "++", "#", ".": stand right behind the word; or NULL */
	char *messages; /* of =word: as they must stand in the paper; or NULL */
	bool is_joined; /* the next word follows the signs at once: node.js */
};

struct phrase {
	GArray *words;  /* of struct phrase_word, at least one */
	bool is_prefix; /* of the last word */
};

/* Text of a filter, and where it stands there. */
struct phrase_source {
	const char *text;
	size_t len;
	unsigned column; /* of the first character of the text */
	bool is_quoted;
	bool is_exact; /* the text follows a "=": one word, these very letters */
};

/**
 * Make a phrase of a word or of the text between quotation marks.
 *
 * @return NULL with a problem: no word in it, "*" elsewhere than at the end, a
 *         prefix under BOUNDS_PREFIX_LETTERS, signs before a word that is not
 *         quoted, several words or a prefix behind "=", a tokenizer that failed
 */
struct phrase *phrase_parse(const struct phrase_source *source,
    const struct tokenizer *tokenizer, struct query_error *problem);
void phrase_free(struct phrase *phrase);

/** Format it so that phrase_parse() gives it again, with quotes where needed. */
void phrase_append(const struct phrase *phrase, GString *out);

/** Get a word. @param i  less than words->len */
const struct phrase_word *phrase_get_word(const struct phrase *phrase, unsigned i);

/** Length of the run of + # and . that a text begins with. */
size_t phrase_count_wildcards(const char *text, size_t len);

/* For hash tables whose keys begin with a struct phrase_key. */
guint phrase_key_hash(const void *key);
gboolean phrase_key_equal(const void *a, const void *b);

#endif
