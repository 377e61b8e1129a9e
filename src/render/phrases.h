/*
 * phrases.h - what answers say, in each language that there is a file for.
 *
 * A file `answers.LANGUAGE` of the template folder has a line `[name]` before each
 * phrase; `{word}` stands for what is put in; a line that starts with `#` says
 * something to who writes the file.  English has every phrase; where another language
 * lacks one, it speaks English.  A count has two phrases, such as `papers.one` and
 * `papers.many`.
 */
#ifndef PAPERBOY_RENDER_PHRASES_H
#define PAPERBOY_RENDER_PHRASES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"

struct phrasebook;

/**
 * Load all languages of a folder.
 *
 * @return NULL with PB_ERROR_INPUT (`file:line: ...`) or PB_ERROR_NOT_FOUND
 */
struct phrasebook *phrasebook_load(const char *template_dir, GError **error);
void phrasebook_free(struct phrasebook *book);
PB_DEFINE_AUTO(phrasebook, phrasebook_free);

/** Whether there is a file for a language, such as "de". */
bool phrasebook_has_language(const struct phrasebook *book, const char *language);

/** The languages that there are: "de, en". @return a new string */
char *phrasebook_format_languages(const struct phrasebook *book);

/**
 * Say something: a name of the English file, then words with their values up to NULL.
 * A word without a value stays as it is written.
 *
 * @return a new string without a line end at its end
 */
char *phrases_format(const struct phrasebook *book, const char *language,
    const char *name, ...) G_GNUC_NULL_TERMINATED;

/** Say a count: phrase NAME.one or NAME.many, with {count}. @return a new string */
char *phrases_format_count(const struct phrasebook *book, const char *language,
    const char *name, int64_t count);

/**
 * Get the texts of the messages that are made elsewhere (base/msg.h).
 *
 * @param language  one that there is no file for gets English
 * @return by enum msg_id; the book's
 */
const char *const *
phrasebook_get_texts(const struct phrasebook *book, const char *language);

/** Whether English has a phrase of that name. */
bool phrases_has(const struct phrasebook *book, const char *name);

/** All names of the English file. @return of const char *, the book's */
GPtrArray *phrases_list(const struct phrasebook *book);

#endif
