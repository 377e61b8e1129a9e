/*
 * health.h - the health checks: one table for status, doctor, alerts and metrics.
 *
 * Checks only read, and work while paperboyd runs.  They repair nothing: each problem
 * comes with an action for the operator.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "service/health/status.h"

enum health_severity {
	HEALTH_STATUS,  /* shown by status: doctor is also for a stopped service */
	HEALTH_WARNING, /* shown by status and doctor */
	HEALTH_ALERT,   /* also mailed to mail.owner */
	HEALTH_DAMAGE,  /* of the state directory; takes long: doctor only */
};

struct health;

struct health_check {
	const char *name; /* stable: for scripts, metrics and cursors of alerts */
	enum health_severity severity;
	void (*run)(struct health *health);
	const char *ok;        /* text of doctor if the check adds none */
	const char *action;    /* default action of its problems, or NULL */
	const char *subject;   /* subject of a mail with only this alert */
	int64_t alert_after_s; /* a problem is mailed once it has lasted this long */
	bool needs_users;      /* not mailed before the first subscription */
	bool needs_store;      /* skipped if the store is damaged */
};

/** The table, terminated by a row without name. */
extern const struct health_check health_checks[];

struct health_finding {
	const struct health_check *check; /* or NULL (paperboyctl check) */
	char *name;                       /* of the check, for scripts */
	char *about;                      /* name of a source; or NULL */
	int64_t since;                    /* s; -1: unknown */
	char *text;                       /* without the action */
	char *action;                     /* NULL: no problem */
	bool is_failure; /* the service does not collect, send or receive */
};

void health_finding_free(struct health_finding *finding);

/** "text: action" of a problem. @return a new string */
char *health_finding_format(const struct health_finding *problem);

struct health_options {
	const struct settings *settings;
	const struct status_daemon *daemon;
	/* Of char *: errors of the configuration on disk, for which the settings are
	 * defaults in part; or NULL. */
	const GPtrArray *config_errors;
	int64_t now;
};

/**
 * Run the quick checks.
 *
 * @param status  from status_load() at the same time
 * @return array of struct health_finding *: problems only
 */
GPtrArray *
health_find_problems(const struct health_options *options, const struct status *status);

/**
 * Run all checks.
 *
 * @return array of struct health_finding *, including checks without a problem
 */
GPtrArray *health_examine(const struct health_options *options);
