/*
 * flowed.h - decoder for format=flowed text (RFC 3676).
 */
#pragma once

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
