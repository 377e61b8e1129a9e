/*
 * confirm_phrases.h - phrases of consent and refusal in replies, a table per language.
 *
 * Phrases are in lower case, without apostrophes and Latin accents, words separated by
 * one blank, as confirm_match.c folds a line.  Phrases with non-ASCII characters are
 * matched with accents.  A final "*" matches the rest of a word, "$" the end of a
 * clause.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_CONFIRM_PHRASES_H
#define PAPERBOY_SERVICE_INBOUND_CONFIRM_PHRASES_H

#include <stddef.h>

/* Lists end with NULL, and may be NULL. */
struct confirm_phrases {
	const char *language; /* ISO 639-1 */
	const char *const *greetings;
	const char *const *consents;   /* at the start of a line */
	const char *const *agreements; /* the same, containing a word of refusal */
	const char *const *refusals;   /* anywhere in a line */
	const char *const *neutral;    /* not a refusal, though containing one */
	const char *const *automatic;  /* in subjects and texts of auto-replies */
};

extern const struct confirm_phrases confirm_phrases[];
extern const size_t confirm_phrases_count;

#endif
