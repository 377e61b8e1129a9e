/*
 * print.h - JSON values, single lines, and what only a terminal is shown.
 */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "ctl/ctl.h"
#include "store/mail/bounces.h"

/** Print a JSON value and a newline. @param value taken */
void print_json(json_t *value);

/**
 * Print what a command has done: with --json the value, else the text.
 *
 * @param value  taken
 * @return true
 */
bool print_result(const struct ctl *ctl, json_t *value, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/** Print a JSON value on one line. @param value taken */
void print_json_line(json_t *value);

/** @param text  NULL becomes null */
json_t *print_json_text(const char *text);

/** @param texts  of char *; NULL becomes an empty list */
json_t *print_json_texts(const GPtrArray *texts);

/** @param number  a negative one becomes null */
json_t *print_json_number(int64_t number);

/** Copy a text with '?' for control characters. @return a new string */
char *print_dup_line(const char *text);

/** @return the columns of the terminal; 0: output is no terminal, or --wide is given */
unsigned print_get_width(const struct ctl *ctl);

/**
 * Cut a line to a width, with "…" at its end.
 *
 * @param width  in characters; 0: not cut
 * @return a new string, in which control characters are '?'
 */
char *print_dup_cut(const char *text, unsigned width);

/** Print a word and blanks up to a width; on a terminal in green or red. */
void print_verdict(const char *word, int width, bool is_ok);

/** Show what is being done in the last line of a terminal, on standard error. */
void print_progress(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Clear that line. */
#define print_progress_end() print_progress("%s", "")

/** "2 dead, 1 full", or "none". @return a new string */
char *print_format_bounces(const struct bounce_summary *bounces);

/** Format the numbers of bounces by kind as an object: {"dead": 2}. */
json_t *print_json_bounces(const struct bounce_summary *bounces);
