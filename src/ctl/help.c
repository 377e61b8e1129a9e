/*
 * help.c - the help of paperboyctl, from the table of commands.
 */
#include "ctl/help.h"

#include <string.h>

#include "base/edit_distance.h"

static void
print_synopsis(const struct ctl_command *command, FILE *out)
{
	fprintf(out, "paperboyctl %s%s%s%s%s", command->noun, command->verb ? " " : "",
	    command->verb ? command->verb : "", *command->arguments ? " " : "",
	    command->arguments);
}

void
help_print_usage(const struct ctl_command *command, FILE *out)
{
	fputs("usage: ", out);
	print_synopsis(command, out);
	fputc('\n', out);
}

void
help_print_all(FILE *out)
{
	fputs("paperboyctl [-c FILE] [--json] COMMAND ...\n\n"
	      "Manages subscribers and filters, and shows what paperboyd does. Works\n"
	      "whether or not the daemon is running.\n\n",
	    out);
	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		fputs("  ", out);
		print_synopsis(command, out);
		fprintf(out, "\n      %s\n", command->help);
	}
	fputs(
	    "\n  -c, --config FILE  read FILE instead of " PAPERBOY_SYSCONFDIR
	    "/paperboy.conf\n"
	    "  --json             print JSON, for scripts; also after the command\n"
	    "  --now TIME         use TIME as the current time, such as "
	    "2026-11-20T09:00:00Z\n"
	    "  --version          print the version\n\n"
	    "Exit status: 0 success; 1 status reports warnings, 2 a failing service;\n"
	    "64 usage error; 65 invalid input; 67 no such subscriber, filter, digest\n"
	    "or message; 69 the store cannot be used; 74 cannot write the output;\n"
	    "75 temporary failure; 78 configuration error.\n",
	    out);
}

bool
help_print_noun(const char *noun, FILE *out)
{
	bool is_any = false;

	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		if (strcmp(command->noun, noun) != 0)
			continue;
		fputs(is_any ? "       " : "usage: ", out);
		print_synopsis(command, out);
		fputc('\n', out);
		is_any = true;
	}
	return is_any;
}

/*
 * Find what was meant by a misspelt word.
 *
 * @param noun  find one of its verbs; NULL: find a noun
 * @return borrowed from the table; NULL if no word is similar
 */
static const char *
find_closest(const char *typed, const char *noun)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (const struct ctl_command *command = ctl_commands; command->noun;
	     command++) {
		if (!noun)
			g_ptr_array_add(words, (char *)command->noun);
		else if (command->verb && strcmp(command->noun, noun) == 0)
			g_ptr_array_add(words, (char *)command->verb);
	}
	if (!words->len)
		return NULL;
	g_ptr_array_add(words, NULL);
	return edit_distance_find_closest(typed, (const char *const *)words->pdata);
}

void
help_print_unknown(const char *noun, const char *verb)
{
	const char *suggestion = find_closest(noun, NULL);
	const char *suggested_verb =
	    suggestion && verb ? find_closest(verb, suggestion) : NULL;

	fprintf(stderr, "paperboyctl: unknown command '%s%s%s'", noun, verb ? " " : "",
	    verb ? verb : "");
	if (suggestion && (suggested_verb || strcmp(suggestion, noun) != 0))
		fprintf(stderr, ": did you mean '%s%s%s'?", suggestion,
		    suggested_verb ? " " : "", suggested_verb ? suggested_verb : "");
	fputc('\n', stderr);
	if (suggested_verb)
		return;
	if (!help_print_noun(suggestion ? suggestion : noun, stderr))
		fputs("Try 'paperboyctl --help'.\n", stderr);
}

void
help_print_command(const struct ctl_command *command)
{
	help_print_usage(command, stdout);
	printf("\n%s.\n", command->help);
	if (command->details)
		printf("%s\n", command->details);
}
