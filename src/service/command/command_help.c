/*
 * command_help.c - the commands that explain: help, info.
 */
#include <string.h>

#include "base/bounds.h"
#include "service/command/command_private.h"

static char *
format_usage(const struct command_row *row)
{
	return g_strdup_printf(
	    "%s%s%s", row->verb, *row->arguments ? " " : "", row->arguments);
}

static void
say_row(struct command_work *work, const struct command_row *row)
{
	g_autofree char *usage = format_usage(row);
	g_autofree char *help = g_strconcat("help.", row->verb, NULL);
	g_autofree char *example = g_strconcat("example.", row->verb, NULL);

	reply_text_add_plain(&work->answer, usage);
	reply_phrase(&work->answer, "", help, "most", MSG_INT(BOUNDS_FILTERS_PERSON));
	if (*row->aliases) {
		g_auto(GStrv) words = g_strsplit(row->aliases, " ", -1);
		g_autofree char *aliases = g_strjoinv(", ", words);

		reply_phrase(&work->answer, "", "help_aliases", "aliases", aliases);
	}
	if (catalog_has(work->context->phrases, example)) {
		g_autofree char *line = reply_text_format(&work->answer, example);

		reply_phrase(&work->answer, "", "example", "line", line);
	}
}

static void
say_all(struct command_work *work)
{
	reply_text_say_plain(
	    &work->answer, "help_head", "address", work->context->address);
	reply_text_add_blank(&work->answer);
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_autofree char *usage = format_usage(row);
		g_autofree char *brief = g_strconcat("brief.", row->verb, NULL);

		reply_text_add_plain(&work->answer, usage);
		reply_phrase(&work->answer, "", brief);
	}
	reply_text_add_blank(&work->answer);
	reply_text_say_plain(&work->answer, "help_tail");
}

bool
command_run_help(struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	const struct command_row *row = word ? command_table_find(word) : NULL;

	if (word && !row)
		row = command_table_find_near(word);
	/* "Help me, please" */
	if (row)
		say_row(work, row);
	else
		say_all(work);
	(void)error;
	return true;
}

bool
command_run_info(struct command_work *work, const char *arguments, GError **error)
{
	(void)arguments;
	(void)error;
	reply_phrase(&work->answer, "ok", "info", "name",
	    work->context->settings->mail_from_name, "owner",
	    work->context->settings->mail_owner);
	return true;
}
