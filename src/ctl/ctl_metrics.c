/*
 * ctl_metrics.c - paperboyctl metrics.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "service/health/metrics.h"

bool
ctl_run_metrics(struct ctl *ctl, GError **error)
{
	const struct status_daemon none = STATUS_DAEMON_NONE;
	g_autofree char *text = NULL;

	text = ctl_ask_daemon(ctl, "metrics");
	if (text) {
		puts(text);
		return true;
	}
	text = metrics_format(
	    ctl->store, ctl->settings, &none, NULL, clock_get_now(&ctl->clock), error);
	if (text)
		fputs(text, stdout);
	return text != NULL;
}
