/*
 * broken_tokenizer.h - a tokenizer that always fails.
 */
#ifndef PAPERBOY_TESTS_LIB_BROKEN_TOKENIZER_H
#define PAPERBOY_TESTS_LIB_BROKEN_TOKENIZER_H

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

#endif
