/*
 * preferences.h - what a person has chosen about digests, besides the rhythm.
 *
 * Each preference is one of a few words.  One table has them all: what a letter sets,
 * the control tool sets and the store keeps are these words.
 */
#ifndef PAPERBOY_MODEL_PREFERENCES_H
#define PAPERBOY_MODEL_PREFERENCES_H

#include <glib.h>
#include <stdbool.h>

enum preference {
	PREFERENCE_ORDER,
	PREFERENCE_ABSTRACT,
	PREFERENCE_FORMAT,
	PREFERENCE_EMPTY,
	PREFERENCE_UPDATES,
	PREFERENCE_CROSSLIST,
	PREFERENCE_ATTACH,
};
#define PREFERENCE_COUNT (PREFERENCE_ATTACH + 1)

/* Their values; 0 is what holds when nothing was chosen. */
enum preference_order {
	PREFERENCE_ORDER_VOTES,
	PREFERENCE_ORDER_SCORE,
	PREFERENCE_ORDER_DATE
};
enum preference_abstract {
	PREFERENCE_ABSTRACT_FULL,
	PREFERENCE_ABSTRACT_SHORT,
	PREFERENCE_ABSTRACT_NONE
};
enum preference_format {
	PREFERENCE_FORMAT_BOTH,
	PREFERENCE_FORMAT_TEXT,
	PREFERENCE_FORMAT_HTML
};
enum preference_empty {
	PREFERENCE_EMPTY_OFF,
	PREFERENCE_EMPTY_NOTE
}; /* a line on a day without papers */
enum preference_updates {
	PREFERENCE_UPDATES_OFF,
	PREFERENCE_UPDATES_ON
}; /* papers that were replaced */
enum preference_crosslist { PREFERENCE_CROSSLIST_ON, PREFERENCE_CROSSLIST_OFF };
enum preference_attach { PREFERENCE_ATTACH_NONE, PREFERENCE_ATTACH_BIBTEX };

struct preferences {
	int choice[PREFERENCE_COUNT]; /* by enum preference */
};

/** "order", "abstract" ... as people type it. */
const char *preferences_get_name(enum preference preference);

/** @return false when no preference has that name, in any case */
bool preferences_find(const char *name, enum preference *preference);

/** The word for a choice: "votes". */
const char *
preferences_get_word(const struct preferences *preferences, enum preference preference);

/** "votes, score or date" @return a new string */
char *preferences_format_words(enum preference preference);

/** Choose by word, in any case. @return false with PB_ERROR_INPUT */
bool preferences_choose(struct preferences *preferences, enum preference preference,
    const char *word, GError **error);

#endif
