/*
 * command_private.h - private declarations of the command files.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "message/prose.h"
#include "model/subscriber.h"
#include "query/query_error.h"
#include "service/command/command.h"
#include "service/command/reply_text.h"
#include "store/subscriber/proposals.h"

/*
 * Pending lines that users cannot type: restore a subscriber; language of the request;
 * works that are known.
 */
#define COMMAND_RESTORE  "+restore "
#define COMMAND_LANGUAGE "+language "
/* A number of entries without a name and works, separated by tabs. */
#define COMMAND_KNOWN    "+known "

enum command_auth {
	COMMAND_AUTH_NONE,    /* anybody */
	COMMAND_AUTH_READ,    /* a subscriber; only the subscriber gets the reply */
	COMMAND_AUTH_CHANGE,  /* an authenticated subscriber; else confirmed first */
	COMMAND_AUTH_CONFIRM, /* always confirmed first */
};

enum command_arity {
	COMMAND_ARITY_NONE,
	COMMAND_ARITY_OPTIONAL,
	COMMAND_ARITY_REQUIRED,
};

/* Result of a decision.  Owned. */
struct command_decision {
	char *arguments; /* with the same meaning later; NULL: as typed */
	char *filter;    /* the canonical filter to confirm, or NULL */
	char *what;      /* the filters or papers that are meant, or NULL */
	char *pending;   /* the line to confirm, if users cannot type it; or NULL */
};

/*
 * Apply a command.
 *
 * @param arguments  text after the verb, may be empty
 * @return false with PB_ERROR_INPUT, _NOT_FOUND or _LIMIT, reported in the reply, to
 *         which nothing was added; any other error aborts the message
 */
typedef bool
command_run_fn(struct request *request, const char *arguments, GError **error);

/*
 * Decide on the effect of a command, and apply it to request->planned only; the store
 * is not changed.  Errors as above.
 *
 * @param decision  zeroed by the caller
 */
typedef bool command_decide_fn(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error);

/* Help and examples are the phrases help.VERB, brief.VERB and example.VERB. */
struct command_row {
	const char *verb;
	const char *aliases; /* separated by blanks */
	enum command_auth auth;
	enum command_arity arity;
	bool is_for_unknown; /* allowed to unknown senders, for some only with a
	                      * subscription */
	enum command_confirm confirm;
	const char *arguments; /* for the help: "[name=N] QUERY" */
	command_run_fn *run;
	command_decide_fn *decide; /* NULL: never waits for a confirmation */
};

/** All commands, terminated by a row without verb. */
extern const struct command_row command_rows[];

/** Find a verb by name, alias or unambiguous prefix. @return NULL if there is none */
const struct command_row *command_table_find(const char *text);

/**
 * Find the command of a line: its verb, or `set` for a line of settings.
 *
 * @param arguments  set to the text after the verb, or to the line of settings
 * @return NULL if it is not a command; then arguments follow the first word
 */
const struct command_row *command_table_parse(const char *line, const char **arguments);

/**
 * Find a text of command_help.ini: "brief", "help" or "example".
 *
 * @return English, a new string; NULL if there is none
 */
char *command_table_find_text(const struct command_row *row, const char *kind);

/** Find the verb closest to a misspelled one. @return NULL if none is close */
const struct command_row *command_table_find_closest(const char *text);

/** Split a line into its first word and the rest. @return the word, a new string */
char *command_table_split(const char *line, const char **arguments);

/* Classification of a line. */
enum command_kind {
	COMMAND_KIND_NONE, /* not a command: a greeting, prose */
	COMMAND_KIND_NEAR, /* a command with a misspelt verb */
	COMMAND_KIND_VERB,
};

enum command_kind command_table_classify(const char *line);

/**
 * Whether a line is a command: a verb whose arguments have the form of one, and not a
 * sentence that asks for something else ("add me to the list").
 */
bool command_table_is_command(const char *line);

/** Whether a line is a command with a misspelt verb. */
bool command_table_is_slip(const char *line);

/** Whether an intent of etc/phrases is what a verb does. */
bool command_prose_is_verb(const char *intent, const char *verb);

/** Run the commands of the message, and do or propose what else it asks for. */
bool command_run_prose(struct request *request, GError **error);

/** Propose what a confirming reply asks for beside its consent. */
bool command_propose_more(struct request *request, const char *text, GError **error);

/** Add lines that people often reply with, and what they do. */
void command_add_examples(struct request *request);

/** Run a line that was typed; it is quoted. */
bool command_answer_typed(struct request *request, const char *line, GError **error);

/** Run a line that was not typed. */
bool command_answer_line(struct request *request, const char *line, GError **error);

/** Let a line wait for a confirmation, and show it. */
bool command_propose_line(struct request *request, const char *line, GError **error);

/**
 * Whether a whole line consists of settings without `set`: "at 9pm", "weekly on
 * friday".
 */
bool command_is_settings(const char *line);

command_run_fn command_run_add, command_run_address, command_run_confirm,
    command_run_no, command_run_undo_number, command_run_yes, command_run_del,
    command_run_edit, command_run_export, command_run_follow, command_run_forget,
    command_run_fork, command_run_help, command_run_hide, command_run_invite,
    command_run_like, command_run_more, command_run_taste, command_run_info,
    command_run_last, command_run_list, command_run_pause, command_run_restore,
    command_run_resume, command_run_search, command_run_set, command_run_share,
    command_run_sources, command_run_status, command_run_subscribe, command_run_test,
    command_run_undo, command_run_unfollow, command_run_unshare,
    command_run_unsubscribe, command_run_watch, command_run_why, command_run_known,
    command_run_known_file;

