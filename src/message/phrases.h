/*
 * phrases.h - what people write, by language: patterns over normalised words.
 *
 * The patterns are text in etc/phrases, a file per language, compiled in;
 * etc/phrases/en describes the format.  Words are compared without case, accents and
 * punctuation.  A Chinese or Japanese character is a word of its own.
 */
#ifndef PAPERBOY_MESSAGE_PHRASES_H
#define PAPERBOY_MESSAGE_PHRASES_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

/* ---- text ---- */

/* Mark of a word that is not to be part of a phrase. */
#define PHRASES_MASKED '#'

struct phrases_word {
	const char *start, *end; /* in the text */
	char *plain;             /* lower case, Latin letters without accents */
	char *digraph;           /* plain with a, o, u for ae, oe, ue; NULL: the same */
	char *exact;             /* lower case, with accents */
	/* ',' separates parts of a sentence, '.' ends one, '?' a question, '(' an
	 * opening and ')' a closing bracket; 0: a word. */
	char mark;
};

struct phrases_text {
	char *text;
	GArray *words;       /* struct phrases_word, marks included */
	GHashTable *lengths; /* of fillers, found once; used by phrases.c only */
};

/** Split a text into words. @param text  valid UTF-8, copied */
struct phrases_text *phrases_text_new(const char *text);
void phrases_text_free(struct phrases_text *text);
PB_DEFINE_AUTO(phrases_text, phrases_text_free);

const struct phrases_word *
phrases_get_word(const struct phrases_text *text, unsigned at);

/** The words from..to as they were written. @return a new string */
char *phrases_copy(const struct phrases_text *text, unsigned from, unsigned to);

/* ---- languages ---- */

struct phrases_language;

/** All languages, English first. @return of struct phrases_language *; static */
const GPtrArray *phrases_get_languages(void);
/** @return the name of its file, such as "de" */
const char *phrases_get_code(const struct phrases_language *language);
/** @return of char *: the names of its intents, in the order of the file */
const GPtrArray *phrases_get_intents(const struct phrases_language *language);

/** Whether a word is in a pattern of a request. */
bool
phrases_knows(const struct phrases_language *language, const struct phrases_word *word);

/* ---- matching ---- */

/* Values found in a match; more are not recorded. */
#define PHRASES_VALUES_MAX 24

/* A value in a match: of a number word, or the words of a slot such as <topics>. */
struct phrases_value {
	const char *name;
	const char *value; /* static; NULL: the words */
	unsigned from, to;
};

struct phrases_match {
	unsigned to;      /* end of the words that match, without fillers after them */
	unsigned literal; /* number of words that the pattern names */
	struct phrases_value values[PHRASES_VALUES_MAX];
	unsigned count;
};

/**
 * Whether words may be the content of a slot that takes any words, such as <topics>.
 *
 * @param slot  its name
 */
typedef bool
phrases_check(const struct phrases_language *language, const struct phrases_text *text,
    unsigned from, unsigned to, const char *slot, void *data);

/* Words to match. */
struct phrases_span {
	const struct phrases_text *text;
	unsigned from, to;
	phrases_check *check; /* NULL: any words are accepted */
	void *data;
};

/**
 * Find the pattern of a set that covers a span but for fillers; of several the one that
 * names the most words.
 *
 * @param set  "filler", or an intent, as "intent leave"
 */
bool phrases_cover(const struct phrases_language *language, const char *set,
    const struct phrases_span *span, struct phrases_match *match);

/** Find the longest pattern of a set at the start of a span; fillers count as words. */
bool phrases_start(const struct phrases_language *language, const char *set,
    const struct phrases_span *span, struct phrases_match *match);

/** Whether a pattern of a set is anywhere in a span. @param at  set to its start */
bool phrases_find(const struct phrases_language *language, const char *set,
    const struct phrases_span *span, unsigned *at);

/** phrases_find() in every language. */
bool phrases_find_any(const char *set, const struct phrases_span *span);

/** Whether fillers cover a span. */
bool phrases_is_filler(
    const struct phrases_language *language, const struct phrases_span *span);

/** Replace words that are misspelt ones of the set "misspelt" of any language. */
void phrases_correct(struct phrases_text *text);

/** @return the value of a match with a name, or NULL */
const struct phrases_value *
phrases_get_value(const struct phrases_match *match, const char *name);

#endif
