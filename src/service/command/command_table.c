/*
 * command_table.c - every command: its names, who may give it, and what runs.
 */
#include <string.h>

#include "base/edit_distance.h"
#include "base/token.h"
#include "service/command/command_private.h"

#define SHORT_FORM 3  /* letters, at least */
#define LONG_WORD  6  /* of so many letters two may be wrong */
#define WORD_MAX   40 /* octets; no verb is longer */

#define NONE    COMMAND_AUTH_NONE
#define READ    COMMAND_AUTH_READ
#define CHANGE  COMMAND_AUTH_CHANGE
#define CONFIRM COMMAND_AUTH_CONFIRM

const struct command_row command_rows[] = {
    {"subscribe", "sub join", CONFIRM, COMMAND_ARITY_SOME, true,
        COMMAND_CONFIRM_SUBSCRIBE, "[YOUR NAME]", command_run_subscribe, NULL},
    {"confirm", "con accept ok", NONE, COMMAND_ARITY_SOME, true, 0, "[TOKEN]",
        command_run_confirm, NULL},
    {"unsubscribe", "unsub uns leave signoff cancel remove", NONE, COMMAND_ARITY_SOME,
        true, 0, "[*]", command_run_unsubscribe, NULL},
    {"undo", "", NONE, COMMAND_ARITY_WANTED, true, 0, "TOKEN", command_run_undo, NULL},
    {"add", "", CHANGE, COMMAND_ARITY_WANTED, true, COMMAND_CONFIRM_CHANGE,
        "[name=N] [max=N] [note=\"...\"] QUERY", command_run_add, NULL},
    {"del", "delete rm", CHANGE, COMMAND_ARITY_WANTED, false, COMMAND_CONFIRM_CHANGE,
        "FILTER...", command_run_del, command_fix_del},
    {"edit", "change", CHANGE, COMMAND_ARITY_WANTED, false, COMMAND_CONFIRM_CHANGE,
        "FILTER [name=N] [max=N] [note=\"...\"] QUERY", command_run_edit,
        command_fix_reference},
    {"block", "", CHANGE, COMMAND_ARITY_WANTED, true, COMMAND_CONFIRM_CHANGE, "QUERY",
        command_run_block, NULL},
    {"unblock", "", CHANGE, COMMAND_ARITY_WANTED, false, COMMAND_CONFIRM_CHANGE,
        "BLOCK...", command_run_unblock, command_fix_unblock},
    {"list", "which filters", READ, COMMAND_ARITY_NONE, false, 0, "", command_run_list,
        NULL},
    {"set", "", CHANGE, COMMAND_ARITY_WANTED, true, COMMAND_CONFIRM_CHANGE,
        "KEY VALUE...", command_run_set, NULL},
    {"pause", "hold vacation", CHANGE, COMMAND_ARITY_SOME, false,
        COMMAND_CONFIRM_CHANGE, "[14d | until 2026-12-01]", command_run_pause,
        command_fix_pause},
    {"resume", "", CHANGE, COMMAND_ARITY_SOME, false, COMMAND_CONFIRM_CHANGE,
        "[catchup=N]", command_run_resume, NULL},
    {"test", "try preview", READ, COMMAND_ARITY_WANTED, true, 0, "[since=30d] QUERY",
        command_run_test, NULL},
    {"search", "find", READ, COMMAND_ARITY_WANTED, true, 0, "[since=90d] [max=N] QUERY",
        command_run_search, NULL},
    {"why", "", READ, COMMAND_ARITY_WANTED, false, 0, "PAPER", command_run_why, NULL},
    {"status", "", READ, COMMAND_ARITY_NONE, false, 0, "", command_run_status, NULL},
    {"last", "get", READ, COMMAND_ARITY_SOME, false, 0, "[DATE]", command_run_last,
        NULL},
    {"address", "", CONFIRM, COMMAND_ARITY_WANTED, false, COMMAND_CONFIRM_ADDRESS,
        "NEW@HOST", command_run_address, NULL},
    {"export", "", CONFIRM, COMMAND_ARITY_SOME, false, COMMAND_CONFIRM_EXPORT,
        "[json | text]", command_run_export, NULL},
    {"forget", "", CONFIRM, COMMAND_ARITY_WANTED, true, COMMAND_CONFIRM_FORGET, "me",
        command_run_forget, NULL},
    {"sources", "", NONE, COMMAND_ARITY_NONE, true, 0, "", command_run_sources, NULL},
    {"info", "", NONE, COMMAND_ARITY_NONE, true, 0, "", command_run_info, NULL},
    {"help", "", NONE, COMMAND_ARITY_SOME, true, 0, "[COMMAND]", command_run_help,
        NULL},
    {0},
};

