/*
 * encoded_word.h - decoder for encoded words in header fields (RFC 2047).
 */
#pragma once

#include "parser/charset.h"

/**
 * Decode a field's value to one sanitized line (message/sanitize.h). Adjacent words of
 * the same charset are joined before decoding, because some programs split characters.
 * Raw bytes are read as UTF-8, else as windows-1252.
 *
 * @param max_bytes  longer text is cut at a character
 * @return owned by the caller
 */
char *encoded_word_decode(
    struct charset_set *set, const char *value, size_t size, size_t max_bytes);
