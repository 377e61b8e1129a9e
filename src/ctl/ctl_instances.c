/*
 * ctl_instances.c - the instances of a shared store, in paperboyctl status.
 */
#include "ctl/ctl_instances.h"

#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "store/core/instances.h"
#include "store/core/jobs.h"

static bool
holds(const struct instance *instance, const struct job_holder *job)
{
	return job->holder == instance->id;
}

static json_t *
json_of_jobs(const struct status *status, const struct instance *instance)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < status->jobs->len; i++) {
		const struct job_holder *job = status->jobs->pdata[i];

		if (holds(instance, job))
			json_array_append_new(list, json_string(job->name));
	}
	return list;
}

json_t *
ctl_json_of_instances(const struct status *status)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < status->instances->len; i++) {
		const struct instance *instance = status->instances->pdata[i];

		json_array_append_new(
		    list, json_pack("{s:I, s:s, s:s, s:I, s:I, s:o}", "id",
		              (json_int_t)instance->id, "name", instance->name,
		              "version", instance->program, "started_at",
		              (json_int_t)instance->started_at, "lease_left_s",
		              (json_int_t)(instance->expires_at - status->store_now),
		              "jobs", json_of_jobs(status, instance)));
	}
	return list;
}

static void
print_instance(const struct status *status, const struct instance *instance)
{
	g_autofree char *name = print_dup_line(instance->name);
	g_autofree char *since = ctl_format_time(instance->started_at);
	int64_t left_s = instance->expires_at - status->store_now;
	const char *before = "             holds ";

	printf("instance %-3" G_GINT64_FORMAT " %s, %s, since %s; ", instance->id, name,
	    instance->program, since);
	if (left_s > 0)
		printf("lease for %" G_GINT64_FORMAT " s\n", left_s);
	else
		puts("lease EXPIRED");
	for (unsigned i = 0; i < status->jobs->len; i++) {
		const struct job_holder *job = status->jobs->pdata[i];

		if (!holds(instance, job))
			continue;
		printf("%s%s", before, job->name);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

void
ctl_print_instances(const struct status *status)
{
	if (!status->instances)
		return;
	if (!status->instances->len)
		puts("instances    none");
	for (unsigned i = 0; i < status->instances->len; i++)
		print_instance(status, status->instances->pdata[i]);
}
