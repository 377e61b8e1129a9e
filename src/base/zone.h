/*
 * zone.h - installed time zones by IANA name.
 *
 * Names are validated first, since GLib would open any path given as a name.
 */
#pragma once

#include <glib.h>

/**
 * Load a time zone.
 *
 * @param name  an IANA name such as Europe/Berlin, or UTC
 * @return NULL with PB_ERROR_INPUT if the zone is not installed; the message suggests
 *         the closest name
 */
GTimeZone *zone_load(const char *name, GError **error);

/** Load a stored zone; falls back to UTC if it is no longer installed. */
GTimeZone *zone_load_or_utc(const char *name);

/**
 * Find a zone by its name or last component, ignoring case: "berlin", "new york".
 *
 * @return the installed name, a new string; NULL with PB_ERROR_INPUT if there is no
 *         match or more than one
 */
char *zone_find(const char *text, GError **error);
