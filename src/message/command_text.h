/*
 * command_text.h - the subject of a message without what replies add to it.
 *
 * Pure; the caller classifies lines. The subject comes first, then the text, one
 * command per line. A line continues after a trailing `\` and on lines that start with
 * a blank. Lines that start with `>` are skipped. Parsing ends at a line `-- `, `end`
 * or `quit`, and at the first line after a command that is not one. At most
 * BOUNDS_COMMAND_BYTES of a message and BOUNDS_COMMANDS commands are read.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Skip `Re:`, `AW:`, `Fwd:` and `[tags]` at the beginning of a subject.
 *
 * @return the rest
 */
const char *command_text_skip_prefixes(const char *subject);
