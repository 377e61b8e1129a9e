/*
 * locales.h - what digests say, in every language that there is.
 */
#ifndef PAPERBOY_RENDER_LOCALES_H
#define PAPERBOY_RENDER_LOCALES_H

#include <glib.h>
#include <stdbool.h>

#include "render/catalog.h"
#include "render/locale.h"

struct locales {
	struct catalog *book;
	GPtrArray *list; /* of struct voice *; the first speaks English */
};

/**
 * Read the templates and the phrases of a folder.
 *
 * @param voices  zeroed by the caller; locales_clear() it also after a failure
 * @param sum     what was read is added, for renderer_get_cache_key()
 * @return false with PB_ERROR_INPUT (what is wrong, and where), PB_ERROR_NOT_FOUND or
 *         PB_ERROR_LIMIT
 */
bool
locales_load(struct locales *locales, const char *dir, GChecksum *sum, GError **error);
void locales_clear(struct locales *locales);

/** Get the voice of a language; of one that there is not (any more): English. */
struct locale *locales_get(const struct locales *locales, const char *language);

#endif
