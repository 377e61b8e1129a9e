/*
 * doctor.h - looks for everything that can be wrong with a state folder.
 *
 * It only reads, works while paperboyd does, and goes on as far as it can on what is
 * damaged.  It mends nothing: each finding says what to do.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_DOCTOR_H
#define PAPERBOY_SERVICE_HEALTH_DOCTOR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"

struct doctor_finding {
	char *name; /* stable, for scripts */
	bool is_ok;
	char *text;   /* what was found */
	char *advice; /* what to do; NULL when it is ok */
};

void doctor_finding_free(struct doctor_finding *finding);

/** @return of struct doctor_finding *, in a sensible order of reading */
GPtrArray *doctor_run(const struct settings *settings, int64_t now);

#endif
