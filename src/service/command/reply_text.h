/*
 * reply_text.h - the text of an answer: what was asked, a verdict, the next step.
 *
 * Lines of at most BOUNDS_TEXT_COLUMNS, in the words of one language.  Values come
 * from anywhere: each is made one harmless line before it is put in.
 */
#ifndef PAPERBOY_SERVICE_COMMAND_REPLY_TEXT_H
#define PAPERBOY_SERVICE_COMMAND_REPLY_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "render/catalog.h"

struct reply_text {
	const struct catalog *book;
	const char *language;
	/* Who asked may be somebody else: what was typed comes back without anything
	 * that a reader could follow, and not much of it. */
	bool is_guarded;
	GString *text;
};

void reply_text_init(struct reply_text *answer, const struct catalog *book,
    const char *language, bool is_guarded);
void reply_text_clear(struct reply_text *answer);

/** A phrase with its words. @return a new string */
#define reply_text_format(answer, ...) \
	catalog_format((answer)->book, (answer)->language, __VA_ARGS__, NULL)
char *reply_text_format_count(
    const struct reply_text *answer, const char *name, int64_t count);

/** The texts of messages in its language, by enum msg_id. */
#define reply_text_get_texts(answer) \
	catalog_get_texts((answer)->book, (answer)->language)

/** A message that was made elsewhere. @return a new string */
#define reply_text_format_msg(answer, msg) msg_format(msg, reply_text_get_texts(answer))

/** What was typed: lines that start with "> ". */
void reply_text_add_quoted(struct reply_text *answer, const char *line);

/** What was typed, fit to stand within a phrase. @return a new string */
char *reply_text_quote(const struct reply_text *answer, const char *text);

/** The same of a message of ours that may hold such words. @return a new string */
char *reply_text_quote_message(const struct reply_text *answer, const char *text);

/**
 * A verdict: "ok", "error", "wait" or "" in the margin, then the text beside it,
 * wrapped.
 *
 * @param text  may have several lines
 */
void reply_text_add(struct reply_text *answer, const char *margin, const char *text);

/** A phrase beside the margin; see reply_text_format(). */
#define reply_phrase(answer, margin, ...)                                        \
	do {                                                                     \
		g_autofree char *said_ = reply_text_format(answer, __VA_ARGS__); \
		reply_text_add(answer, margin, said_);                           \
	} while (0)

/** A paragraph from the left edge, as it stands but wrapped. */
void reply_text_add_block(struct reply_text *answer, const char *text);

#define reply_text_add_paragraph(answer, ...)                                    \
	do {                                                                     \
		g_autofree char *said_ = reply_text_format(answer, __VA_ARGS__); \
		reply_text_add_block(answer, said_);                             \
	} while (0)

/** Lines that can be pasted back: long ones go on in lines that start with blanks. */
void reply_text_add_command(struct reply_text *answer, const char *line);

/** An empty line, unless there is one or nothing before. */
void reply_text_add_blank(struct reply_text *answer);

/**
 * "Tue 24 Nov 07:30 Europe/Berlin", in the answer's language.
 *
 * @param at  s; negative: the phrase `never`
 * @return a new string
 */
char *
reply_text_format_time(const struct reply_text *answer, int64_t at, const char *zone);

/** "Tue 24 Nov 2026" of a day YYYY-MM-DD. @return a new string */
char *reply_text_format_day(const struct reply_text *answer, const char *day);

#endif
