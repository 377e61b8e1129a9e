/*
 * paper_file.h - a file of papers: one JSON object a line, of which id, title and
 * summary are used.
 *
 * Errors end the program.
 */
#pragma once

#include <glib.h>

#include "model/paper.h"

/** Read a file of papers with distinct ids. @return of struct paper * */
GPtrArray *paper_file_read(const char *path);

/** Print an error and end the program. */
void paper_file_fail(const char *format, ...) G_GNUC_PRINTF(1, 2) G_GNUC_NORETURN;
