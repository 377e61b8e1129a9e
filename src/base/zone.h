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
 * @return NULL with PB_ERROR_INPUT when no such zone is installed
 */
GTimeZone *zone_load(const char *name, GError **error);

#endif
