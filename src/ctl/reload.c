/*
 * reload.c - the command that lets the daemon read its configuration again.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

static void
print_answer(const struct ctl *ctl, bool is_ok, char **problems)
{
	json_t *list;

	if (!ctl->is_json) {
		for (; *problems; problems++)
			fprintf(stderr, "paperboyctl: %s\n", *problems);
		if (is_ok)
			puts("The new configuration is in force; messages on their way "
			     "are finished first.");
		return;
	}
	list = json_array();
	for (; *problems; problems++)
		json_array_append_new(list, print_json_text(*problems));
	print_json(json_pack("{s:b, s:o}", "reloaded", (int)is_ok, "problems", list));
}

bool
ctl_run_reload(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *answer = NULL;
	g_auto(GStrv) lines = NULL;
	bool is_ok;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	answer = ctl_ask_daemon(ctl, "reload", error);
	if (!answer) {
		g_prefix_error(error, "nothing to reload: ");
		return false;
	}
	lines = g_strsplit(g_strchomp(answer), "\n", -1);
	is_ok = strcmp(lines[0], "ok") == 0;
	if (!is_ok && strcmp(lines[0], "refused") != 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "paperboyd is of another version and cannot do that: restart it");
		return false;
	}
	print_answer(ctl, is_ok, lines + 1);
	if (is_ok)
		return true;
	ctl->status = EX_CONFIG;
	g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
	    "nothing is changed: the daemon goes on with the old configuration");
	return false;
}
