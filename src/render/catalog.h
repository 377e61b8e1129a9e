/*
 * catalog.h - the texts of mails and pages in each language.
 *
 * English texts are in the sources, marked for translation (base/po.h).  Those of other
 * languages are the PO files of po/, which are compiled in; files of the same format in
 * a directory of the operator replace single texts, or add a language.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/po.h"

/* The name of a language in itself: "Deutsch". */
#define CATALOG_OWN_NAME NC_("name of this language", "English")

struct catalog;

/**
 * Load all languages.
 *
 * @param po_dir  of the operator, with files LANGUAGE.po; NULL or absent: none
 * @return NULL with PB_ERROR_INPUT (`file:line: ...`) or PB_ERROR_LIMIT
 */
struct catalog *catalog_load(const char *po_dir, GError **error);
void catalog_free(struct catalog *catalog);
PB_DEFINE_AUTO(catalog, catalog_free);

/** Whether there is a translation to a language, such as "de"; or it is "en". */
bool catalog_has_language(const struct catalog *catalog, const char *language);

/** List the languages, English first: "en", "de". @return borrowed */
const char *const *catalog_get_languages(const struct catalog *catalog);

/** Format the list of languages: "de, en". @return owned by the caller */
char *catalog_format_languages(const struct catalog *catalog);

/** Get the translations to a language. @return borrowed; NULL: all texts are English */
const struct po *catalog_get_po(const struct catalog *catalog, const char *language);

/**
 * Format a text: N_() or NC_(), then pairs of word and value up to NULL.  Placeholders
 * without a value stay.
 *
 * @return owned by the caller
 */
char *catalog_format(const struct catalog *catalog, const char *language,
    const char *text, ...) G_GNUC_NULL_TERMINATED;

/** Format a PL_() for a count, its {count}. @return owned by the caller */
char *catalog_format_count(const struct catalog *catalog, const char *language,
    const char *text, int64_t count);

/**
 * Translate a template: replace each `{{#_}}text{{/_}}` by the translation, in which
 * `{word}` becomes the tag `{{word}}`.  `{{#_ context}}` is an NC_().  White space
 * in the text is one blank each.
 *
 * @param label  name of the template in errors
 * @return NULL with PB_ERROR_INPUT if an end is missing; owned by the caller
 */
char *catalog_expand(const struct catalog *catalog, const char *language,
    const char *label, const char *text, GError **error);

/** Add all texts of all languages to a checksum. */
void catalog_add_to_checksum(const struct catalog *catalog, GChecksum *checksum);
