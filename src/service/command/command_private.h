/*
 * command_private.h - what the files of the commands share; for them only.
 */
#ifndef PAPERBOY_SERVICE_COMMAND_COMMAND_PRIVATE_H
#define PAPERBOY_SERVICE_COMMAND_COMMAND_PRIVATE_H

#include <glib.h>
#include <stdbool.h>

#include "message/command_text.h"
#include "model/subscriber.h"
#include "query/query_error.h"
#include "service/command/command.h"
#include "service/command/reply_text.h"

/* A pending line that gives back who had left; nobody can type it. */
#define COMMAND_RESTORE "+restore "

/* A pending line with the language in which a stranger wrote. */
#define COMMAND_LANGUAGE "+language "

struct command_row;

/* A letter's commands under way. */
struct command_work {
	const struct command_context *context;
	const struct command_user *user;
	char *address; /* of the visitor; follows `address` */
	char language[8];
	struct subscriber *subscriber; /* NULL: none, or gone, or pending */
	bool is_final;     /* what runs was confirmed: nothing waits any more */
	bool is_rehearsal; /* what runs is undone, and its answer not read */
	struct reply_text answer;
	struct command_reply *reply;
	char *subscribing; /* the name with which a stranger's subscription begins,
	                      maybe empty; NULL: no line asked for one */
	GString *echoed;   /* lines of a stranger so far, each ended by LF */
	GString *pending;  /* lines that wait, without that of the subscription */
	const struct command_row *exemplified; /* the one whose example was told last */
	bool has_filters; /* lines with filters follow a subscription */
	bool is_inferred; /* the line was no command, and is offered as a filter */
	char *rehearsed;  /* what a line that waits means: the canonical filter */
};

enum command_auth {
	COMMAND_AUTH_NONE,    /* for anybody, and at once */
	COMMAND_AUTH_READ,    /* for a subscriber; the answer goes to nobody else */
	COMMAND_AUTH_CHANGE,  /* for a proven subscriber; else it waits */
	COMMAND_AUTH_CONFIRM, /* waits always */
};

/* Arguments that a verb takes. */
enum command_arity { COMMAND_ARITY_NONE, COMMAND_ARITY_SOME, COMMAND_ARITY_WANTED };

struct command_row {
	const char *verb;
	const char *aliases; /* blanks between; "" for none */
	enum command_auth trust;
	enum command_arity arity;
	/* A stranger's is part of a subscription, or can be asked without one. */
	bool is_for_unknown;
	enum command_mode purpose; /* when it waits */
	const char *arguments;     /* for the help: "[name=N] QUERY" */
	/* The help is the phrase help.VERB, an example of it example.VERB. */

	/**
	 * Run it, within a savepoint of its own.
	 *
	 * @param arguments  what follows the verb, may be empty
	 * @return false with PB_ERROR_INPUT, _NOT_FOUND or _LIMIT: what was wrong,
	 *         told in the answer; any other error ends the letter
	 */
	bool (*run)(struct command_work *work, const char *arguments, GError **error);
	/**
	 * Say it so that it means the same later; NULL: it does as it is.
	 *
	 * @return the line that waits, a new string
	 */
	char *(*fix)(struct command_work *work, const char *arguments, GError **error);
};

/** All commands, ended by a row without verb. */
extern const struct command_row command_rows[];

/** Find a verb by name, alias or unambiguous short form. @return NULL when none is */
const struct command_row *command_table_find(const char *word);

/**
 * Read a line: its verb and what follows, or `set` and all of a line that is a setting.
 *
 * @return NULL when it is no command; arguments are what follows the first word then
 */
const struct command_row *command_table_read(const char *line, const char **arguments);

/** The verb that may be meant. @return NULL when none is near */
const struct command_row *command_table_find_near(const char *word);

/** Split a line into its first word and the rest. @return the word, a new string */
char *command_table_split(const char *line, const char **arguments);

/** What command_text_read() asks. */
enum command_kind command_table_judge(const char *line);

bool command_run_add(struct command_work *work, const char *arguments, GError **error);
bool
command_run_block(struct command_work *work, const char *arguments, GError **error);
bool command_run_edit(struct command_work *work, const char *arguments, GError **error);
bool command_run_del(struct command_work *work, const char *arguments, GError **error);
bool
command_run_unblock(struct command_work *work, const char *arguments, GError **error);
bool command_run_list(struct command_work *work, const char *arguments, GError **error);
bool command_run_test(struct command_work *work, const char *arguments, GError **error);
bool
command_run_search(struct command_work *work, const char *arguments, GError **error);
bool command_run_why(struct command_work *work, const char *arguments, GError **error);
bool
command_run_status(struct command_work *work, const char *arguments, GError **error);
bool command_run_last(struct command_work *work, const char *arguments, GError **error);
bool
command_run_sources(struct command_work *work, const char *arguments, GError **error);
bool command_run_set(struct command_work *work, const char *arguments, GError **error);
bool
command_run_pause(struct command_work *work, const char *arguments, GError **error);
bool
command_run_resume(struct command_work *work, const char *arguments, GError **error);
bool
command_run_address(struct command_work *work, const char *arguments, GError **error);
bool
command_run_export(struct command_work *work, const char *arguments, GError **error);
bool
command_run_forget(struct command_work *work, const char *arguments, GError **error);
bool
command_run_restore(struct command_work *work, const char *arguments, GError **error);
bool
command_run_subscribe(struct command_work *work, const char *arguments, GError **error);
bool command_run_unsubscribe(
    struct command_work *work, const char *arguments, GError **error);
