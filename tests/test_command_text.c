/*
 * test_command_text.c - find commands in a message.
 */
#include "message/command_text.h"

#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"
#include "message/prose.h"
#include "service/command/command_private.h"

/* @return the commands of a message, separated by "|" */
static char *
read_message(const char *subject, const char *text)
{
	const struct prose_mail mail = {
	    .subject = command_text_skip_prefixes(subject ? subject : ""),
	    .text = text ? text : "",
	    .is_command = command_table_is_command};
	pb_auto(prose) prose = prose_read(&mail);
	GString *all = g_string_new(NULL);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind == PROSE_COMMAND)
			g_string_append_printf(
			    all, "%s%s", all->len ? "|" : "", item->line);
	}
	return g_string_free(all, FALSE);
}

TEST(commands_are_found)
{
	CASES_FOREACH(row, "command_text", *subject, *text, *wanted) {
		g_autofree char *lines = read_message(row->subject, row->text);

		if (strcmp(lines, row->wanted) != 0)
			g_error("'%s' + '%s': '%s', not '%s'", row->subject, row->text,
			    lines, row->wanted);
	}
}

TEST(names_of_verbs_are_unique)
{
	g_autoptr(GHashTable) names =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);

		g_assert_true(g_hash_table_add(names, g_strdup(row->verb)));
		g_assert_true(command_table_find(row->verb) == row);
		for (char **alias = aliases; *alias; alias++) {
			g_autofree char *upper = g_ascii_strup(*alias, -1);

			g_assert_true(g_hash_table_add(names, g_strdup(*alias)));
			g_assert_true(command_table_find(upper) == row);
		}
	}
}

UNIT_MAIN
