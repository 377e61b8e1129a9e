/*
 * ctl_key.c - the commands key rotate and key restore.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/health/key_change.h"

bool
ctl_run_key_rotate(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE, is_lost = FALSE;
	const GOptionEntry entries[] = {
	    {"lost", 0, 0, G_OPTION_ARG_NONE, &is_lost, NULL, NULL},
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	struct key_change change = {.who = ctl->who, .now = clock_get_now(&ctl->clock)};
	int64_t suppressed;

	if (!ctl_parse(entries, 0, &argc, &argv, error) ||
	    !ctl_confirm(is_yes,
	        is_lost ? "Make a new key, and give up links in mail that was sent"
	                : "Make a new key, and keep the old one for what was sent",
	        error))
		return false;
	change.is_lost = is_lost;
	if (!key_rotate(ctl->settings, &change, &suppressed, error))
		return false;
	if (ctl->is_json) {
		print_json(json_pack("{s:b, s:I}", "rotated", 1,
		    "suppressions_without_effect", (json_int_t)suppressed));
		return true;
	}
	puts("There is a new key. Make a backup: older ones have only the old key.");
	if (suppressed)
		printf("%" G_GINT64_FORMAT " suppressed %s cannot be recognised any "
		       "more: suppress %s again.\n",
		    suppressed, suppressed == 1 ? "address" : "addresses",
		    suppressed == 1 ? "it" : "them");
	return true;
}

bool
ctl_run_key_restore(struct ctl *ctl, int argc, char **argv, GError **error)
{
	const GOptionEntry entries[] = {{0}};

	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    !key_restore(ctl->settings, argv[1], error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "restored", argv[1]));
	else
		printf("The key is that of %s again.\n", argv[1]);
	return true;
}
