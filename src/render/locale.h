/*
 * locale.h - what digests say in one language: templates, words, and what they made.
 *
 * The templates are the same for all languages.  A tag `{{>name}}` in one stands for
 * the phrase [digest.name] of the language (render/catalog.h), which is a piece of
 * template itself; it is put in before the template is read.
 */
#ifndef PAPERBOY_RENDER_LOCALE_H
#define PAPERBOY_RENDER_LOCALE_H

#include <glib.h>

#include "base/cleanup.h"
#include "render/entry_block.h"
#include "render/locale_format.h"
#include "render/page.h"

enum locale_file {
	LOCALE_SUBJECT,
	LOCALE_TEXT,
	LOCALE_HTML,
	LOCALE_PAPER_TEXT,
	LOCALE_PAPER_HTML,
	LOCALE_FILES
};

struct locale {
	char *language;
	struct words words;
	struct template *templates[LOCALE_FILES];
	struct entry_block_cache *cache;
	struct pages *frames; /* made by whoever has the settings */
};

/** The template's name in its folder. */
const char *locale_get_file_name(enum locale_file file);

/**
 * Read the templates in one language.
 *
 * @param texts  of the templates, by enum locale_file
 * @param book   borrowed for the voice's life
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct locale *locale_new(const struct catalog *book, const char *language,
    char *const *texts, GError **error);
void locale_free(struct locale *locale);
PB_DEFINE_AUTO(locale, locale_free);

#endif
