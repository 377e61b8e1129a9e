/*
 * confirm_phrases.h - phrases of consent and refusal in replies, a table per language.
 *
 * Phrases are in lower case, words separated by one blank, without apostrophes, and in
 * Latin script without accents; confirm_match.c folds a line in the same way.  An entry
 * with a letter that is not ASCII is compared with the accents of the line.  A "*" at
 * the end stands for any more letters of the word, a "$" for the end of the clause.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_CONFIRM_PHRASES_H
#define PAPERBOY_SERVICE_INBOUND_CONFIRM_PHRASES_H

#include <stddef.h>

/* Lists end with NULL; one that a language does not need is NULL. */
struct confirm_phrases {
	const char *language; /* ISO 639-1 */
	const char *const *greetings;
	const char *const *consents;   /* at the beginning of a line */
	const char *const *agreements; /* the same, with a word of refusal in them */
	const char *const *refusals;   /* anywhere in a line */
	const char *const *neutral;    /* not a refusal in spite of a word in them */
	const char *const *automatic;  /* in subjects and texts that programs write */
};

extern const struct confirm_phrases confirm_phrases[];
extern const size_t confirm_phrases_count;

#endif
