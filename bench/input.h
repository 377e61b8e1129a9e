/*
 * input.h - the store that fill.c made.
 */
#pragma once

#include <stdint.h>

#include "store/core/store.h"

/* The day of the papers, and the noon at which everything happens. */
#define INPUT_DAY "2026-11-20"
#define INPUT_NOW ((int64_t)1795176000)

/** Open a store; an error ends the program. */
struct store *input_open_store(const char *path);
