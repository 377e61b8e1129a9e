/*
 * huggingface.h - source: Hugging Face Daily Papers.
 *
 * https://huggingface.co/api/daily_papers, described in the hub's OpenAPI without
 * guarantee of stability.  The list of a day is sorted by votes, which may change
 * between pages: repeated papers are counted once, missed ones come with the next poll.
 */
#pragma once

#include "sources/source.h"

/**
 * Create the source.
 *
 * The ETag is returned for single-page answers only: other pages may change while the
 * first does not.
 *
 * @param options  url is followed by `/api/daily_papers?...`; or it is
 *                 `file:///DIRECTORY` (if the http handle allows files), where a day is
 *                 `daily_papers-YYYY-MM-DD.json` and a missing file is SOURCE_NOT_YET
 * @return to be freed by source_free()
 */
struct source *huggingface_new(const struct source_options *options);