char *
command_table_split(const char *line, const char **arguments)
{
	const char *end = strchr(line, ' ');
	char *word = end ? g_strndup(line, (size_t)(end - line)) : g_strdup(line);

	/* "unsubscribe." and "Help!" alone, "list:" and what follows */
	for (size_t size = strlen(word); size > 0 && strchr(".!,:;", word[size - 1]);)
		word[--size] = '\0';
	*arguments = end ? end + 1 : line + strlen(line);
	return word;
}

static bool
has_alias(const struct command_row *row, const char *word)
{
	g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);

	return g_strv_contains((const char *const *)aliases, word);
}

const struct command_row *
command_table_find(const char *text)
{
	g_autofree char *word = g_ascii_strdown(text, -1);
	const struct command_row *found = NULL;
	unsigned count = 0;

	for (const struct command_row *row = command_rows; row->verb; row++)
		if (strcmp(word, row->verb) == 0 || has_alias(row, word))
			return row;
	/* Of a verb itself only: "Can you ..." is no `cancel`. */
	for (const struct command_row *row = command_rows; row->verb; row++) {
		if (strlen(word) >= SHORT_FORM && g_str_has_prefix(row->verb, word)) {
			found = row;
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

const struct command_row *
command_table_read(const char *line, const char **arguments)
{
	g_autofree char *word = command_table_split(line, arguments);
	const struct command_row *row = command_table_find(word);

	if (row || !command_setting_judge(line))
		return row;
	*arguments = line;
	return command_table_find("set");
}

/* A slip is rarely in the first letter; two that changed places are. */
static bool
is_near(const char *word, const char *name)
{
	size_t size = strlen(word);
	bool begins = word[0] == name[0] || (word[0] == name[1] && word[1] == name[0]);

	return begins && strlen(name) > SHORT_FORM &&
	       edit_distance_count_slips(word, size, name, strlen(name)) <=
	           (size >= LONG_WORD ? 2 : 1);
}

const struct command_row *
command_table_find_near(const char *text)
{
	g_autofree char *word = g_ascii_strdown(text, -1);

	if (strlen(word) <= SHORT_FORM || strlen(word) > WORD_MAX)
		return NULL;
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);

		if (is_near(word, row->verb))
			return row;
		for (char **alias = aliases; *alias; alias++)
			if (is_near(word, *alias))
				return row;
	}
	return NULL;
}

/* Other words for it are said in answers to anything, so they need a token. */
static bool
is_to_confirm(const char *word, const char *arguments)
{
	return g_ascii_strncasecmp(word, "conf", 4) == 0 ||
	       (strlen(arguments) == TOKEN_RANDOM_LENGTH && !strchr(arguments, ' '));
}

enum command_kind
command_table_judge(const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	const struct command_row *row = command_table_find(word);

	/* "Ok, thanks" agrees to nothing that waits. */
	if (row && row->run == command_run_confirm && !is_to_confirm(word, arguments))
		return COMMAND_KIND_NONE;
	if (row || command_setting_judge(line))
		return COMMAND_KIND_VERB;
	row = command_table_find_near(word);
	/* "Lost: one cat" is no `list`. */
	if (!row || (row->arity == COMMAND_ARITY_NONE && *arguments) ||
	    (row->arity == COMMAND_ARITY_WANTED && !*arguments))
		return COMMAND_KIND_NONE;
	return COMMAND_KIND_NEAR;
}
