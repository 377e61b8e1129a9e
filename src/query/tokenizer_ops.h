/*
 * tokenizer_ops.h - what cuts text into words: a function that is handed in.
 *
 * The archive and the matcher must cut text alike, so the store lends the
 * tokenizer of its search index (store/core/tokenizer.h).  An object belongs to
 * one thread.
 */
#ifndef PAPERBOY_QUERY_TOKENIZER_OPS_H
#define PAPERBOY_QUERY_TOKENIZER_OPS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Told of one word, in the order of the text.
 *
 * @param token  the word in lower case without diacritics; not NUL-terminated
 * @param start  where it begins in the text, octets
 * @param end    the octet behind it
 */
typedef void (*tokenizer_found)(
    void *data, const char *token, size_t token_len, size_t start, size_t end);

struct tokenizer {
	/* Valid UTF-8 in, @found for each word; false when memory is out. */
	bool (*split)(void *self, const char *text, size_t len, tokenizer_found found,
	    void *data);
	void *self;
};

#endif
