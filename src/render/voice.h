/*
 * voice.h - what digests say in one language: templates, words, and what they made.
 *
 * The templates are the same for all languages.  A tag `{{>name}}` in one stands for
 * the phrase [digest.name] of the language (render/phrases.h), which is a piece of
 * template itself; it is put in before the template is read.
 */
#ifndef PAPERBOY_RENDER_VOICE_H
#define PAPERBOY_RENDER_VOICE_H

#include <glib.h>

#include "base/auto.h"
#include "render/fragment.h"
#include "render/frame.h"
#include "render/words.h"

enum voice_file {
	VOICE_SUBJECT,
	VOICE_TEXT,
	VOICE_HTML,
	VOICE_PAPER_TEXT,
	VOICE_PAPER_HTML,
	VOICE_FILES
};

struct voice {
	char *language;
	struct words words;
	struct template *templates[VOICE_FILES];
	struct fragment_cache *cache;
	struct frames *frames; /* made by whoever has the settings */
};

/** The template's name in its folder. */
const char *voice_get_file_name(enum voice_file file);

/**
 * Read the templates in one language.
 *
 * @param texts  of the templates, by enum voice_file
 * @param book   borrowed for the voice's life
 * @return NULL with PB_ERROR_INPUT or PB_ERROR_LIMIT
 */
struct voice *voice_new(const struct phrasebook *book, const char *language,
    char *const *texts, GError **error);
void voice_free(struct voice *voice);
PB_DEFINE_AUTO(voice, voice_free);

#endif
