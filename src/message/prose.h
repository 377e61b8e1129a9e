/*
 * prose.h - what a mail in ordinary words asks for.
 *
 * Pure: the phrases are those of message/phrases.h.  Greetings, signatures and the like
 * are cut, the rest is split into sentences, and each sentence is compared with the
 * intents of all languages.  Every line of the mail becomes an item.
 */
#ifndef PAPERBOY_MESSAGE_PROSE_H
#define PAPERBOY_MESSAGE_PROSE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "message/phrases.h"

enum prose_kind {
	PROSE_COMMAND, /* a line that the caller knows as a command */
	PROSE_WISH,
	PROSE_CUT,    /* not read, see reason */
	PROSE_DOUBT,  /* a wish with a condition, or undecided */
	PROSE_UNREAD, /* not understood */
};

struct prose_item {
	enum prose_kind kind;
	char *line;         /* as it was written, without line breaks */
	const char *reason; /* PROSE_CUT: the set of phrases, or "name", "contact", ...;
	                       static */
	const char *intent; /* PROSE_WISH: "leave"; static */
	GPtrArray *names;   /* const char *: of values, in the order of the text */
	GPtrArray *values;  /* char * */
	bool is_in_subject;
	bool is_whole; /* PROSE_UNREAD: a sentence, not a part of one */
};

struct prose {
	GPtrArray *items;     /* struct prose_item * */
	const char *language; /* of most sentences, or NULL; static */
	bool is_automatic; /* the subject or first line is that of an automatic reply */
};

struct prose_mail {
	const char *subject;      /* without "Re:" and tags */
	const char *text;         /* without quotes */
	const char *const *names; /* of the sender; a line of them is cut */
	/* Whether a line is a command, which is not read as prose. */
	bool (*is_command)(const char *line, void *data);
	/* Whether a line is a misspelt command, and so not a topic; or NULL. */
	bool (*is_slip)(const char *line, void *data);
	void *data;
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

/** Read a line that a pattern of a set covers, in any language. @return as above */
struct prose_item *prose_read_set(const char *set, const char *line);

/** Whether a line can be one topic: few words, none of them of a request. */
bool prose_is_topic(const char *line);

/** Whether a line is a greeting and nothing else. */
bool prose_is_greeting(const char *line);

/** Whether a set of any language has a pattern in a text. */
bool prose_has(const char *set, const char *line);

/**
 * Find what a text that was not understood may be about.
 *
 * @param intents  in the order of preference
 * @return the index of the first one of which a pattern is in the text, after from; -1
 */
int prose_guess(const char *line, const char *const *intents, int from);

/** @return the n-th value of a wish with a name, from 0; NULL if there is none */
const char *prose_get(const struct prose_item *item, const char *name, unsigned n);

/**
 * Format a topic as a filter: a word, a phrase, or either it or the acronym in brackets
 * after it.
 *
 * @param unused  set: text in brackets that is not the acronym; NULL: none
 */
char *prose_format_topic(const char *topic, char **unused);

#endif
