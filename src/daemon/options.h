/*
 * options.h - the command line of paperboyd.
 */
#ifndef PAPERBOY_DAEMON_OPTIONS_H
#define PAPERBOY_DAEMON_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

struct options {
	char *config; /* or NULL */
	char *now;    /* or NULL */
	gboolean is_once, is_check, is_version;
};

/** @return false with an error of G_OPTION_ERROR */
bool options_parse(struct options *options, int *argc, char ***argv, GError **error);
void options_clear(struct options *options);

#endif
