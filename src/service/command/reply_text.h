/*
 * reply_text.h - compose the text of a reply: quoted commands, results, paragraphs.
 *
 * Lines of at most BOUNDS_TEXT_COLUMNS, in one language.  Values are untrusted: each is
 * sanitised to one line.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/msg.h"
#include "render/catalog.h"
#include "service/advice/forecast.h"

/* A result, apart from the text.  Owned. */
struct reply_result {
	char *kind; /* "ok", "error" or "wait" */
	char *text;
	char *filter;        /* with a syntax error, or NULL */
	unsigned column;     /* of the error in it, from 1, in characters */
	const char *message; /* English text of the error (struct msg), or NULL */
};

void reply_result_free(struct reply_result *result);

struct reply_text {
	const struct catalog *catalog;
	const char *language;
	/*
	 * The sender may be forged: quotes are short, without links, addresses and
	 * telephone numbers.
	 */
	bool is_guarded;
	GString *text;
	GPtrArray *results; /* recorded too; or NULL.  Borrowed */
};

void reply_text_init(struct reply_text *reply, const struct catalog *catalog,
    const char *language, bool is_guarded);
void reply_text_clear(struct reply_text *reply);

/** Format a phrase with its values. @return a new string */
#define reply_text_format(reply, ...) \
	catalog_format((reply)->catalog, (reply)->language, __VA_ARGS__, NULL)
char *reply_text_format_count(
    const struct reply_text *reply, const char *name, int64_t count);

/** Format how many papers to expect. @return a new string; NULL if it is not known */
char *reply_text_format_forecast(
    const struct reply_text *reply, const struct forecast *forecast);

#define reply_text_get_po(reply) catalog_get_po((reply)->catalog, (reply)->language)

/** Format a message in its language. @return a new string */
#define reply_text_format_msg(reply, msg) msg_format(msg, reply_text_get_po(reply))

/** Add user input as lines that start with "> ". */
void reply_text_add_quoted(struct reply_text *reply, const char *line);

/** Sanitise user input for use in a phrase. @return a new string */
char *reply_text_quote(const struct reply_text *reply, const char *text);

/** Sanitise a message that may contain user input. @return a new string */
char *reply_text_quote_message(const struct reply_text *reply, const char *text);

/**
 * Add a result, wrapped, and its text: "ok", "error", "-" (waits) or "" in the margin.
 *
 * @param text  may have several lines
 */
void reply_text_add(struct reply_text *reply, const char *margin, const char *text);

/** Add a phrase as a result; see reply_text_format(). */
#define reply_phrase(reply, margin, ...)                                             \
	do {                                                                         \
		g_autofree char *formatted_ = reply_text_format(reply, __VA_ARGS__); \
		reply_text_add(reply, margin, formatted_);                           \
	} while (0)

/** Add a text without margin, wrapped. */
void reply_text_add_block(struct reply_text *reply, const char *text);

/** Add a phrase without margin. */
#define reply_text_add_paragraph(reply, ...)                                         \
	do {                                                                         \
		g_autofree char *formatted_ = reply_text_format(reply, __VA_ARGS__); \
		reply_text_add_block(reply, formatted_);                             \
	} while (0)

/** Add a command to be pasted; continuation lines start with blanks. */
void reply_text_add_command(struct reply_text *reply, const char *line);

/** Add an empty line, unless the text is empty or ends with one. */
void reply_text_add_blank(struct reply_text *reply);

/**
 * Format a time: "Tue 24 Nov 07:30 Europe/Berlin".
 *
 * @param at  s; negative: the phrase `never`
 * @return a new string
 */
char *
reply_text_format_time(const struct reply_text *reply, int64_t at, const char *zone);

/** Format a day YYYY-MM-DD: "Tue 24 Nov 2026". @return a new string */
char *reply_text_format_day(const struct reply_text *reply, const char *day);
