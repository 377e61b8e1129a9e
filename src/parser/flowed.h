/*
 * flowed.h - paragraphs of format=flowed text on one line each (RFC 3676).
 */
#ifndef PAPERBOY_PARSER_FLOWED_H
#define PAPERBOY_PARSER_FLOWED_H

#include <stdbool.h>

/**
 * Undo the breaks and the stuffing of flowed text.
 *
 * @param text        valid UTF-8 with LF line ends
 * @param is_deleted  DelSp=yes: the blank that marks a soft break goes too
 * @return a line a paragraph; quoted ones begin with one ">" for each level and a
 * blank; owned by the caller
 */
char *flowed_decode(const char *text, bool is_deleted);

#endif
