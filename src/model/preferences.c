/*
 * preferences.c - a subscriber's digest preferences, without the schedule.
 */
#include "model/preferences.h"

#include "base/error.h"
#include "base/text.h"

#define WORDS_MAX 4

/* Maximum length of an invalid word in an error message. */
#define SHOWN_CHARS 20

static const struct {
	const char *name;
	const char *words[WORDS_MAX + 1]; /* end with NULL */
} rows[PREFERENCE_COUNT] = {
    [PREFERENCE_ORDER] = {"order", {[PREFERENCE_ORDER_SCORE] = "score",
                                       [PREFERENCE_ORDER_VOTES] = "votes",
                                       [PREFERENCE_ORDER_DATE] = "date"}},
    [PREFERENCE_ABSTRACT] = {"abstract", {[PREFERENCE_ABSTRACT_BRIEF] = "brief",
                                             [PREFERENCE_ABSTRACT_SHORT] = "short",
                                             [PREFERENCE_ABSTRACT_FULL] = "full",
                                             [PREFERENCE_ABSTRACT_NONE] = "none"}},
    [PREFERENCE_FORMAT] = {"format", {[PREFERENCE_FORMAT_BOTH] = "both",
                                         [PREFERENCE_FORMAT_TEXT] = "text",
                                         [PREFERENCE_FORMAT_HTML] = "html"}},
    [PREFERENCE_EMPTY] = {"quiet",
        {[PREFERENCE_EMPTY_OFF] = "off", [PREFERENCE_EMPTY_NOTE] = "note"}},
    [PREFERENCE_UPDATES] = {"updates",
        {[PREFERENCE_UPDATES_OFF] = "off", [PREFERENCE_UPDATES_ON] = "on"}},
    [PREFERENCE_CROSSLIST] = {"crosslist",
        {[PREFERENCE_CROSSLIST_ON] = "on", [PREFERENCE_CROSSLIST_OFF] = "off"}},
    [PREFERENCE_ATTACH] = {"attach", {[PREFERENCE_ATTACH_NONE] = "none",
                                         [PREFERENCE_ATTACH_BIBTEX] = "bibtex",
                                         [PREFERENCE_ATTACH_RIS] = "ris",
                                         [PREFERENCE_ATTACH_MARKDOWN] = "markdown"}},
    [PREFERENCE_GROUP] = {"group",
        {[PREFERENCE_GROUP_OFF] = "off", [PREFERENCE_GROUP_ON] = "on"}},
    [PREFERENCE_FEEDBACK] = {"feedback",
        {[PREFERENCE_FEEDBACK_OFF] = "off", [PREFERENCE_FEEDBACK_ON] = "on"}},
    [PREFERENCE_CHECKUP] = {"checkup",
        {[PREFERENCE_CHECKUP_ON] = "on", [PREFERENCE_CHECKUP_OFF] = "off"}},
    [PREFERENCE_VERSIONS] = {"versions",
        {[PREFERENCE_VERSIONS_ONE] = "one", [PREFERENCE_VERSIONS_ALL] = "all"}},
    [PREFERENCE_RETRACTIONS] = {"retractions",
        {[PREFERENCE_RETRACTIONS_DIGEST] = "digest",
            [PREFERENCE_RETRACTIONS_MAIL] = "mail"}},
};

const char *
preferences_get_name(enum preference preference)
{
	return rows[preference].name;
}

bool
preferences_find(const char *name, enum preference *preference)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (g_ascii_strcasecmp(name, rows[i].name) == 0) {
			*preference = (enum preference)i;
			return true;
		}
	}
	return false;
}

const char *
preferences_get_word(const struct preferences *preferences, enum preference preference)
{
	return rows[preference].words[preferences->choice[preference]];
}

char *
preferences_format_words(enum preference preference)
{
	return g_strjoinv(", ", (char **)rows[preference].words);
}

bool
preferences_choose(struct preferences *preferences, enum preference preference,
    const char *word, GError **error)
{
	const char *const *words = rows[preference].words;
	g_autofree char *shown = NULL, *known = NULL;

	for (int i = 0; words[i]; i++) {
		if (g_ascii_strcasecmp(word, words[i]) == 0) {
			preferences->choice[preference] = i;
			return true;
		}
	}
	shown = text_quote(word, SHOWN_CHARS);
	known = preferences_format_words(preference);
	return pb_error_set(error, PB_ERROR_INPUT,
	    N_("{key} must be one of {all}, not '{text}'"), "key",
	    rows[preference].name, "all", known, "text", shown, NULL);
}
