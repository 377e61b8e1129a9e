/*
 * phrases.h - what answers say, in each language that there is a file for.
 *
 * A file `answers.LANGUAGE` of the template folder has a line `[name]` before each
 * phrase; `{word}` stands for what is put in.  English has every phrase; where another
 * language lacks one, it speaks English.
 */
#ifndef PAPERBOY_RENDER_PHRASES_H
#define PAPERBOY_RENDER_PHRASES_H

#include <glib.h>
#include <stdbool.h>

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

#endif
