/*
 * phrases.h - what people write, by language: patterns over words.
 *
 * Files of etc/phrases, one for each language, which are compiled in;
 * doc/translating.md describes the format.  Words are compared without case, accents
 * and punctuation.  A Chinese or Japanese character is a word of its own.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

/* ---- text ---- */

struct phrases_word {
	const char *start, *end; /* in the text */
	char *plain;             /* lower case, Latin letters without accents */
	char *key;               /* see phrases.c; NULL for marks */
	/* ',' separates parts of a sentence, '.' ends one, '?' a question, '(' an
	 * opening and ')' a closing bracket; 0: a word. */
	char mark;
	unsigned offset; /* in tokens */
};

/* A text as words and marks. */
struct phrases_text {
	char *text;
	GArray *words;      /* struct phrases_word */
	GString *tokens;    /* as the patterns are matched with; see phrases.c */
	GPtrArray *flagged; /* char *: tokens for each language, made when needed */
};

/** Split a text into words. @param text  valid UTF-8, copied */
struct phrases_text *phrases_text_new(const char *text);
void phrases_text_free(struct phrases_text *text);
PB_DEFINE_AUTO(phrases_text, phrases_text_free);

const struct phrases_word *
phrases_get_word(const struct phrases_text *text, unsigned at);

/** The words from..to as they were written. @return a new string */
char *phrases_copy(const struct phrases_text *text, unsigned from, unsigned to);

/* The words from..to of a text. */
struct phrases_span {
	struct phrases_text *text;
	unsigned from, to;
};

/* ---- languages ---- */

struct phrases;

/**
 * Parse a file.
 *
 * @param name  of the file, the language: "de"; also in errors
 * @return NULL with PB_ERROR_INPUT (`name:line: ...`); owned by the caller
 */
struct phrases *phrases_parse(const char *name, const char *text, GError **error);
void phrases_free(struct phrases *phrases);
PB_DEFINE_AUTO(phrases, phrases_free);

/** Get all languages, English first, which are loaded once. @return NULL-terminated */
const struct phrases *const *phrases_get_all(void);

/** Get the code of a language: "de". */
const char *phrases_get_language(const struct phrases *phrases);

/** Whether a word stands in a pattern of an intent. */
bool phrases_knows(const struct phrases *phrases, const struct phrases_word *word);

/* ---- matching ---- */

/* A value in a match: one that the file states, or the words from..to of a slot. */
struct phrases_value {
	const char *name; /* "topics", "weekday"; static */
	char *text;
	unsigned from, to;
};

struct phrases_match {
	const struct phrases *language;
	const char *intent; /* static */
	GArray *values;     /* struct phrases_value, in the order of the pattern */
	unsigned literal;   /* number of words of the pattern */
	/* A bit for each word of the span, from the first: it is of the pattern or in a
	 * slot, and not beside them.  The last bit stands for all that follow. */
	guint64 used;
};

void phrases_match_clear(struct phrases_match *match);

/** The end of the longest phrase of a section at the start of a span, or its start. */
unsigned phrases_skip(const struct phrases *language, const char *section,
    const struct phrases_span *span);

/** The same, of all languages. */
unsigned phrases_skip_any(const char *section, const struct phrases_span *span);

/** Whether a phrase of a section is in a span, in a language or in English. */
bool phrases_has_in(const struct phrases *language, const char *section,
    const struct phrases_span *span);

/** The same, in any language. */
bool phrases_has(const char *section, const struct phrases_span *span);

/** Whether fillers of a language cover a span. */
bool phrases_is_filler(const struct phrases *language, const struct phrases_span *span);

/**
 * Find the phrase of a section that covers a span, in any language.
 *
 * @param match  set if there is one; phrases_match_clear() it
 */
bool phrases_cover(
    const char *section, const struct phrases_span *span, struct phrases_match *match);

/** Whether slots that take any words have what they are for. */
typedef bool
phrases_accept_fn(struct phrases_text *text, const struct phrases_match *match);

/**
 * Find the intent that a language has a pattern for that covers a span, but for
 * fillers. Of several it is the one with the most words of its own.
 *
 * @param is_cue  look for cues instead, beside which the span may have any words but
 *                those that refuse or doubt
 * @param match   set if there is one; phrases_match_clear() it
 */
bool
phrases_find_intent(const struct phrases *language, const struct phrases_span *span,
    bool is_cue, phrases_accept_fn *accept, struct phrases_match *match);

/** Find the n-th value of a match with a name, from 0. @return NULL if there is none */
const char *
phrases_get_value(const struct phrases_match *match, const char *name, unsigned n);

/** Add a value. @param text  taken over */
void phrases_add_value(struct phrases_match *match, const char *name, char *text);

/** Find the value of a phrase in any language: of `hilfe = help`. @return or NULL */
const char *phrases_find_value(const char *section, const char *phrase);

/** Replace words that are misspelt ones of the sections "misspelt" and "swapped". */
void phrases_correct(struct phrases_text *text);
