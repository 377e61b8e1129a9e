/*
 * print.h - JSON values and single lines of output.
 */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "store/mail/bounces.h"

/** Print a JSON value and a newline. @param value taken */
void print_json(json_t *value);

/** Print a JSON value on one line. @param value taken */
void print_json_line(json_t *value);

/** @param text  NULL becomes null */
json_t *print_json_text(const char *text);

/** @param number  a negative one becomes null */
json_t *print_json_number(int64_t number);

/** Copy a text with '?' for control characters. @return a new string */
char *print_dup_line(const char *text);

/** "2 dead, 1 full", or "none". @return a new string */
char *print_format_bounces(const struct bounce_summary *bounces);

/** The same as an object. */
json_t *print_json_bounces(const struct bounce_summary *bounces);
