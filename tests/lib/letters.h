/*
 * letters.h - letters as their reader would have told them, made by hand.
 */
#ifndef PAPERBOY_TESTS_LIB_LETTERS_H
#define PAPERBOY_TESTS_LIB_LETTERS_H

#include "model/letter.h"

/** One From, a Message-ID, a subject and a text; no marks. */
struct letter *letters_new(const char *from, const char *subject, const char *text);

void letters_mark(struct letter *letter, const char *name, const char *value);

/** Add an address to one of its lists. */
void letters_add(GPtrArray *list, const char *address);

/** Put an Authentication-Results field with one result below those that are there. */
void letters_vouch(struct letter *letter, const char *server, const char *method,
    const char *result, const char *properties);

#endif
