/*
 * catalog.h - message catalogue: the texts of replies and digests in each language.
 *
 * A file `answers.LANGUAGE` of the template directory has a line `[name]` before each
 * phrase; `{word}` is a placeholder; a line that starts with `#` is a comment.  The
 * English file is complete; phrases missing in another language are taken from it.  A
 * count has two phrases, such as `papers.one` and `papers.many`.
 */
#ifndef PAPERBOY_RENDER_CATALOG_H
#define PAPERBOY_RENDER_CATALOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct catalog;

/**
 * Load all languages of a directory.
 *
 * @return NULL with PB_ERROR_INPUT (`file:line: ...`) or PB_ERROR_NOT_FOUND
 */
struct catalog *catalog_load(const char *template_dir, GError **error);
void catalog_free(struct catalog *catalog);
PB_DEFINE_AUTO(catalog, catalog_free);

/** Whether there is a file for a language, such as "de". */
bool catalog_has_language(const struct catalog *catalog, const char *language);

/** Format the list of languages: "de, en". @return owned by the caller */
char *catalog_format_languages(const struct catalog *catalog);

/**
 * Format a phrase: its name, then pairs of word and value up to NULL.  Placeholders
 * without a value stay.
 *
 * @return owned by the caller, without a final line end
 */
char *catalog_format(const struct catalog *catalog, const char *language,
    const char *name, ...) G_GNUC_NULL_TERMINATED;

/** Format NAME.one or NAME.many, with {count}. @return owned by the caller */
char *catalog_format_count(const struct catalog *catalog, const char *language,
    const char *name, int64_t count);

/**
 * Get the texts for base/msg.h.
 *
 * @param language  English is used if there is no file for it
 * @return by enum msg_id; borrowed from the catalogue
 */
const char *const *
catalog_get_texts(const struct catalog *catalog, const char *language);

/**
 * Replace each tag `{{>name}}` of a template by a phrase, which may contain other tags.
 *
 * @param prefix  of the phrases: "digest." for [digest.name]
 * @param label   name of the template in errors
 * @return NULL with PB_ERROR_INPUT if there is no such phrase; owned by the caller
 */
char *catalog_expand(const struct catalog *catalog, const char *language,
    const char *prefix, const char *label, const char *text, GError **error);

/** Whether the English file has a phrase. */
bool catalog_has(const struct catalog *catalog, const char *name);

/** List the names of all phrases. @return of const char *, borrowed */
GPtrArray *catalog_list(const struct catalog *catalog);

#endif
