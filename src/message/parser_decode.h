/*
 * parser_decode.h - what paperboy-parser told, as a letter.
 */
#ifndef PAPERBOY_MESSAGE_PARSER_DECODE_H
#define PAPERBOY_MESSAGE_PARSER_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/inmail.h"

/**
 * Make a letter of a whole output (mail/inmail_wire.h).  Addresses are parsed once
 * more, numbers and names are checked: nothing is believed.
 *
 * @param letter   set on success only; NULL where the message was refused
 * @param refusal  set on success only: why it was refused, owned by the caller, or NULL
 * @return false with PB_ERROR_INPUT where the output is not what the reader writes
 */
bool parser_decode(const char *data, size_t size, struct inmail **mail, char **refusal,
    GError **error);

#endif
