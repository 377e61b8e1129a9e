/*
 * ctl_bounce.c - the commands bounce ...
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/bounce/bounce.h"
#include "service/people/person.h"
#include "store/mail/bounces.h"

/* ---- list ---- */

static const struct table_column summary_columns[] = {
    TABLE_COLUMN("ADDRESS", "address", TABLE_TEXT, bounce_summary, address),
    TABLE_COLUMN("STATE", "state", TABLE_TEXT, bounce_summary, state),
    TABLE_COLUMN("DEAD", "dead", TABLE_INT64, bounce_summary, dead),
    TABLE_COLUMN("FULL", "full", TABLE_INT64, bounce_summary, full),
    TABLE_COLUMN("TEMPORARY", "temporary", TABLE_INT64, bounce_summary, temporary),
    TABLE_COLUMN("SENDER", "sender", TABLE_INT64, bounce_summary, sender),
    TABLE_COLUMN("COMPLAINT", "complaint", TABLE_INT64, bounce_summary, complaint),
    TABLE_COLUMN("LAST", "last_at", TABLE_TIME, bounce_summary, last_at),
    TABLE_COLUMN("LINE", "last_line", TABLE_TEXT, bounce_summary, last_line),
    {0},
};

static GPtrArray *
load_batch(void *store, const void *last, GError **error)
{
	const struct bounce_summary *before = last;

	return bounces_load_summaries(
	    store, before ? before->subscriber_id : 0, TABLE_BATCH_ROWS, error);
}

bool
ctl_run_bounce_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    summary_columns, "No mail was returned.", load_batch, ctl->store};

	return table_print_pages(ctl, &table, error);
}

/* ---- show ---- */

static const struct table_column row_columns[] = {
    TABLE_COLUMN("TIME", "at", TABLE_TIME, bounce_row, at),
    TABLE_COLUMN("CLASS", "class", TABLE_TEXT, bounce_row, class),
    TABLE_COLUMN("COUNTS", "is_counted", TABLE_BOOL, bounce_row, is_scored),
    TABLE_COLUMN("MESSAGE", "message", TABLE_TEXT, bounce_row, message),
    TABLE_COLUMN("STATUS", "status", TABLE_TEXT, bounce_row, status),
    TABLE_COLUMN("CODE", "code", TABLE_INT, bounce_row, code),
    TABLE_COLUMN("RULE", "rule", TABLE_TEXT, bounce_row, rule),
    TABLE_COLUMN("AGENT", "agent", TABLE_TEXT, bounce_row, agent),
    TABLE_COLUMN("LINE", "line", TABLE_TEXT, bounce_row, line),
    {0},
};

struct evidence {
	const char *address;
	const char *state;
	struct bounce_domain domain; /* counts of a week */
	int64_t probe_at;            /* -1: none */
	char *next;
	GPtrArray *rows; /* of struct bounce_row * */
};

static void
evidence_clear(struct evidence *evidence)
{
	g_clear_pointer(&evidence->next, g_free);
	g_clear_pointer(&evidence->rows, g_ptr_array_unref);
}

static char *
format_domain(const void *data)
{
	const struct bounce_domain *counts = &((const struct evidence *)data)->domain;

	return g_strdup_printf("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
	                       " subscribers bounced within a week",
	    counts->bounced, counts->subscribers);
}

static json_t *
pack_rows(const void *data)
{
	return table_rows_to_json(row_columns, ((const struct evidence *)data)->rows);
}

static const struct table_column evidence_columns[] = {
    TABLE_COLUMN("address", "address", TABLE_TEXT, evidence, address),
    TABLE_COLUMN("state", "state", TABLE_TEXT, evidence, state),
    TABLE_COLUMN_STRING("domain", NULL, format_domain),
    TABLE_COLUMN(NULL, "domain_bounced", TABLE_INT64, evidence, domain.bounced),
    TABLE_COLUMN(NULL, "domain_subscribers", TABLE_INT64, evidence, domain.subscribers),
    TABLE_COLUMN("probe", "probe_at", TABLE_TIME, evidence, probe_at),
    TABLE_COLUMN("next", "next", TABLE_TEXT, evidence, next),
    TABLE_COLUMN_JSON("bounces", pack_rows),
    {0},
};

static bool
load_evidence(struct ctl *ctl, const struct subscriber *subscriber,
    struct evidence *evidence, GError **error)
{
	int64_t now = clock_get_now(&ctl->clock);
	g_autofree struct bounce_probe *probe = NULL;