bool
command_run_confirm(struct command_work *work, const char *arguments, GError **error);
bool command_run_undo(struct command_work *work, const char *arguments, GError **error);
bool command_run_help(struct command_work *work, const char *arguments, GError **error);
bool command_run_info(struct command_work *work, const char *arguments, GError **error);

char *
command_fix_reference(struct command_work *work, const char *arguments, GError **error);
char *command_fix_del(struct command_work *work, const char *arguments, GError **error);
char *
command_fix_unblock(struct command_work *work, const char *arguments, GError **error);
char *
command_fix_pause(struct command_work *work, const char *arguments, GError **error);

/** Load the visitor's row anew, after a change. */
bool command_work_load(struct command_work *work, GError **error);

/**
 * Run one line as it was typed, or let it wait; what is wrong with it is told.
 *
 * @return false when the letter has to end
 */
bool command_run_line(struct command_work *work, const char *line, GError **error);

/**
 * Offer the keywords that follow a bare `subscribe` as filters.
 *
 * @param text     of the message
 * @param request  the line that asked to subscribe, or NULL
 */
bool command_infer_filters(
    struct command_work *work, const char *text, const char *request, GError **error);

/** Run a command at once, whoever asks; what is wrong with it is told. */
bool command_run_row(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error);

/**
 * End the answer: what to confirm, what the lines came to, how the person is now.  Sets
 * the reply's text, and what waits.
 */
bool command_finish(struct command_work *work, GError **error);

/** A phrase as an error that is told. @return false, PB_ERROR_INPUT */
#define command_fail(work, error, ...)                                    \
	command_fail_with(error, catalog_format((work)->context->phrases, \
	                             (work)->answer.language, __VA_ARGS__, NULL))
bool command_fail_with(GError **error, char *message);

/**
 * Take a word `KEY=VALUE` or `KEY="VALUE"` off the front of arguments.
 *
 * @param arguments  moved behind it, on success
 * @return the value, a new string; NULL when the first word is none of that key
 */
char *command_take_option(const char **arguments, const char *key);

/** Take the first word, or what is in quotation marks. @return NULL at the end */
char *command_take_word(const char **arguments);

/** Take the value of a key of `set`: a word, or two for `at 9 pm`. */
char *command_take_value(const char **arguments, const char *key);

/**
 * Whether a line is what `set` takes, as a whole: "at 9pm", "weekly on friday", "max
 * 10". Prose hardly ever is, so such a line needs no `set`.
 */
bool command_setting_judge(const char *line);

/** Read a number of papers: 1 to most. */
bool command_parse_number(struct command_work *work, const char *key, const char *text,
    unsigned most, unsigned *number, GError **error);

/** Read `30d`. @param days  1 to BOUNDS_BACKTEST_DAYS */
bool command_parse_days(
    struct command_work *work, const char *text, unsigned *days, GError **error);

/**
 * The line that gives a filter again: `add name=... QUERY`, `block QUERY`.
 *
 * @param has_number  with `number=`, which only lines that waited may have
 */
char *command_format_filter(const struct subscription *subscription, bool has_number);

/**
 * Find a filter of the visitor's by number, name, or `#HASH` as lines that waited have
 * it.
 *
 * @return a new one; NULL with an error
 */
struct subscription *
command_find_reference(struct command_work *work, const char *word, GError **error);

/**
 * Find several, each once.
 *
 * @param arguments    with blanks or commas between
 * @param blocks_only  any other is an error
 * @return of struct subscription *; NULL with an error
 */
GPtrArray *command_find_references(
    struct command_work *work, const char *arguments, bool blocks_only, GError **error);

/** A line with the numbers of filters where fixed ones stand for them. @return a new
 * string, NULL with an error */
char *
command_format_references(struct command_work *work, const char *line, GError **error);

/** Tell of the visitor's filters, blocks and settings. */
bool command_say_list(struct command_work *work, GError **error);

/** Put a problem of a query into the error; its column is one of the query. */
void command_note_problem(struct command_work *work, const char *text,
    const struct query_error *problem, GError **error);

/** Tell what would improve a query. @param notes  of struct msg * */
void command_say_notes(struct command_work *work, const GPtrArray *notes);

/** Tell what a filter would have found. */
bool command_say_backtest(struct command_work *work, const char *text, int number,
    bool is_block, unsigned days, GError **error);

#endif
