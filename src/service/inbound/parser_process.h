/*
 * parser_process.h - run paperboy-parser for one message.
 *
 * The process parses hostile input, and may crash.  It gets two pipes, an empty
 * environment and the root directory; its output is untrusted
 * (message/parser_proto.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/inmail.h"

struct parser_process_options {
	const char *program; /* absolute path; NULL: the installed one */
	int64_t time_ms;     /* timeout; 0: BOUNDS_PARSER_TIME_S */
	long *peak_kib;      /* set to its peak memory, or NULL */
};

/**
 * Parse a message.  Blocks; any thread may call it.  SIGPIPE must be ignored, and
 * SIGCHLD not.
 *
 * @param raw      the message as received, of any size
 * @param options  may be NULL
 * @param mail     set on success only; inmail_free() it
 * @return false with PB_ERROR_INPUT if the message was rejected, and will be again;
 * PB_ERROR_TEMPORARY if the process crashed, timed out or sent invalid output: try
 * again a few times; PB_ERROR_PERMANENT if the process cannot be run: the message is
 * not the cause
 */
bool parser_process_run(const void *raw, size_t size,
    const struct parser_process_options *options, struct inmail **mail, GError **error);

/** Check that the program can be run. @param program  as above */
bool parser_process_check(const char *program, GError **error);
