/*
 * fakecommands.h - commands that note what they were asked for, and do little.
 *
 * They stand in the place of service/command/command.h, so that what the front itself
 * lets through shows.
 */
#ifndef TESTS_LIB_FAKECOMMANDS_H
#define TESTS_LIB_FAKECOMMANDS_H

#include <glib.h>

/* What they were asked to do: "run eva@example.com proven;"; made by main(). */
extern GString *fakecommands_done;

/** What was asked for since the last look. */
void fakecommands_assert(const char *wanted);

#endif
