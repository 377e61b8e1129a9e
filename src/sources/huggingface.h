/*
 * huggingface.h - Hugging Face Daily Papers as a source.
 *
 * https://huggingface.co/api/daily_papers, documented in the hub's OpenAPI and without
 * a promise to stay as it is.  The list of a day is in the order of votes, which moves
 * while it is paged: a paper seen twice counts once, one that slipped between two pages
 * comes with the next poll.
 */
#ifndef PAPERBOY_SOURCES_HUGGINGFACE_H
#define PAPERBOY_SOURCES_HUGGINGFACE_H

#include "sources/source.h"

#define HUGGINGFACE_BASE_URL "https://huggingface.co"

/**
 * Make the source.
 *
 * The ETag of an answer is kept only when it came in one page: another page may
 * change while the first does not.
 *
 * @param base_url  HUGGINGFACE_BASE_URL or a mirror, to which `/api/daily_papers?...`
 * is appended; or `file:///folder` (where the http handle allows files), in which a day
 * is `daily_papers-YYYY-MM-DD.json` and a missing one is SOURCE_NOT_YET.  Copied
 * @return named "hf"; free with source_free()
 */
struct source *huggingface_new(const char *base_url);

#endif