	evidence->address = subscriber->address;
	evidence->state = subscriber_state_name(subscriber->state);
	evidence->rows = bounces_load_person(ctl->store, subscriber->id, error);
	if (!evidence->rows ||
	    !bounces_find_probe(ctl->store, subscriber->id, &probe, error) ||
	    !bounces_count_domain(ctl->store, subscriber->address,
	        now - BOUNCE_OUTAGE_S, &evidence->domain, error))
		return false;
	evidence->probe_at = probe ? probe->sent_at : -1;
	for (unsigned i = 0; i < evidence->rows->len; i++) {
		struct bounce_row *row = evidence->rows->pdata[i];

		row->is_scored =
		    row->is_scored && row->at <= now && row->at >= now - BOUNCE_DECAY_S;
	}
	evidence->next = bounce_admin_explain(ctl->store, subscriber, now, error);
	return evidence->next != NULL;
}

bool
ctl_run_bounce_show(struct ctl *ctl, GError **error)
{
	const struct table table = {row_columns, "No mail was returned.", NULL, NULL};
	pb_auto(subscriber) subscriber = NULL;
	pb_local(evidence) evidence = {0};

	subscriber = person_load_any(ctl->store, ctl->argv[1], error);
	if (!subscriber || !load_evidence(ctl, subscriber, &evidence, error))
		return false;
	if (ctl->is_json) {
		print_json(table_to_json(evidence_columns, &evidence));
		return true;
	}
	table_print_record(evidence_columns, &evidence, "");
	putchar('\n');
	table_print(ctl, &table, evidence.rows);
	return true;
}

/* ---- forget ---- */

bool
ctl_run_bounce_forget(struct ctl *ctl, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	bool is_restored;

	subscriber = bounce_admin_forget(ctl->store, ctl->argv[1], ctl->who,
	    clock_get_now(&ctl->clock), &is_restored, error);
	if (!subscriber)
		return false;
	ctl_wake_daemon(ctl);
	return print_result(ctl,
	    json_pack("{s:s, s:b}", "address", subscriber->address, "restored",
	        (int)is_restored),
	    "%s: nothing counts against the address any more%s\n", subscriber->address,
	    is_restored ? "; digests are sent again" : "");
}

/* ---- explain ---- */

/* File names need not be UTF-8. */
static json_t *
make_name(const char *path)
{
	g_autofree char *valid = g_utf8_make_valid(path, -1);

	return json_string(valid);
}

static json_t *
make_report(const char *path, const struct bounce_report *report)
{
	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o}", "file",
	    make_name(path), "kind", bounce_kind_get_name(report->kind), "class",
	    bounce_class_get_name(report->verdict.class), "status",
	    print_json_text(report->status), "code",
	    print_json_number(report->code ? report->code : -1), "recipients",
	    print_json_texts(report->recipients), "agent",
	    print_json_text(report->agent), "rule", report->verdict.rule, "line",
	    print_json_text(report->line));
}

static json_t *
make_failure(const char *path, const char *message)
{
	return json_pack("{s:o, s:s, s:s, s:n, s:n, s:[], s:n, s:s, s:n, s:s}", "file",
	    make_name(path), "kind", bounce_kind_get_name(BOUNCE_KIND_NONE), "class",
	    bounce_class_get_name(BOUNCE_UNKNOWN), "status", "code", "recipients",
	    "agent", "rule", "none", "line", "error", message);
}

static bool
explain(const char *path, GError **error)
{
	pb_auto(inmail) mail = ctl_parse_mail(path, error);
	pb_auto(bounce_report) report = NULL;

	if (!mail)
		return false;
	report = bounce_report_read(mail);
	print_json_line(make_report(path, report));
	return true;
}

bool
ctl_run_bounce_explain(struct ctl *ctl, GError **error)
{
	static char *const standard_input[] = {(char *)"-", NULL};
	g_autoptr(GError) first = NULL;

	(void)ctl;
	for (char *const *path = ctl->argc > 1 ? ctl->argv + 1 : standard_input; *path;
	     path++) {
		g_autoptr(GError) failure = NULL;

		if (explain(*path, &failure))
			continue;
		print_json_line(make_failure(*path, failure->message));
		if (!first)
			first = g_steal_pointer(&failure);
	}
	if (!first)
		return true;
	g_propagate_error(error, g_steal_pointer(&first));
	return false;
}
