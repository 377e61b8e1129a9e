/*
 * answer.h - the text of an answer: what was asked, a verdict, the next step.
 *
 * Lines of at most BOUNDS_TEXT_COLUMNS, in the words of one language.  Values come
 * from anywhere: each is made one harmless line before it is put in.
 */
#ifndef PAPERBOY_SERVICE_ANSWER_H
#define PAPERBOY_SERVICE_ANSWER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "render/phrases.h"

struct answer {
	const struct phrasebook *book;
	const char *language;
	/* Who asked may be somebody else: what was typed comes back without anything
	 * that a reader could follow, and not much of it. */
	bool is_guarded;
	GString *text;
};

void answer_init(struct answer *answer, const struct phrasebook *book,
    const char *language, bool is_guarded);
void answer_clear(struct answer *answer);

/** A phrase with its words. @return a new string */
#define answer_format(answer, ...) \
	phrases_format((answer)->book, (answer)->language, __VA_ARGS__, NULL)
char *answer_format_count(const struct answer *answer, const char *name, int64_t count);

/** The texts of messages in its language, by enum msg_id. */
#define answer_get_texts(answer) \
	phrasebook_get_texts((answer)->book, (answer)->language)

/** A message that was made elsewhere. @return a new string */
#define answer_format_msg(answer, msg) msg_format(msg, answer_get_texts(answer))

/** What was typed: lines that start with "> ". */
void answer_echo(struct answer *answer, const char *line);

/** What was typed, fit to stand within a phrase. @return a new string */
char *answer_quote(const struct answer *answer, const char *text);

/** The same of a message of ours that may hold such words. @return a new string */
char *answer_quote_message(const struct answer *answer, const char *text);

/**
 * A verdict: "ok", "error", "wait" or "" in the margin, then the text beside it,
 * wrapped.
 *
 * @param text  may have several lines
 */
void answer_add(struct answer *answer, const char *margin, const char *text);

/** A phrase beside the margin; see answer_format(). */
#define answer_say(answer, margin, ...)                                      \
	do {                                                                 \
		g_autofree char *said_ = answer_format(answer, __VA_ARGS__); \
		answer_add(answer, margin, said_);                           \
	} while (0)

/** A paragraph from the left edge, as it stands but wrapped. */
void answer_add_plain(struct answer *answer, const char *text);

#define answer_say_plain(answer, ...)                                        \
	do {                                                                 \
		g_autofree char *said_ = answer_format(answer, __VA_ARGS__); \
		answer_add_plain(answer, said_);                             \
	} while (0)

/** Lines that can be pasted back: long ones go on in lines that start with blanks. */
void answer_add_command(struct answer *answer, const char *line);

/** An empty line, unless there is one or nothing before. */
void answer_add_gap(struct answer *answer);

/**
 * "Tue 24 Nov 07:30 Europe/Berlin", in the answer's language.
 *
 * @param at  s; negative: the phrase `never`
 * @return a new string
 */
char *answer_format_time(const struct answer *answer, int64_t at, const char *zone);

/** "Tue 24 Nov 2026" of a day YYYY-MM-DD. @return a new string */
char *answer_format_day(const struct answer *answer, const char *day);

#endif
