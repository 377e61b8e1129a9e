/*
 * web_values.h - values of a page: names with texts, flags and lists.
 */
#ifndef PAPERBOY_SERVICE_WEB_WEB_VALUES_H
#define PAPERBOY_SERVICE_WEB_WEB_VALUES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Values are of type a{sv}. */
GVariantBuilder *web_values_new(void);

/** @param text  NULL is empty; invalid UTF-8 is replaced */
void web_values_add(GVariantBuilder *values, const char *name, const char *text);
void web_values_add_number(GVariantBuilder *values, const char *name, int64_t number);
void web_values_add_flag(GVariantBuilder *values, const char *name, bool is_set);

/* Lists are of type aa{sv}. */
GVariantBuilder *web_list_new(void);

/** @param item  taken */
void web_list_add(GVariantBuilder *list, GVariantBuilder *item);

/** @param inner  values or a list; taken */
void web_values_take(GVariantBuilder *values, const char *name, GVariantBuilder *inner);

#endif
