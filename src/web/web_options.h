/*
 * web_options.h - the command line of paperboy-web.
 */
#ifndef PAPERBOY_WEB_WEB_OPTIONS_H
#define PAPERBOY_WEB_WEB_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"

struct web_options {
	char *config; /* or NULL */
	gboolean is_check, is_version;
};

/** @return false with an error of G_OPTION_ERROR */
bool
web_options_parse(struct web_options *options, int *argc, char ***argv, GError **error);
void web_options_clear(struct web_options *options);

/**
 * Load the configuration, and check what the page needs.
 *
 * @param problems  of char *; all errors are added
 * @return NULL if there were any; owned by the caller
 */
struct settings *
web_options_load(const struct web_options *options, GPtrArray *problems);

#endif
