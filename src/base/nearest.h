/*
 * nearest.h - what somebody may have meant who typed a name wrong.
 */
#ifndef PAPERBOY_BASE_NEAREST_H
#define PAPERBOY_BASE_NEAREST_H

#include <glib.h>

/**
 * Find the name that is most like one that does not exist.
 *
 * Capitals and blanks do not matter; the last part of a name (after '/' or '.') is
 * enough.  A few letters may be wrong, missing or too many, fewer in short names.
 *
 * @param names  ended by NULL; of equally near ones the first is taken
 * @return borrowed from names; NULL when none is near
 */
const char *nearest_find(const char *text, const char *const *names);

#endif
