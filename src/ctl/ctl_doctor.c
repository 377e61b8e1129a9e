/*
 * ctl_doctor.c - the command that looks for everything that can be wrong.
 */
#include "service/health/doctor.h"

#include <stdio.h>
#include <sysexits.h>

#include "ctl/ctl.h"
#include "ctl/print.h"

static json_t *
json_of_finding(const struct doctor_finding *finding)
{
	return json_pack("{s:s, s:b, s:s, s:o}", "check", finding->name, "ok",
	    (int)finding->is_ok, "found", finding->text, "advice",
	    print_json_text(finding->advice));
}

void
ctl_print_findings(struct ctl *ctl, const GPtrArray *findings)
{
	json_t *list = json_array();
	unsigned wrong = 0;

	for (unsigned i = 0; i < findings->len; i++) {
		const struct doctor_finding *finding = findings->pdata[i];
		g_autofree char *text = print_dup_line(finding->text);

		wrong += !finding->is_ok;
		if (ctl->is_json)
			json_array_append_new(list, json_of_finding(finding));
		else if (finding->is_ok)
			printf("ok     %-24s %s\n", finding->name, text);
		else
			printf("WRONG  %-24s %s\n       %-24s -> %s\n", finding->name,
			    text, "", finding->advice);
	}
	if (ctl->is_json)
		print_json(list);
	else
		json_decref(list);
	if (wrong)
		ctl->status = EX_DATAERR;
}

bool
ctl_run_doctor(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) findings = NULL;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	findings = doctor_run(ctl->settings, clock_get_now(&ctl->clock));
	ctl_print_findings(ctl, findings);
	return true;
}
