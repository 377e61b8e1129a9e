/*
 * locale.h - the templates of each language, with their caches.
 *
 * There is one set of templates.  A tag `{{>name}}` stands for the phrase
 * [digest.name] of the language (render/catalog.h), which may contain tags itself; it
 * is inserted before the template is parsed.
 */
#ifndef PAPERBOY_RENDER_LOCALE_H
#define PAPERBOY_RENDER_LOCALE_H

#include <glib.h>
#include <stdbool.h>

#include "render/catalog.h"
#include "render/entry_block.h"
#include "render/locale_format.h"
#include "render/page.h"

enum locale_file {
	LOCALE_SUBJECT,
	LOCALE_TEXT,
	LOCALE_HTML,
	LOCALE_PAPER_TEXT,
	LOCALE_PAPER_HTML,
	LOCALE_GROUP_TEXT,
	LOCALE_GROUP_HTML,
	LOCALE_ANSWER_TEXT,
	LOCALE_ANSWER_HTML,
	LOCALE_FILES
};

struct locale {
	char *language;
	struct locale_format format;
	struct template *templates[LOCALE_FILES];
	struct entry_view_context *context;
	struct entry_block_cache *cache;
	struct pages *pages; /* set by the renderer, which has the settings */
};

struct locales {
	struct catalog *catalog;
	GPtrArray *list; /* of struct locale *, English first */
};

/**
 * Load the templates and the catalogue of a directory.
 *
 * @param locales   zeroed by the caller; to be passed to locales_clear() even after
 *                  a failure
 * @param checksum  updated with everything read, for renderer_get_cache_key()
 * @return false with PB_ERROR_INPUT, PB_ERROR_NOT_FOUND or PB_ERROR_LIMIT
 */
bool locales_load(
    struct locales *locales, const char *dir, GChecksum *checksum, GError **error);
void locales_clear(struct locales *locales);

/** Get the locale of a language, or English. */
struct locale *locales_get(const struct locales *locales, const char *language);

#endif
