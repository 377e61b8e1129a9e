/*
 * test_command_text.c - find commands in a message.
 */
#include "message/command_text.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
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
	static const struct {
		const char *subject, *text, *wanted;
	} cases[] = {
	    {"", "", ""},
	    {NULL, NULL, ""},
	    {"subscribe", "", "subscribe"},
	    {"SUBSCRIBE name=Ada", "add x\n", "SUBSCRIBE name=Ada|add x"},
	    {"Re: list", "", "list"},
	    {"AW: Re: list", "", "list"},
	    {"RE[2]: [paperboy] Fwd: list", "", "list"},
	    {"回复: list", "", "list"},
	    {"回复：list", "", "list"},
	    {"[a tag] [another] help", "", "help"},
	    {"[broken help", "", ""},
	    {"Re", "list", "list"},
	    {"a question", "list\n", "list"},
	    {"", "Hello,\n\nlist\nstatus\n", "list|status"},
	    {"", "list\nThank you\nstatus\n", "list|status"},
	    {"list", "Thank you\nstatus\n", "list|status"},
	    {"", "list\n\n\nstatus\n", "list|status"},
	    {"", "> del 1\nlist\n> del 2\nstatus", "list|status"},
	    {"", "list\nend\nstatus\n", "list"},
	    {"", "list\nQuit.\nstatus\n", "list"},

	    {"", "list\n-- \nstatus\n", "list"},
	    {"", "list\n--\nstatus\n", "list"},
	    {"", "add one \\\n  two\n", "add one two"},
	    {"", "add one \\\ntwo\nlist", "add one two|list"},
	    {"", "add one\n  two\n\tthree\nlist", "add one two three|list"},
	    {"", "  list\n", "list"},
	    {"", "list\n   \n status\n", "list|status"},
	    {"", "list\r\nstatus\r\n", "list|status"},
	    {"", "list\\", "list"},
	    {"", "unsubscribe.\n", "unsubscribe."},
	    {"", "Help!", "Help!"},
	    /* Abbreviations of verbs, not of aliases. */
	    {"", "sea x\nsubs\nunsu\n", "sea x|subs|unsu"},
	    {"", "Can you help?\n", ""},
	    {"", "Sig\n", ""},
	    {"", "Lea\n", ""},
	    {"", "un\nre\n", ""},
	    /* `un...` could be four verbs. */
	    {"", "res\n", "res"},
	    {"", "exp\nadd x\n", "exp|add x"},
	    {"lsit", "status", "status"},
	    {"", "Hello\n", ""},
	    {"", "Best regards\n", ""},
	    {"", "list\nBest regards\nstatus", "list|status"},
	    {"", "Dear paperboy,\nlist", "list"},
	    /* Settings need no `set` if the whole line is one. */
	    {"", "at 9pm\nmax 10\n", "at 9pm|max 10"},
	    {"", "at 9\n", "at 9"},
	    {"", "At 9 pm tz Europe/Berlin max 5\n", "At 9 pm tz Europe/Berlin max 5"},
	    {"", "weekly\ndaily at 21h\n", "weekly|daily at 21h"},
	    {"", "weekly on mon,thu\nwhen weekdays\n",
	        "weekly on mon,thu|when weekdays"},
	    {"", "abstract short order date\n", "abstract short order date"},
	    {"", "language de\nat 9pm daily\ntimezone Europe/Berlin\n",
	        "language de|at 9pm daily|timezone Europe/Berlin"},
	    {"", "language models\n", ""},
	    {"", "at 9pm we meet\n", ""},
	    {"", "at last\n", ""},
	    {"", "at\n", ""},
	    {"", "now\n", ""},
	    {"", "on friday\n", ""},
	    {"", "max\n", ""},
	    {"", "max and moritz\n", ""},
	    {"", "daily news\n", ""},
	    {"", "order pizza\n", ""},
	    {"", "name Ada\n", ""},
	    /* Control characters are removed. */
	    {"",
	        "add \xe2\x80\xae"
	        "evil\x07\n",
	        "add evil"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *lines = read_message(cases[i].subject, cases[i].text);

		if (strcmp(lines, cases[i].wanted) != 0)
			g_error("'%s' + '%s': '%s', not '%s'", cases[i].subject,
			    cases[i].text, lines, cases[i].wanted);
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
