/*
 * ctl.h - the commands of paperboyctl and their shared functions.
 */
#ifndef PAPERBOY_CTL_CTL_H
#define PAPERBOY_CTL_CTL_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/day.h"
#include "config/settings.h"
#include "query/query_error.h"
#include "service/health/status.h"
#include "store/core/store.h"

/*
 * Exit status of status, which is that of a Nagios plugin; doctor has the first for
 * problems other than damage (EX_DATAERR).
 */
#define CTL_EXIT_WARNING 1
#define CTL_EXIT_FAILING 2

struct ctl {
	const struct settings *settings;
	const char *config_path; /* of the configuration, which setup writes */
	struct store *store;     /* NULL for a command that opens it itself */
	struct clock clock;
	int input_fd; /* of import */
	bool is_json;
	char *who;  /* "operator NAME", for the audit log */
	int status; /* exit status after success, usually 0 */
	/* Errors of the configuration, of char *; settings are defaults in part.  NULL
	 * but for status. */
	const GPtrArray *config_errors;
};

/* One command: "subscriber add ADDRESS". */
struct ctl_command {
	const char *noun;
	const char *verb;      /* NULL: the noun alone is the command */
	const char *arguments; /* for the usage line */
	const char *help;      /* one line */
	const char *details;   /* for --help of the command; may be NULL */
	/* argv[0] is the command's name, followed by its options and arguments. */
	bool (*run)(struct ctl *ctl, int argc, char **argv, GError **error);
};

/** All commands, ended by a row without a noun. */
extern const struct ctl_command ctl_commands[];

bool ctl_run_subscriber_add(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_show(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_remove(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_set(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_pause(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_resume(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_forget(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_import(struct ctl *ctl, int argc, char **argv, GError **error);
/** Open the file, as the user who runs the program. @param argv  not changed */
bool ctl_open_import(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_subscriber_export(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_confirmation_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_key_rotate(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_key_restore(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_suppression_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_suppression_add(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_suppression_remove(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_add(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_remove(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_move(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_rename(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_edit(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_test(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_suggest(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_share_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_share_remove(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_config(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_log(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_source_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_source_fetch(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_source_replay(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_filter_explain(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_search(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_why(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_preview(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_digest_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_digest_show(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_show(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_retry(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_hold(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_release(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_queue_drop(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_inbox_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_inbox_show(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_inbox_retry(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_inbox_drop(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_bounce_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_bounce_show(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_bounce_forget(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_bounce_explain(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_receive(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_backup(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_restore(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_generation(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_doctor(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_login(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_provider_list(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_setup(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_check(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_store_copy(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_status(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_reload(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_metrics(struct ctl *ctl, int argc, char **argv, GError **error);

/**
 * Parse a command's own options and check the number of arguments.
 *
 * @param entries  ended by an empty one; NULL for none
 * @param wanted   number of arguments besides the command's name
 */
bool ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error);

/**
 * The same with optional arguments.
 *
 * @param least  arguments besides the command's name; argv ends with NULL
 * @param most   -1: no limit
 */
bool ctl_parse_some(const GOptionEntry *entries, int least, int most, int *argc,
    char ***argv, GError **error);

/** Parse the id of a digest, message, ...: at least 1. @param what  "message" */
bool ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error);

/**
 * Ask for confirmation: "Forget anna@example.org? [y/N]".
 *
 * @param is_yes    --yes was given: do not ask
 * @param question  without the question mark
 * @return false with PB_ERROR_INPUT when the answer is not yes or standard input is not
 *         a terminal
 */
bool ctl_confirm(bool is_yes, const char *question, GError **error);

/**
 * Check that rename(2) may replace a path: root would lose /dev/null by it.
 *
 * @return false with PB_ERROR_INPUT when path is a device, a pipe or a directory
 */
bool ctl_check_replaceable(const char *path, GError **error);

/**
 * Send a command to a running daemon.
 *
 * @return its reply without the last newline, for g_free(); NULL when none is running
 */
char *ctl_ask_daemon(const struct ctl *ctl, const char *command);

/**
 * Log in by OAuth 2 for all that is configured for it.
 *
 * @param token_path  file with a refresh token; NULL: with a browser
 */
bool ctl_log_in(const struct settings *settings, const struct clock *clock,
    const char *token_path, GError **error);

/** Check that the OAuth server knows the client of the settings. */
bool ctl_check_client(
    const struct settings *settings, const struct clock *clock, GError **error);

/**
 * Read a file up to its end, or to one byte more than a limit.
 *
 * @return NULL if reading failed; owned by the caller
 */
GString *ctl_read_stream(FILE *file, size_t limit);

/** Wake a running daemon, if any, to process changes now. */
void ctl_wake_daemon(const struct ctl *ctl);

bool ctl_is_daemon_running(const struct ctl *ctl);

/** Load the key of the state directory, or create it. */
GBytes *ctl_load_key(const struct ctl *ctl, GError **error);

/**
 * Print findings with their actions, and set the exit status.
 *
 * @param findings  of struct health_finding *
 */
void ctl_print_findings(struct ctl *ctl, const GPtrArray *findings);

/** Query the state of a running daemon.  @param daemon to be cleared */
void ctl_load_daemon(const struct ctl *ctl, struct status_daemon *daemon);

/** Print the first line of status when there is nothing else to show. */
void ctl_print_failure(const char *message);

/**
 * Print the position of a syntax error on standard error, and shorten the error to "the
 * filter was refused"; without a syntax error do nothing.  @return false
 */
bool ctl_print_query_error(
    const char *text, const struct query_error *problem, GError **error);

/** @param warnings  of struct msg *, or NULL */
void ctl_print_warnings(GPtrArray *warnings);

#endif
