/*
 * flowed.h - decoder for format=flowed text (RFC 3676).
 */
#ifndef PAPERBOY_PARSER_FLOWED_H
#define PAPERBOY_PARSER_FLOWED_H

#include <stdbool.h>

/**
 * Join soft-broken lines and remove space-stuffing.
 *
 * @param text        valid UTF-8 with LF line ends
 * @param is_delsp  DelSp=yes: remove the space of a soft break
 * @return one line per paragraph; quoted ones begin with one ">" per level and a space;
 *         owned by the caller
 */
char *flowed_decode(const char *text, bool is_delsp);

#endif
