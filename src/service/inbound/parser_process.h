/*
 * parser_process.h - have a letter read by a process of its own.
 *
 * paperboy-parser parses what strangers send, and may die of it.  It is started for one
 * letter, with nothing open but its two pipes, an empty environment and the root
 * folder; what it says is taken for hostile (mail/inmail_wire.h).  Nothing of it is
 * left behind.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_PARSER_PROCESS_H
#define PAPERBOY_SERVICE_INBOUND_PARSER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/inmail.h"

struct parser_process_options {
	const char *program; /* absolute path; NULL for the one that was installed */
	int64_t time_ms;     /* it is killed after that; 0 for BOUNDS_PARSER_TIME_S */
	long *peak_kib;      /* set to the most memory it had at once, if not NULL */
};

/**
 * Read a letter.  Blocks until it is read or the time is up; any thread may call it.
 * SIGPIPE must be ignored, and SIGCHLD not.
 *
 * @param raw      the message as it came, of any size
 * @param options  may be NULL
 * @param letter   set on success only; inmail_free() it
 * @return false with PB_ERROR_INPUT where the letter is at fault: it will be refused
 * again; PB_ERROR_TEMPORARY where the process died, hung or babbled: most likely the
 * letter is at fault, and it may be tried again a few times; PB_ERROR_PERMANENT where
 * the process cannot be run at all: nothing is to be held against the letter, and
 * somebody has to look after the machine
 */
bool parser_process_run(const void *raw, size_t size,
    const struct parser_process_options *options, struct inmail **mail, GError **error);

#endif
