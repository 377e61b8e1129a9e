/*
 * list_commands.c - format the command table as items of a manual page.
 */
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "render/wrap.h"
#include "service/command/command_private.h"

#define COLUMNS 78

static const char *const authorizations[] = {
    [COMMAND_AUTH_NONE] = "For anybody.",
    [COMMAND_AUTH_READ] = "For subscribers; the reply goes to their address only.",
    [COMMAND_AUTH_CHANGE] = "Runs at once in a reply to a digest; else it has to be "
                            "confirmed.",
    [COMMAND_AUTH_CONFIRM] = "Always has to be confirmed.",
};

/* Escape words that are mdoc macros: In, No, At ... */
static char *
escape_words(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	g_autofree char *joined = g_strjoinv(" \\&", words);

	return g_strconcat("\\&", joined, NULL);
}

/* Print one sentence per line; other lines are examples. */
static void
print_text(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) quoted = g_strsplit(*line, "\"", -1);
		g_autofree char *safe = g_strjoinv("\\(dq", quoted);
		g_auto(GStrv) sentences = g_strsplit(safe, ". ", -1);
		g_autofree char *whole = g_strjoinv(".\n", sentences);
		g_autofree char *wrapped = wrap_format_text(whole, COLUMNS);

		if (line == lines || g_ascii_isupper(**line)) {
			printf("%s%s", line == lines ? "" : ".Pp\n", wrapped);
		} else {
			g_autofree char *escaped = escape_words(safe);

			/* The first word follows the macro. */
			printf(".Dl %s\n", escaped + strlen("\\&"));
		}
	}
}

static void
print_row(const struct command_row *row)
{
	g_autofree char *text = command_table_find_text(row, "help");
	const char *const values[] = {"most", MSG_INT(BOUNDS_FILTERS_PERSON), NULL};
	g_autofree char *help = msg_fill(text, values);
	g_auto(GStrv) parts = g_strsplit(row->arguments, "\"", -1);
	g_autofree char *arguments = g_strjoinv("\\(dq", parts);

	/* A bracket at the end would be a delimiter. */
	printf(".It Cm %s%s%s%s\n", row->verb, *arguments ? " Ar " : "", arguments,
	    g_str_has_suffix(arguments, "]") ? "\\&" : "");
	if (*row->aliases) {
		g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);
		g_autofree char *also = g_strjoinv(" , ", aliases);

		printf("Also\n.Cm %s .\n.Pp\n", also);
	}
	print_text(help);
	puts(authorizations[row->auth]);
}

int
main(void)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		print_row(row);
	return 0;
}
