/*
 * inmail_fixture.h - hand-made results of the parser.
 */
#ifndef PAPERBOY_TESTS_LIB_INMAIL_FIXTURE_H
#define PAPERBOY_TESTS_LIB_INMAIL_FIXTURE_H

#include "model/inmail.h"

/** A message with one From, a Message-ID, a subject and a text. */
struct inmail *inbox_new(const char *from, const char *subject, const char *text);

void inbox_mark(struct inmail *mail, const char *name, const char *value);

/** Add an address to one of its lists. */
void inbox_add(GPtrArray *list, const char *address);

/** Append an Authentication-Results field with one result. */
void inbox_vouch(struct inmail *mail, const char *server, const char *method,
    const char *result, const char *properties);

#endif
