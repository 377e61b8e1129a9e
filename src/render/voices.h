/*
 * voices.h - what digests say, in every language that there is.
 */
#ifndef PAPERBOY_RENDER_VOICES_H
#define PAPERBOY_RENDER_VOICES_H

#include <glib.h>
#include <stdbool.h>

#include "render/phrases.h"
#include "render/voice.h"

struct voices {
	struct phrasebook *book;
	GPtrArray *list; /* of struct voice *; the first speaks English */
};

/**
 * Read the templates and the phrases of a folder.
 *
 * @param voices  zeroed by the caller; voices_clear() it also after a failure
 * @param sum     what was read is added, for renderer_get_key()
 * @return false with PB_ERROR_INPUT (what is wrong, and where), PB_ERROR_NOT_FOUND or
 *         PB_ERROR_LIMIT
 */
bool
voices_load(struct voices *voices, const char *dir, GChecksum *sum, GError **error);
void voices_clear(struct voices *voices);

/** Get the voice of a language; of one that there is not (any more): English. */
struct voice *voices_get(const struct voices *voices, const char *language);

#endif
