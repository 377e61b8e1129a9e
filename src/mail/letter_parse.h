/*
 * letter_parse.h - what paperboy-letter told, as a letter.
 */
#ifndef PAPERBOY_MAIL_LETTER_PARSE_H
#define PAPERBOY_MAIL_LETTER_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/letter.h"

/**
 * Make a letter of a whole output (mail/letter_wire.h).  Addresses are parsed once
 * more, numbers and names are checked: nothing is believed.
 *
 * @param letter   set on success only; NULL where the message was refused
 * @param refusal  set on success only: why it was refused, owned by the caller, or NULL
 * @return false with PB_ERROR_INPUT where the output is not what the reader writes
 */
bool letter_parse(const char *data, size_t size, struct letter **letter, char **refusal,
    GError **error);

#endif
