/*
 * fakecommands.h - commands that record what they were called with.
 *
 * They replace service/command/command.h in tests of the handler.
 */
#ifndef TESTS_LIB_FAKECOMMANDS_H
#define TESTS_LIB_FAKECOMMANDS_H

#include <glib.h>

/* Record of calls: "run eva@example.com proven;"; created by main(). */
extern GString *fakecommands_done;

/** Compare and clear the record. */
void fakecommands_assert(const char *wanted);

#endif
