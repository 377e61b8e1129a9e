/*
 * entity.h - character references of HTML.
 */
#ifndef PAPERBOY_BASE_ENTITY_H
#define PAPERBOY_BASE_ENTITY_H

#include <glib.h>

/**
 * Read a reference: a name that mail uses, or a number.
 *
 * @param text  begins with "&"
 * @param c     set on success only: U+FFFD for a number that is no character
 * @return how many octets it has, with its semicolon; 0 where it is none
 */
size_t entity_parse(const char *text, size_t size, gunichar *c);

#endif
