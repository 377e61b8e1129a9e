/*
 * prose.h - what a mail in ordinary words asks for.
 *
 * Greetings, signatures and the like are cut, the rest is split into sentences, and
 * each sentence is compared with the intents of all languages (model/phrases.h).  Every
 * line of the mail becomes an item.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/phrases.h"

enum prose_kind {
	PROSE_COMMAND, /* a line that the caller knows as a command */
	PROSE_WISH,
	PROSE_CUT,    /* not read, see reason */
	PROSE_DOUBT,  /* a wish with a condition, or undecided */
	PROSE_UNREAD, /* not understood */
};

struct prose_item {
	enum prose_kind kind;
	char *line;                /* as it was written, without line breaks */
	const char *reason;        /* PROSE_CUT: "closing", "name", ...; static */
	struct phrases_match wish; /* PROSE_WISH: intent and values; each topic of the
	                              slot topics is a value "topic" */
	bool is_in_subject;
	bool is_whole;   /* PROSE_UNREAD: a sentence, not a part of one */
	bool is_leaving; /* PROSE_DOUBT: a wish to leave that may be for a time only */
	bool is_listed;  /* with a bullet */
	unsigned sentence; /* number of its sentence */
	unsigned paragraph;
};

struct prose {
	GPtrArray *items;     /* struct prose_item * */
	const char *language; /* of most sentences, or NULL; static */
	bool is_automatic; /* the subject or first line is that of an automatic reply */
};

struct prose_mail {
	const char *subject;       /* without "Re:" and tags */
	const char *whole_subject; /* with that of our mail in a reply; or NULL */
	const char *text;          /* without quotes */
	bool is_reply;             /* to a mail of ours */
	const char *const *names;  /* of the sender; a line of them is cut */
	/* Whether a line is a command, which is not read as prose. */
	bool (*is_command)(const char *line);
	/* Whether a line is a misspelt command, and so not a topic; or NULL. */
	bool (*is_slip)(const char *line);
};

struct prose *prose_read(const struct prose_mail *mail);
void prose_free(struct prose *prose);
PB_DEFINE_AUTO(prose, prose_free);

/**
 * Read a line that is one wish as a whole.
 *
 * @return NULL if it is not; free with prose_item_free()
 */
struct prose_item *prose_read_line(const char *line);
void prose_item_free(struct prose_item *item);
PB_DEFINE_AUTO(prose_item, prose_item_free);

/** Find an item with an intent. @return NULL if there is none */
const struct prose_item *prose_find(const struct prose *prose, const char *intent);

/** Whether a line can be one topic: no end of a sentence, no word of a request. */
bool prose_is_topic(const char *line);

/** Whether a line starts with a phrase of a section of any language. */
bool prose_starts_with(const char *section, const char *line);

/** Whether a line is a yes or no, and nothing else. */
bool prose_is_answer(const char *line);

/** Whether a section of any language has a phrase in a line. */
bool prose_has(const char *section, const char *line);

/** Whether a line of a mail has a condition or the like, but not "if possible". */
bool prose_has_doubt(const struct prose *prose, const char *line);

/**
 * Format a topic as a filter: a word, a phrase, or either it or the acronym in brackets
 * after it.
 *
 * @param unused  set: text in brackets that is not the acronym; NULL: none
 */
char *prose_format_topic(const char *topic, char **unused);
