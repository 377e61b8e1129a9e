/*
 * postgresql_attempts.h - find the server of a URL that is to be used.
 */
#ifndef PAPERBOY_STORE_CORE_POSTGRESQL_ATTEMPTS_H
#define PAPERBOY_STORE_CORE_POSTGRESQL_ATTEMPTS_H

#include <glib.h>
#include <libpq-fe.h>

#include "store/core/history.h"

/* Maximum time for one run, s, after the addresses were found. */
#define POSTGRESQL_ATTEMPTS_S 10

/* Parameters of a connection; a later one replaces an earlier one. */
struct postgresql_parameters {
	const char *names[24], *values[24];
	unsigned count;
};

void postgresql_parameters_add(
    struct postgresql_parameters *parameters, const char *name, const char *value);

struct postgresql_attempts_options {
	const struct postgresql_parameters *parameters;
	/* As in the URL, one for each host; empty: libpq's default. */
	char **hosts, **addresses;
	char **ports; /* or one for all hosts */
	/* Servers that have been used: one that was replaced by them is refused. */
	struct history known[2];
};

/**
 * Connect to all addresses of all hosts at a time, and use the first that answers as it
 * should: none of them waits for one that is cut off.
 *
 * @param history   set on success; the timeline of a standby is 0
 * @param problems  gets a text for each address that cannot be used
 * @return NULL if there is none
 */
PGconn *postgresql_attempts_run(const struct postgresql_attempts_options *options,
    struct history *history, GString *problems);

#endif
