/*
 * reader.h - a foreign message in, records out (mail/letter_wire.h).
 *
 * Two steps, so that the sandbox (letter/sandbox.h) can close in between: what opens
 * files and is code of ours alone comes first, the parser last.
 */
#ifndef PAPERBOY_LETTER_READER_H
#define PAPERBOY_LETTER_READER_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"

struct reader;

/**
 * Take a message in: check it against the bounds and open converters for its charsets.
 *
 * @param is_scanned  false only in a test that wants to see the parser die
 */
struct reader *reader_new(const char *raw, size_t size, bool is_scanned);
void reader_free(struct reader *reader);
PB_DEFINE_AUTO(reader, reader_free);

/** Parse it, or tell why it is refused. @param is_filtered what sandbox_enter() said */
void reader_append(GString *out, struct reader *reader, bool is_filtered);

/**
 * All that the program does: read standard input, write to standard output.
 *
 * @return an exit status: EX_OK when all was told, a refusal too; EX_OSERR when the
 * kernel does not let it work
 */
int reader_run(bool is_scanned);

#endif
