/*
 * test_command_text.c - find commands in a message.
 */
#include "message/command_text.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/unit.h"
#include "service/command/command_private.h"

/* " | */
static char *
read_message(const char *subject, const char *text)
{
	struct command_text lines;
	GString *all = g_string_new(NULL);

	command_text_read(subject, text, command_table_classify, &lines);
	for (unsigned i = 0; i < lines.lines->len; i++)
		g_string_append_printf(
		    all, "%s%s", i ? "|" : "", (char *)lines.lines->pdata[i]);
	command_text_clear(&lines);
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
	    {"SUBSCRIBE Ada Lovelace", "add x\n", "SUBSCRIBE Ada Lovelace|add x"},
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
	    {"", "list\nThank you\nstatus\n", "list"},
	    {"list", "Thank you\nstatus\n", "list"},
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
	    /* Misspelt verbs are reported; similar words are not. */
	    {"", "susbcribe\nadd x\n", "susbcribe|add x"},
	    {"", "usbscribe\n", "usbscribe"},
	    {"lsit", "", "lsit"},
	    {"lsit", "status", "status"},
	    {"", "Hello\n", ""},
	    {"", "Best regards\n", ""},
	    {"", "list\nBest regards\nstatus", "list"},
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

TEST(ignored_commands_are_reported)
{
	static const struct {
		const char *text, *stopped_at; /* NULL: nothing was ignored */
	} cases[] = {
	    {"list\nad foo\nstatus\n", "ad foo"},
	    {"list\nThanks,\nAda\nfilters\n", "Thanks,"},
	    {"list\nThanks,\nAda\n", NULL},
	    {"list\nad foo\nend\nstatus\n", NULL},
	    {"list\nad foo\n-- \nstatus\n", NULL},
	    {"list\nad foo\n> status\n", NULL},
	    {"list\nend\nstatus\n", NULL},
	    {"Hello,\nlist\nstatus\n", NULL},
	    {"list\nad foo\nbar\n\nstatus", "ad foo"},
	    /* An unmarked quote. */
	    {"list\nThanks\n\nFrom: paperboy\nSent: today\nlist of papers", NULL},
	    {"list\n\n-----Original Message-----\nstatus", NULL},
	    {"list\nOn Monday paperboy wrote:\nstatus", NULL},
	    {"list\nAm Montag schrieb paperboy:\nstatus", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		pb_local(command_text) lines;

		command_text_read("", cases[i].text, command_table_classify, &lines);
		if (g_strcmp0(lines.stopped_at, cases[i].stopped_at) != 0)
			g_test_fail_printf("'%s': '%s'", cases[i].text,
			    lines.stopped_at ? lines.stopped_at : "nothing");
	}
}

TEST(number_of_commands_is_limited)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct command_text lines;

	for (int i = 0; i < BOUNDS_COMMANDS; i++)
		g_string_append(text, "list\n");
	command_text_read("", text->str, command_table_classify, &lines);
	g_assert_cmpuint(lines.lines->len, ==, BOUNDS_COMMANDS);
	g_assert_false(lines.is_more);
	command_text_clear(&lines);
	command_text_read("list", text->str, command_table_classify, &lines);
	g_assert_cmpuint(lines.lines->len, ==, BOUNDS_COMMANDS);
	g_assert_true(lines.is_more);
	command_text_clear(&lines);
}

TEST(size_of_text_is_limited)
{
	g_autoptr(GString) text = g_string_new("list\n");
	struct command_text lines;

	while (text->len < BOUNDS_COMMAND_BYTES - 7)
		g_string_append_c(text, text->len % 80 ? 'x' : '\n');
	g_string_assign(text, "");
	while (text->len < BOUNDS_COMMAND_BYTES - 7)
		g_string_append_c(text, (text->len + 1) % 80 ? 'x' : '\n');
	g_string_append(text, "\nstatus");
	g_assert_cmpuint(text->len, ==, BOUNDS_COMMAND_BYTES);
	command_text_read("", text->str, command_table_classify, &lines);
	g_assert_false(lines.is_cut);
	g_assert_cmpuint(lines.lines->len, ==, 1);
	command_text_clear(&lines);
	g_string_append_c(text, ' ');
	command_text_read("", text->str, command_table_classify, &lines);
	g_assert_true(lines.is_cut);
	g_assert_cmpuint(lines.lines->len, ==, 0);
	command_text_clear(&lines);
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
