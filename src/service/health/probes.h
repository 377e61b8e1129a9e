/*
 * probes.h - the probes of the health checks, and the context they share.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_PROBES_H
#define PAPERBOY_SERVICE_HEALTH_PROBES_H

#include "service/health/health.h"
#include "store/core/store.h"

#define PROBES_RESTORE_ACTION                                                        \
	"stop paperboyd, then paperboyctl restore FILE with the newest backup; the " \
	"current state is kept aside"

/* Instead of it, for a shared store. */
#define PROBES_SERVER_ACTION                                                     \
	"check the database server; of damaged rows, restore a dump there, see " \
	"paperboy-machines(7)"

/*
 * For a file with only a wrong mode, suggest chmod rather than a restore, which loses
 * data.
 */
#define PROBES_FILE_ACTION                                            \
	"follow the advice of the message; when the file is lost or " \
	"damaged, " PROBES_RESTORE_ACTION

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

/* Checks of the state directory (probes_state.c). */
void probe_directory(struct health *health);
void probe_files(struct health *health);
void probe_drafts(struct health *health);
void probe_disk(struct health *health);
void probe_wal(struct health *health);
void probe_store(struct health *health);
void probe_pages(struct health *health);
void probe_references(struct health *health);
void probe_rows(struct health *health);
void probe_filters(struct health *health);
void probe_zones(struct health *health);
void probe_index(struct health *health);
void probe_clock(struct health *health);
void probe_key(struct health *health);

/* Checks of the service (probes_service.c). */
void probe_daemon(struct health *health);
void probe_configuration(struct health *health);
void probe_addresses(struct health *health);
void probe_sources(struct health *health);
void probe_generation(struct health *health);
void probe_restored(struct health *health);
void probe_crashed(struct health *health);
void probe_held(struct health *health);
void probe_relay(struct health *health);
void probe_oauth(struct health *health);
void probe_relay_denied(struct health *health);
void probe_paused_domains(struct health *health);
void probe_outages(struct health *health);
void probe_deferred(struct health *health);
void probe_waiting(struct health *health);
void probe_failed(struct health *health);
void probe_quarantine(struct health *health);
void probe_inbox(struct health *health);
void probe_receivers(struct health *health);
void probe_skipped(struct health *health);
void probe_confirmations(struct health *health);
void probe_commands(struct health *health);
void probe_one_click(struct health *health);
void probe_clock_jump(struct health *health);

#endif