command_decide_fn command_decide_add, command_decide_address, command_decide_del,
    command_decide_edit, command_decide_export, command_decide_follow,
    command_decide_forget, command_decide_fork, command_decide_invite,
    command_decide_like, command_decide_known, command_decide_taste, command_decide_no,
    command_decide_pause, command_decide_resume, command_decide_set,
    command_decide_share, command_decide_subscribe, command_decide_unfollow,
    command_decide_unshare, command_decide_yes;

/** Start planning; for an unsubscribed requester, as a new subscriber. */
bool command_plan_start(struct request *request, GError **error);

/** Set an error to a phrase of the catalog. @return false, PB_ERROR_INPUT */
#define command_fail(request, error, ...)                           \
	command_fail_with(error, catalog_format((request)->catalog, \
	                             (request)->text.language, __VA_ARGS__, NULL))
bool command_fail_with(GError **error, char *message);

/** Replace an error by that of the query, with an excerpt of its text. @return false
 */
bool command_set_query_error(struct request *request, const char *text,
    const struct query_error *problem, GError **error);

/** Take the first word, or quoted text. @return NULL at the end */
char *command_take_word(const char **arguments);

/**
 * Take `KEY=VALUE` or `KEY="VALUE"` off the start of arguments.
 *
 * @return the value, a new string; NULL if the first word has another key
 */
char *command_take_option(const char **arguments, const char *key);

/** Take the value of a setting: a word, or two in `at 9 pm`. */
char *command_take_value(const char **arguments, const char *key);

/** Parse a number from 1 to most. */
bool command_parse_number(struct request *request, const char *key, const char *text,
    unsigned most, unsigned *number, GError **error);

/** Parse a number of days: "30", "30d". */
bool command_parse_days(
    struct request *request, const char *text, unsigned *days, GError **error);

/** Format a canonical text with the accents that were typed. @return a new string */
char *command_format_canonical(
    const struct request *request, const char *canonical, const char *typed);

/** Format a result: 'filter 3 "rlhf": canonical'. @return a new string */
char *command_describe_filter(
    struct request *request, const struct subscription *subscription);

/** Format a filter as the command that adds it. @return a new string */
char *command_format_filter(const struct subscription *subscription, bool has_number);

/** Format the settings as lines with `set`. @return a new string */
char *command_format_preferences(const struct subscriber *subscriber);

/** Add the filter with an id, if there is one, as it is now. */
bool command_add_changed_filter(
    struct request *request, int64_t subscription_id, GError **error);

/**
 * Find a paper by its number in the digest replied to, else by its id.
 *
 * @param digest  loaded on first use; owned by the caller
 * @return the id, which may be unknown; NULL with PB_ERROR_INPUT
 */
char *command_find_paper(
    struct request *request, const char *word, struct digest **digest, GError **error);

/** Whether the first word of arguments may name a paper, by number or id. */
bool command_is_papers(const char *arguments);

/** Whether arguments are numbers only, or empty: "2", "1, 3". */
bool command_is_numbers(const char *arguments);

/** The answer to a "yes" or "no" if nothing waits for one. */
void command_add_nothing_waits(struct request *request);

/** @return of struct subscription *: the filters of the requester */
GPtrArray *command_load_filters(struct request *request, GError **error);

/** Replace references to filters in a pending line by their numbers. */
char *
command_format_references(struct request *request, const char *line, GError **error);

/**
 * Find a filter by number, name or reference.
 *
 * @return an element of own; NULL with PB_ERROR_INPUT
 */
/* Fold a text for comparison: words in lower case with one blank between them. */
char *command_fold_words(const char *text);

/* Whether texts have the same words, but for their case, marks and short endings. */
bool command_has_same_words(const char *one, const char *other);

struct subscription *command_find_filter(
    struct request *request, const GPtrArray *own, const char *word, GError **error);

/** Format a reference for a pending line. @return a new string */
char *command_format_reference(const struct subscription *subscription);

/** Add the result of command_describe_filter(). */
void command_add_filter(
    struct request *request, const char *margin, const struct subscription *filter);

/**
 * Add an edited filter, the one before, and the difference.
 *
 * @param query  the filter as it was typed
 */
bool command_add_edited(struct request *request, const struct subscription *before,
    const struct subscription *after, const char *query, GError **error);

/** Add to a line of `list` what a filter is shared as, or follows. */
bool command_add_shares(
    struct request *request, const struct subscription *filter, GError **error);

/** Append the lines that share and follow filters again. */
bool command_append_shares(struct request *request, GString *lines, GError **error);

void command_add_warnings(struct request *request, const GPtrArray *warnings);
bool command_add_list(struct request *request, GError **error);

/** Add what somebody has to know who has just confirmed a subscription. */
bool command_add_welcome(struct request *request, GError **error);
bool command_add_backtest(struct request *request, const char *text, int number,
    bool is_block, unsigned days, GError **error);

/**
 * Add offered proposals, each with its number, effect and command, and how to take
 * them.
 *
 * @param proposals  of struct proposal *
 */
void command_add_proposals(struct request *request, const GPtrArray *proposals);

/** Add an error to the reply, in its language. */
void command_add_error(
    struct request *request, const struct command_row *row, const GError *problem);
void command_add_usage_error(struct request *request, const struct command_row *row);

/** Add a line with a verb and a token, and the page that does the same. */
void command_add_token(struct request *request, struct reply_text *text,
    const char *verb, const char *mark);

/** Complete the reply: confirmation, counts and status. */
bool command_finish(struct request *request, GError **error);
