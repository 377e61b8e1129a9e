/*
 * command_text.h - find commands in the subject and text of a message.
 *
 * Pure; the caller classifies lines. The subject comes first, then the text, one
 * command per line. A line continues after a trailing `\` and on lines that start with
 * a blank. Lines that start with `>` are skipped. Parsing ends at a line `-- `, `end`
 * or `quit`, and at the first line after a command that is not one. At most
 * BOUNDS_COMMAND_BYTES of a message and BOUNDS_COMMANDS commands are read.
 */
#ifndef PAPERBOY_MESSAGE_COMMAND_TEXT_H
#define PAPERBOY_MESSAGE_COMMAND_TEXT_H

#include <glib.h>
#include <stdbool.h>

/* Classification of a line. */
enum command_kind {
	COMMAND_KIND_NONE, /* not a command: a greeting, prose */
	COMMAND_KIND_NEAR, /* a command with a misspelt verb */
	COMMAND_KIND_VERB,
};

/** Classify a line of valid UTF-8, not empty, without leading and trailing blanks. */
typedef enum command_kind (*command_text_classifier)(const char *line);

struct command_text {
	GPtrArray *lines;   /* of char *, in order; kinds VERB and NEAR */
	bool is_in_subject; /* the first one is the subject */
	char *
	    stopped_at; /* line that is not a command but is followed by one; or NULL */
	bool is_more;   /* there are more than BOUNDS_COMMANDS */
	bool is_cut;    /* the text is longer than BOUNDS_COMMAND_BYTES */
};

/** @param subject, text  valid UTF-8; NULL is empty */
void command_text_read(const char *subject, const char *text,
    command_text_classifier classify, struct command_text *out);
void command_text_clear(struct command_text *lines);

/**
 * Skip `Re:`, `AW:`, `Fwd:` and `[tags]` at the beginning of a subject.
 *
 * @return the rest
 */
const char *command_text_skip_prefixes(const char *subject);

#endif
