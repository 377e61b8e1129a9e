/*
 * checks.h - the health checks, and the context that they share.
 */
#pragma once

#include "service/health/health.h"
#include "store/core/store.h"

#define CHECKS_RESTORE_ACTION                                                        \
	"stop paperboyd, then paperboyctl restore FILE with the newest backup; the " \
	"current state is kept aside"

/* Instead of it, for a shared store. */
#define CHECKS_SERVER_ACTION                                                     \
	"check the database server; of damaged rows, restore a dump there, see " \
	"paperboy-machines(7)"

/*
 * For a file with only a wrong mode, suggest chmod rather than a restore, which loses
 * data.
 */
#define CHECKS_FILE_ACTION                                            \
	"follow the advice of the message; when the file is lost or " \
	"damaged, " CHECKS_RESTORE_ACTION

struct health {
	const struct health_options *options;
	const struct status *status;      /* NULL if the store is damaged */
	struct store *store;              /* from health_examine(), or NULL */
	const struct health_check *check; /* the check being run */
	GPtrArray *findings;
	bool is_store_damaged;
};

/**
 * Add a problem; its text is made valid UTF-8, since SQLite quotes damaged pages.
 *
 * @param action  NULL: the default action of the check
 * @return owned by the findings
 */
struct health_finding *health_add(struct health *health, const char *action,
    const char *format, ...) G_GNUC_PRINTF(3, 4);

/** Report no problem, with a text instead of the default one. */
struct health_finding *
health_add_ok(struct health *health, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Checks of the state directory (checks_state.c). */
void check_directory(struct health *health);
void check_files(struct health *health);
void check_drafts(struct health *health);
void check_disk(struct health *health);
void check_wal(struct health *health);
void check_store(struct health *health);
void check_pages(struct health *health);
void check_references(struct health *health);
void check_rows(struct health *health);
void check_filters(struct health *health);
void check_zones(struct health *health);
void check_index(struct health *health);
void check_clock(struct health *health);
void check_key(struct health *health);

/* Checks of the service (checks_service.c). */
void check_daemon(struct health *health);
void check_configuration(struct health *health);
void check_addresses(struct health *health);
void check_sources(struct health *health);
void check_generation(struct health *health);
void check_restored(struct health *health);
void check_crashed(struct health *health);
void check_held(struct health *health);
void check_delivery_pause(struct health *health);
void check_relay(struct health *health);
void check_oauth(struct health *health);
void check_relay_denied(struct health *health);
void check_paused_domains(struct health *health);
void check_outages(struct health *health);
void check_deferred(struct health *health);
void check_waiting(struct health *health);
void check_failed(struct health *health);
void check_quarantine(struct health *health);
void check_inbox(struct health *health);
void check_receivers(struct health *health);
void check_skipped(struct health *health);
void check_confirmations(struct health *health);
void check_commands(struct health *health);
void check_backup(struct health *health);
void check_standby(struct health *health);
void check_one_click(struct health *health);
void check_clock_jump(struct health *health);
