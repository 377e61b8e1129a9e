/*
 * preferences.h - a subscriber's digest preferences, without the schedule.
 *
 * Each preference has a few named values.  Mail commands, the control tool and the
 * store use the same names, from one table.
 */
#pragma once

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
	PREFERENCE_GROUP,
	PREFERENCE_FEEDBACK,
	PREFERENCE_CHECKUP,
	PREFERENCE_VERSIONS,
	PREFERENCE_RETRACTIONS,
};
#define PREFERENCE_COUNT (PREFERENCE_RETRACTIONS + 1)

/* Values of each preference; 0 is the default. */
enum preference_order {
	PREFERENCE_ORDER_SCORE,
	PREFERENCE_ORDER_VOTES,
	PREFERENCE_ORDER_DATE
};
enum preference_abstract {
	PREFERENCE_ABSTRACT_BRIEF, /* a sentence, and the abstracts of the first papers
	                            */
	PREFERENCE_ABSTRACT_SHORT, /* the first sentences */
	PREFERENCE_ABSTRACT_FULL,
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
}; /* send a notice on a day without papers */
enum preference_updates {
	PREFERENCE_UPDATES_OFF,
	PREFERENCE_UPDATES_ON
}; /* include new versions of papers */
enum preference_crosslist { PREFERENCE_CROSSLIST_ON, PREFERENCE_CROSSLIST_OFF };
enum preference_attach {
	PREFERENCE_ATTACH_NONE,
	PREFERENCE_ATTACH_BIBTEX,
	PREFERENCE_ATTACH_RIS,
	PREFERENCE_ATTACH_MARKDOWN
}; /* file of the papers (render/attach.h) */
enum preference_group {
	PREFERENCE_GROUP_OFF,
	PREFERENCE_GROUP_ON
}; /* group the papers of a digest by filter */
enum preference_feedback {
	PREFERENCE_FEEDBACK_OFF,
	PREFERENCE_FEEDBACK_ON
}; /* links for like and hide in each entry */
enum preference_checkup {
	PREFERENCE_CHECKUP_ON,
	PREFERENCE_CHECKUP_OFF
}; /* a monthly report on the filters */
enum preference_versions {
	PREFERENCE_VERSIONS_ONE,
	PREFERENCE_VERSIONS_ALL
}; /* of a preprint and its article, the first or both */
enum preference_retractions {
	PREFERENCE_RETRACTIONS_DIGEST,
	PREFERENCE_RETRACTIONS_MAIL
}; /* of watched papers, in the next digest or at once */

struct preferences {
	int choice[PREFERENCE_COUNT]; /* by enum preference */
};

/** Get the name as users type it: "order", "abstract", ... */
const char *preferences_get_name(enum preference preference);

/** Find a preference by name, ignoring case. @return false if there is none */
bool preferences_find(const char *name, enum preference *preference);

/** Get the name of the chosen value: "score". */
const char *
preferences_get_word(const struct preferences *preferences, enum preference preference);

/** Format the names of all values: "score, votes, date". @return a new string */
char *preferences_format_words(enum preference preference);

/** Set a value by name, ignoring case. @return false with PB_ERROR_INPUT */
bool preferences_choose(struct preferences *preferences, enum preference preference,
    const char *word, GError **error);
