/*
 * parser_decode.h - convert the output of paperboy-parser to a struct inmail.
 */
#ifndef PAPERBOY_MESSAGE_PARSER_DECODE_H
#define PAPERBOY_MESSAGE_PARSER_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/inmail.h"

/**
 * Decode a complete output (message/parser_proto.h). Everything is validated again: the
 * parser is not trusted.
 *
 * @param mail     set on success only; NULL if the message was refused
 * @param refusal  set on success only: why it was refused, owned by the caller, or NULL
 * @return false with PB_ERROR_INPUT for invalid output
 */
bool parser_decode(const char *data, size_t size, struct inmail **mail, char **refusal,
    GError **error);

#endif
