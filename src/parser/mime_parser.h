/*
 * mime_parser.h - a foreign message in, records out (mail/inmail_wire.h).
 *
 * Two steps, so that the sandbox (parser/sandbox.h) can close in between: what opens
 * files and is code of ours alone comes first, the parser last.
 */
#ifndef PAPERBOY_PARSER_MIME_PARSER_H
#define PAPERBOY_PARSER_MIME_PARSER_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct mime_parser;

/**
 * Take a message in: check it against the bounds and open converters for its charsets.
 *
 * @param is_scanned  false only in a test that wants to see the parser die
 */
struct mime_parser *mime_parser_new(const char *raw, size_t size, bool is_scanned);
void mime_parser_free(struct mime_parser *reader);
PB_DEFINE_AUTO(mime_parser, mime_parser_free);

/** Parse it, or tell why it is refused. @param is_filtered what sandbox_enter() said */
void mime_parser_append(GString *out, struct mime_parser *reader, bool is_filtered);

/**
 * All that the program does: read standard input, write to standard output.
 *
 * @return an exit status: EX_OK when all was told, a refusal too; EX_OSERR when the
 * kernel does not let it work
 */
int mime_parser_run(bool is_scanned);

#endif
