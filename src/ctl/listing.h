/*
 * listing.h - people and their filters as several commands show them.
 */
#ifndef PAPERBOY_CTL_LISTING_H
#define PAPERBOY_CTL_LISTING_H

#include <glib.h>
#include <jansson.h>

#include "ctl/ctl.h"
#include "model/subscriber.h"

/** "weekly on mon,thu at 06:05 Europe/Berlin" @return a new string */
char *listing_format_rhythm(const struct subscriber *subscriber);

/** "active", "paused until 2026-12-01" @return a new string */
char *listing_format_state(const struct subscriber *subscriber);

json_t *listing_json_subscriber(const struct subscriber *subscriber);

/** All that show tells, without the filters. */
void listing_print_subscriber(const struct subscriber *subscriber);

/** @param filters  of struct subscription * */
json_t *listing_json_filters(const GPtrArray *filters);
void listing_print_filters(const GPtrArray *filters);

/** Read a filter's number. @return false with PB_ERROR_INPUT */
bool listing_parse_number(
    const char *address, const char *text, int *number, GError **error);

#endif
