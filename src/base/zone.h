/*
 * zone.h - time zones by IANA name, from the installed list only.
 *
 * GLib would open any path that a name leads to; here a name is checked first.
 */
#ifndef PAPERBOY_BASE_ZONE_H
#define PAPERBOY_BASE_ZONE_H

#include <glib.h>

/**
 * Load a time zone.
 *
 * @param name  an IANA name such as Europe/Berlin, or UTC
 * @return NULL with PB_ERROR_INPUT when no such zone is installed; the message tells
 *         the nearest one
 */
GTimeZone *zone_load(const char *name, GError **error);

/** Load a zone that was good once; UTC when it has been removed from the system. */
GTimeZone *zone_load_or_utc(const char *name);

/**
 * Find a zone by its name or the last part of it, in any case: "berlin", "new york".
 *
 * @return the installed name, a new string; NULL with PB_ERROR_INPUT when there is none
 *         or more than one
 */
char *zone_find(const char *text, GError **error);

/** The installed zone that may be meant. @return a new string, or NULL */
char *zone_find_nearest(const char *text);

#endif
