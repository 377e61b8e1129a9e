/*
 * ctl.h - what the commands of paperboyctl share.
 */
#ifndef PAPERBOY_CTL_CTL_H
#define PAPERBOY_CTL_CTL_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "query/query_error.h"
#include "store/core/store.h"

struct ctl {
	const struct settings *settings;
	struct store *store; /* NULL for a command that opens it itself */
	struct clock clock;
	bool is_json;
	char *who;  /* for the audit */
	int status; /* of the program's end when the command did what it had to; 0 */
};

/* One command: "subscriber add ADDRESS". */
struct ctl_command {
	const char *noun;
	const char *verb;      /* NULL: the noun alone is the command */
	const char *arguments; /* for the usage line */
	const char *help;      /* one line */
	const char *details;   /* more, for --help of the command; or NULL */
	/* argv[0] is the command's name; options of its own are still in it. */
	bool (*run)(struct ctl *ctl, int argc, char **argv, GError **error);
};

/** All commands, ended by a row without noun. */
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
bool ctl_run_receive(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_backup(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_restore(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_doctor(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_check(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_status(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_reload(struct ctl *ctl, int argc, char **argv, GError **error);
bool ctl_run_metrics(struct ctl *ctl, int argc, char **argv, GError **error);

/**
 * Parse a command's own options and check how many arguments are left.
 *
 * @param entries  ended by an empty one; NULL for none
 * @param wanted   arguments besides the command's name
 */
bool ctl_parse(
    const GOptionEntry *entries, int wanted, int *argc, char ***argv, GError **error);

/** Read a number of digests, messages and the like: 1 or more. @param what "message" */
bool ctl_parse_id(const char *text, const char *what, int64_t *id, GError **error);

/**
 * Ask before something is destroyed: "Forget anna@example.org? [y/N]".
 *
 * @param is_yes    --yes was given: nothing is asked
 * @param question  without the question mark
 * @return false with PB_ERROR_INPUT when the answer is not yes, or when there is no
 *         terminal to ask on
 */
bool ctl_confirm(bool is_yes, const char *question, GError **error);

/**
 * What is written whole under another name takes the place of what is there by
 * rename(2): root would lose /dev/null by it.
 *
 * @return false with PB_ERROR_INPUT when path is a device, a pipe or a folder
 */
bool ctl_check_replaceable(const char *path, GError **error);

/**
 * Say one word to a running daemon.
 *
 * @return its answer without the last line's end, for g_free(); NULL when none runs
 */
char *ctl_ask_daemon(const struct ctl *ctl, const char *word);

/**
 * As ctl_parse(), where arguments may be left out.
 *
 * @param least  arguments besides the command's name; argv is NULL behind the last
 * @param most   -1: no limit
 */
bool ctl_parse_some(const GOptionEntry *entries, int least, int most, int *argc,
    char ***argv, GError **error);

/** The key of the state folder; made when there is none yet. */
GBytes *ctl_load_key(const struct ctl *ctl, GError **error);

/** Tell a running daemon to look again; none running is fine. */
void ctl_poke_daemon(const struct ctl *ctl);

/** Print what was found right and wrong, with what to do; the status tells too.
 * @param findings  of struct doctor_finding * */
void ctl_print_findings(struct ctl *ctl, const GPtrArray *findings);

/** "2026-11-21 07:30 UTC", or "-" for a negative time. @return a new string */
char *ctl_format_time(int64_t at);

/** Is there a daemon that could be told? */
bool ctl_is_daemon_running(const struct ctl *ctl);

/**
 * Print on standard error where a filter is wrong, and let the error say only that
 * it was refused; nothing when it is not wrong.
 */
void ctl_explain_problem(
    const char *text, const struct query_error *problem, GError **error);

/** @param warnings  of struct msg *, or NULL */
void ctl_print_warnings(GPtrArray *warnings);

#endif
