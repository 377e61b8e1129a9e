/*
 * print.h - what paperboyctl shows: tables for people, JSON for scripts.
 */
#ifndef PAPERBOY_CTL_PRINT_H
#define PAPERBOY_CTL_PRINT_H

#include <glib.h>
#include <jansson.h>
#include <stdint.h>

/** Print a JSON value with its newline and free it. @param value taken */
void print_json(json_t *value);

/** A text, or null. */
json_t *print_json_text(const char *text);

/** A number; null for a negative one, which means none. */
json_t *print_json_number(int64_t number);

/**
 * Print rows in columns as wide as need be, the last one open; controls in
 * values are shown as '?'.
 *
 * @param rows   of GStrv, the head first, each with as many cells
 */
void print_table(const GPtrArray *rows);

/** A text as it may be shown in one line: controls are '?'. @return a new string */
char *print_dup_line(const char *text);

/** Make a row for print_table(): cells up to NULL, copied. */
char **print_row(const char *first, ...) G_GNUC_NULL_TERMINATED;

#endif
