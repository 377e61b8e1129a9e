/*
 * phrases.h - words and phrases of languages that mails are recognised by.
 *
 * Files of etc/phrases, one for each language, which are compiled in.  A line
 * `[section]` precedes its phrases, one on a line, some with a value: `zwei = 2`; a
 * final "_" is a blank.  A line that starts with "#" is a comment.  doc/translating.md
 * describes the sections.
 */
#ifndef PAPERBOY_MODEL_PHRASES_H
#define PAPERBOY_MODEL_PHRASES_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct phrases;

/**
 * Parse a file.
 *
 * @param name  of the file, the language: "de"; also in errors
 * @return NULL with PB_ERROR_INPUT (`name:line: ...`); owned by the caller
 */
struct phrases *phrases_parse(const char *name, const char *text, GError **error);
void phrases_free(struct phrases *phrases);
PB_DEFINE_AUTO(phrases, phrases_free);

/** Get all languages, which are loaded once. @return NULL-terminated */
const struct phrases *const *phrases_get_all(void);

/** Get the code of a language: "de". */
const char *phrases_get_language(const struct phrases *phrases);

/** List the phrases of a section, in order. @return NULL-terminated; may be empty */
const char *const *phrases_get(const struct phrases *phrases, const char *section);

/** Find the value of a phrase in any language. @return NULL if there is none */
const char *phrases_find_value(const char *section, const char *phrase);

#endif
