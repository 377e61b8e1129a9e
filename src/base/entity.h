/*
 * entity.h - HTML character references.
 */
#pragma once

#include <glib.h>

/**
 * Parse a numeric reference, or one of the names common in mail.
 *
 * @param text  begins with "&"
 * @param c     set on success only; U+FFFD if the number is not a valid character
 * @return length in bytes including the semicolon; 0 if it is not a reference
 */
size_t entity_parse(const char *text, size_t size, gunichar *c);
