/*
 * broken_tokenizer.h - a tokenizer that always fails.
 */
#pragma once

#include "query/tokenizer_ops.h"

static inline bool
broken_tokenizer_split(
    void *self, const char *text, size_t len, tokenizer_found found, void *data)
{
	(void)self;
	(void)text;
	(void)len;
	(void)found;
	(void)data;
	return false;
}
