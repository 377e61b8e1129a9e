/*
 * command_text.h - the lines of a letter that are meant as commands.
 *
 * Pure: what a verb is, the caller knows.  The subject comes first, then the text, a
 * command a line.  A line that ends in `\` or is followed by one that starts with a
 * blank goes on there.  Lines that start with `>` are skipped; a line `-- `, `end`
 * or `quit` ends the reading, and so does the first line that is no command
 * after one that is.  Of a letter, BOUNDS_COMMAND_BYTES are read, and
 * BOUNDS_COMMANDS commands.
 */
#ifndef PAPERBOY_MESSAGE_COMMAND_TEXT_H
#define PAPERBOY_MESSAGE_COMMAND_TEXT_H

#include <glib.h>
#include <stdbool.h>

/* What a line is. */
enum command_kind {
	COMMAND_KIND_NONE, /* a greeting, prose */
	COMMAND_KIND_NEAR, /* it would be one if its verb were written right */
	COMMAND_KIND_VERB,
};

/** Judge a line: one line of valid UTF-8, without blanks at its ends, not empty. */
typedef enum command_kind (*command_text_judge)(const char *line);

struct command_text {
	GPtrArray *lines;   /* of char *, in order; kinds VERB and NEAR */
	bool is_in_subject; /* the first one is from there */
	char *stopped_at; /* the line that ended the reading for being no command, when
	                     another command comes after it; or NULL */
	bool is_more;     /* there were more than BOUNDS_COMMANDS */
	bool is_cut;      /* the text was longer than BOUNDS_COMMAND_BYTES */
};

/** @param subject, text  valid UTF-8; NULL is empty */
void command_text_read(const char *subject, const char *text, command_text_judge judge,
    struct command_text *out);
void command_text_clear(struct command_text *lines);

/**
 * Take `Re:`, `AW:`, `Fwd:` and the like, and `[tags]`, off the front of a subject.
 *
 * @return where the rest begins
 */
const char *command_text_skip_prefixes(const char *subject);

#endif
