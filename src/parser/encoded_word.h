/*
 * encoded_word.h - text of header fields, decoded (RFC 2047).
 */
#ifndef PAPERBOY_PARSER_ENCODED_WORD_H
#define PAPERBOY_PARSER_ENCODED_WORD_H

#include "parser/charset.h"

/**
 * Decode a field's value to one harmless line (message/sanitize.h).  Words of one
 * charset that follow each other are joined before they are decoded: some programs cut
 * characters in two.  Raw octets are taken for UTF-8, else for windows-1252.
 *
 * @param max_bytes  longer text is cut at a character
 * @return owned by the caller
 */
char *encoded_word_decode(
    struct charset_set *set, const char *value, size_t size, size_t max_bytes);

#endif
