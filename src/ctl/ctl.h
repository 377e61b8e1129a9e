/*
 * ctl.h - the commands of paperboyctl and their shared functions.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/day.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "model/preferences.h"
#include "query/query_error.h"
#include "service/health/status.h"
#include "store/core/store.h"

/*
 * Exit status of status, which is that of a Nagios plugin; doctor has the first for
 * problems other than damage (EX_DATAERR).
 */
#define CTL_EXIT_WARNING 1
#define CTL_EXIT_FAILING 2

/* A number that was not given. */
#define CTL_UNSET G_MININT

/* Options of all commands; texts are NULL without the option.  Owned. */
struct ctl_options {
	char *address, *answers_path, *at, *consent, *day, *frequency, *from_path,
	    *language, *name, *note, *reason, *recipient, *sender, *since, *socket_path,
	    *state, *templates, *token_path, *until, *zone;
	char *words[PREFERENCE_COUNT];
	char **filters, **settings;
	int catch_up, days, limit, max, wait; /* or CTL_UNSET */
	gboolean has_filters, is_all, is_block, is_browser, is_delivered, is_device,
	    is_dry_run, is_first, is_html, is_lost, is_never_again, is_newest, is_own,
	    is_raw, is_skip_bad, is_take_back, is_verify, is_yes;
};

struct ctl {
	/* argv[0] is the command's name, followed by its arguments and NULL. */
	int argc;
	char **argv;
	struct ctl_options options;
	const struct settings *settings;
	const char *config_path; /* of the configuration, which setup writes */
	struct store *store;     /* NULL for a command that opens it itself */
	GBytes *key;             /* by ctl_get_key(); owned */
	struct clock clock;
	int input_fd; /* of import */
	bool is_json;
	bool is_wide; /* tables are not cut to the width of the terminal */
	char *who;    /* "operator NAME", for the audit log */
	int status;   /* exit status after success, usually 0 */
	/* Errors in the configuration, of char *; `settings` has defaults in place of
	 * what is wrong.  Only `status` runs then and reports them, else NULL. */
	const GPtrArray *config_errors;
};

typedef bool ctl_run_fn(struct ctl *ctl, GError **error);

/* One command: "subscriber add ADDRESS". */
struct ctl_command {
	const char *noun;
	const char *verb;      /* NULL: the noun alone is the command */
	const char *arguments; /* for the usage line */
	const char *help;      /* one line */
	const char *details;   /* for --help of the command; may be NULL */
	int least, most;       /* number of arguments; most is -1 without a limit */
	const char *options;   /* their names, separated by blanks */
	ctl_run_fn *run;
};

/** All commands, ended by a row without a noun. */
extern const struct ctl_command ctl_commands[];

ctl_run_fn ctl_run_subscriber_add, ctl_run_subscriber_list, ctl_run_subscriber_show,
    ctl_run_subscriber_remove, ctl_run_subscriber_set, ctl_run_subscriber_pause,
    ctl_run_subscriber_known, ctl_run_subscriber_resume, ctl_run_subscriber_forget,
    ctl_run_subscriber_import, ctl_run_suppression_import, ctl_run_subscriber_export,
    ctl_run_confirmation_list, ctl_run_key_rotate, ctl_run_key_restore,
    ctl_run_suppression_list, ctl_run_suppression_add, ctl_run_suppression_remove,
    ctl_run_filter_add, ctl_run_filter_list, ctl_run_filter_remove, ctl_run_filter_move,
    ctl_run_filter_rename, ctl_run_filter_edit, ctl_run_filter_test,
    ctl_run_filter_suggest, ctl_run_share_list, ctl_run_share_remove, ctl_run_config,
    ctl_run_log, ctl_run_source_list, ctl_run_source_fetch, ctl_run_source_replay,
    ctl_run_source_try, ctl_run_source_rename, ctl_run_filter_explain, ctl_run_search,
    ctl_run_why, ctl_run_work_join, ctl_run_work_show, ctl_run_work_split,
    ctl_run_preview, ctl_run_digest_list, ctl_run_digest_show, ctl_run_queue_list,
    ctl_run_queue_show, ctl_run_queue_retry, ctl_run_queue_hold, ctl_run_queue_release,
    ctl_run_queue_drop, ctl_run_inbox_list, ctl_run_inbox_show, ctl_run_inbox_retry,
    ctl_run_inbox_drop, ctl_run_bounce_list, ctl_run_bounce_show, ctl_run_bounce_forget,
    ctl_run_bounce_explain, ctl_run_inbox_try, ctl_run_receive, ctl_run_backup,
    ctl_run_upgrade, ctl_run_restore, ctl_run_delivery_pause, ctl_run_delivery_resume,
    ctl_run_invite, ctl_run_generation, ctl_run_doctor, ctl_run_login,
    ctl_run_provider_list, ctl_run_setup, ctl_run_check, ctl_run_store_copy,
    ctl_run_status, ctl_run_reload, ctl_run_metrics;

/** Open the file to import, as the user who runs the program. */
bool ctl_open_import(struct ctl *ctl, GError **error);

/**
 * Take the options of a command off the arguments, and check how many are left.
 *
 * @param ctl  its options are set, also on failure; ctl_options_clear() them
 */
bool ctl_parse(const struct ctl_command *command, struct ctl *ctl, GError **error);

void ctl_options_clear(struct ctl_options *options);

/** Get a number of the options. @param usual  unless it was given */
int ctl_get_number(int number, int usual);

/** Parse the id of a digest, message, ...: at least 1. @param what  "message" */
bool ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error);

/**
 * Ask for confirmation: "Forget anna@example.org? [y/N]".
 *
 * @param question  without the question mark; with --yes it is not asked
 * @return false with PB_ERROR_INPUT when the answer is not yes or standard input is not
 *         a terminal
 */
bool ctl_confirm(const struct ctl *ctl, const char *question, GError **error);

/**
 * Ask whether a file may be replaced, if it exists.
 *
 * @return false with PB_ERROR_INPUT also when path is a device, a pipe or a directory:
 *         root would lose /dev/null by rename(2)
 */
bool ctl_confirm_replace(const struct ctl *ctl, const char *path, GError **error);

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

/** Parse a mail in a file. @param path  "-": standard input @return NULL on error */
struct inmail *ctl_parse_mail(const char *path, GError **error);

/** Wake a running daemon, if any, to process changes now. */
void ctl_wake_daemon(const struct ctl *ctl);

bool ctl_is_daemon_running(const struct ctl *ctl);

/** Load the key of the state directory, or create it. @return borrowed, or NULL */
GBytes *ctl_get_key(struct ctl *ctl, GError **error);

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

/**
 * Read a line of any length.  A NUL in it becomes another control character.
 *
 * @return a new string without the newline; NULL at the end of the input
 */
char *ctl_read_line(FILE *input);

/**
 * Ask for a line: "Your name [Ada]: ".
 *
 * @param usual  or NULL
 * @return a new string without blanks around it; NULL at the end of the input
 */
char *ctl_ask(const char *text, const char *usual);

/** Ask for a secret, as ctl_ask(): it is not shown, and its blanks stay. */
char *ctl_ask_secret(const char *text);
