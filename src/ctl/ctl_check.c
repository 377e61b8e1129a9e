/*
 * ctl_check.c - paperboyctl check.
 */
#include "base/error.h"
#include "ctl/ctl.h"
#include "service/health/mail_check.h"
#include "service/setup/startup.h"

#define WAIT_S     20
#define WAIT_MAX_S 600

bool
ctl_run_check(struct ctl *ctl, int argc, char **argv, GError **error)
{
	int wait_s = WAIT_S;
	const GOptionEntry entries[] = {
	    {"wait", 0, 0, G_OPTION_ARG_INT, &wait_s, NULL, NULL}, {0}};
	struct mail_check check = {
	    .settings = ctl->settings,
	    .store = ctl->store,
	    .clock = &ctl->clock,
	    .random = &random_system,
	};
	g_autoptr(GBytes) key = NULL;
	g_autoptr(GPtrArray) findings = NULL;

	if (!ctl_parse(entries, 0, &argc, &argv, error))
		return false;
	if (wait_s < 0 || wait_s > WAIT_MAX_S)
		return pb_fail(error, PB_ERROR_INPUT,
		    "--wait: expected 0 to %d seconds", WAIT_MAX_S);
	check.wait_s = wait_s;
	key = startup_load_key(ctl->settings, ctl->store, error);
	if (!key)
		return false;
	check.key = key;
	check.is_daemon_running = ctl_is_daemon_running(ctl);
	findings = mail_check_run(&check);
	/* It may have changed what digests offer. */
	if (check.is_daemon_running && *ctl->settings->web_url)
		ctl_wake_daemon(ctl);
	ctl_print_findings(ctl, findings);
	return true;
}
