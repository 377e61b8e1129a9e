/*
 * tokenizer_ops.h - interface of the tokenizer that splits text into words.
 *
 * The archive and the matcher must agree on words, so the store supplies the tokenizer
 * of its search index (store/core/tokenizer.h), whose words in scripts without spaces
 * are overlapping pairs of characters (base/bigram.h). An object belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * Called for each word, in the order of the text.
 *
 * @param token  the word in lower case without diacritics; not NUL-terminated
 * @param start  its first byte in the text
 * @param end    the byte after it
 */
typedef void (*tokenizer_found)(
    void *data, const char *token, size_t token_len, size_t start, size_t end);

struct tokenizer {
	/* Split valid UTF-8. @return false when out of memory */
	bool (*split)(void *self, const char *text, size_t len, tokenizer_found found,
	    void *data);
	void *self;
};
