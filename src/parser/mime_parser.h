/*
 * mime_parser.h - parse an untrusted message into records (message/parser_proto.h).
 *
 * Two steps, so that the sandbox (base/sandbox.h) can close in between: opening
 * converters and our own checks first, libetpan second.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct mime_parser;

/**
 * Check a message against the bounds and open converters for its charsets.
 *
 * @param is_scanned  false only in tests of the unprotected parser
 */
struct mime_parser *mime_parser_new(const char *raw, size_t size, bool is_scanned);
void mime_parser_free(struct mime_parser *parser);
PB_DEFINE_AUTO(mime_parser, mime_parser_free);

/**
 * Parse the message into records, or one that says why it was refused.
 *
 * @param is_filtered  of sandbox_enter()
 * @return of PROTO_TYPE, owned by the caller
 */
GVariant *mime_parser_read(struct mime_parser *parser, bool is_filtered);

/**
 * The program paperboy-parser: read standard input, write records to standard output.
 *
 * @return exit status: EX_OK, also for a refused message; EX_OSERR if the kernel denied
 *         something
 */
int mime_parser_run(bool is_scanned);
