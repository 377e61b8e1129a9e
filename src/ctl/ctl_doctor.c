/*
 * ctl_doctor.c - paperboyctl doctor.
 */
#include <stdio.h>
#include <sysexits.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/health/health.h"

/* Findings of mail_check.h have no check. */
static bool
is_damage(const struct health_finding *finding)
{
	return finding->action &&
	       (!finding->check || finding->check->severity == HEALTH_DAMAGE);
}

static json_t *
json_of_finding(const struct health_finding *finding)
{
	return json_pack("{s:s, s:b, s:b, s:s, s:o}", "check", finding->name, "ok",
	    finding->action == NULL, "damage", (int)is_damage(finding), "found",
	    finding->text, "action", print_json_text(finding->action));
}

static void
print_finding(const struct health_finding *finding)
{
	g_autofree char *text = print_dup_line(finding->text);

	if (!finding->action)
		printf("ok     %-24s %s\n", finding->name, text);
	else
		printf("%-6s %-24s %s\n       %-24s -> %s\n",
		    is_damage(finding) ? "WRONG" : "TO DO", finding->name, text, "",
		    finding->action);
}

void
ctl_print_findings(struct ctl *ctl, const GPtrArray *findings)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < findings->len; i++) {
		const struct health_finding *finding = findings->pdata[i];

		if (is_damage(finding))
			ctl->status = EX_DATAERR;
		else if (finding->action && !ctl->status)
			ctl->status = CTL_EXIT_WARNING;
		if (ctl->is_json)
			json_array_append_new(list, json_of_finding(finding));
		else
			print_finding(finding);
	}
	if (ctl->is_json)
		print_json(list);
	else
		json_decref(list);
}

bool
ctl_run_doctor(struct ctl *ctl, GError **error)
{
	pb_local(status_daemon) daemon = {0};
	const struct health_options options = {
	    .settings = ctl->settings,
	    .daemon = &daemon,
	    .now = clock_get_now(&ctl->clock),
	};
	g_autoptr(GPtrArray) findings = NULL;

	(void)error;
	ctl_load_daemon(ctl, &daemon);
	findings = health_examine(&options);
	ctl_print_findings(ctl, findings);
	return true;
}
