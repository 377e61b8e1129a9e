/*
 * catalog.h - what answers say, in each language that there is a file for.
 *
 * A file `answers.LANGUAGE` of the template folder has a line `[name]` before each
 * phrase; `{word}` stands for what is put in; a line that starts with `#` says
 * something to who writes the file.  English has every phrase; where another language
 * lacks one, it speaks English.  A count has two phrases, such as `papers.one` and
 * `papers.many`.
 */
#ifndef PAPERBOY_RENDER_CATALOG_H
#define PAPERBOY_RENDER_CATALOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct catalog;

/**
 * Load all languages of a folder.
 *
 * @return NULL with PB_ERROR_INPUT (`file:line: ...`) or PB_ERROR_NOT_FOUND
 */
struct catalog *catalog_load(const char *template_dir, GError **error);
void catalog_free(struct catalog *book);
PB_DEFINE_AUTO(catalog, catalog_free);

/** Whether there is a file for a language, such as "de". */
bool catalog_has_language(const struct catalog *book, const char *language);

/** The languages that there are: "de, en". @return a new string */
char *catalog_format_languages(const struct catalog *book);

/**
 * Say something: a name of the English file, then words with their values up to NULL.
 * A word without a value stays as it is written.
 *
 * @return a new string without a line end at its end
 */
char *catalog_format(const struct catalog *book, const char *language, const char *name,
    ...) G_GNUC_NULL_TERMINATED;

/** Say a count: phrase NAME.one or NAME.many, with {count}. @return a new string */
char *catalog_format_count(
    const struct catalog *book, const char *language, const char *name, int64_t count);

/**
 * Get the texts of the messages that are made elsewhere (base/msg.h).
 *
 * @param language  one that there is no file for gets English
 * @return by enum msg_id; the book's
 */
const char *const *catalog_get_texts(const struct catalog *book, const char *language);

/** Whether English has a phrase of that name. */
bool catalog_has(const struct catalog *book, const char *name);

/** All names of the English file. @return of const char *, the book's */
GPtrArray *catalog_list(const struct catalog *book);

#endif
