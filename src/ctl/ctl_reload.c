/*
 * ctl_reload.c - the command that lets the daemon read its configuration again.
 */
#include <stdio.h>
#include <sysexits.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

static void
print_answer(const struct ctl *ctl, bool is_ok, char **problems)
{
	json_t *list;

	if (ctl->is_json) {
		list = json_array();
		for (; *problems; problems++)
			json_array_append_new(list, print_json_text(*problems));
		print_json(
		    json_pack("{s:b, s:o}", "reloaded", (int)is_ok, "problems", list));
		return;
	}
	for (; *problems; problems++)
		fprintf(stderr, "paperboyctl: %s\n", *problems);
	if (is_ok)
		puts("The new configuration is in force; messages on their way are "
		     "finished first.");
	else
		fputs("paperboyctl: nothing is changed: the daemon goes on with the "
		      "old configuration\n",
		    stderr);
}

bool
ctl_run_reload(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *answer = NULL;
	g_auto(GStrv) lines = NULL;
	bool is_ok, is_refused;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	answer = ctl_ask_daemon(ctl, "reload");
	if (!answer) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "nothing to reload: no paperboyd runs on '%s'",
		    ctl->settings->state_dir);
		return false;
	}
	lines = g_strsplit(answer, "\n", -1);
	is_ok = g_strcmp0(lines[0], "ok") == 0;
	is_refused = g_strcmp0(lines[0], "refused") == 0;
	if (!is_ok && !is_refused) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
		    "paperboyd did not answer that: try again, or restart it when it "
		    "is of another version");
		return false;
	}
	print_answer(ctl, is_ok, lines + 1);
	if (is_refused)
		ctl->status = EX_CONFIG;
	return true;
}
