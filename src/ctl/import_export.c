/*
 * import_export.c - the commands subscriber import and export, suppression import.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/subscriber_print.h"
#include "message/bibliography.h"
#include "service/people/erase.h"
#include "service/people/import.h"
#include "service/people/person.h"
#include "service/people/policy.h"
#include "service/people/subscriber_csv.h"
#include "service/taste/known_works.h"
#include "store/subscriber/subscribers.h"

static bool
is_standard(const char *file)
{
	return strcmp(file, "-") == 0;
}

static bool
set_read_error(const char *file, GError **error)
{
	return pb_fail(
	    error, PB_ERROR_INPUT, "cannot read '%s': %s", file, g_strerror(errno));
}

/* @param fd  closed */
static GString *
read_input(int fd, const char *file, GError **error)
{
	FILE *in = fdopen(fd, "r");
	GString *text = in ? ctl_read_stream(in, BOUNDS_CSV_BYTES) : NULL;

	if (!text)
		set_read_error(file, error);
	if (in)
		fclose(in);
	return text;
}

static json_t *
json_of_report(const struct import_report *report, bool is_dry_run)
{
	return json_pack("{s:b, s:i, s:i, s:i, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:o}",
	    "dry_run", (int)is_dry_run, "added", (int)report->added, "full",
	    (int)report->full, "blocked", (int)report->blocked, "unfiltered",
	    (int)report->unfiltered, "ignored", print_json_text(report->ignored),
	    "resubscribed", (int)report->resubscribed, "present", (int)report->present,
	    "left", (int)report->left, "suppressed", (int)report->suppressed, "bad",
	    (int)report->bad, "problems", print_json_texts(report->problems));
}

static void
print_report(const struct import_report *report, bool is_dry_run)
{
	const struct {
		unsigned count;
		const char *text;
	} parts[] = {
	    {report->resubscribed, "added again after leaving"},
	    {report->present, "already subscribers; not changed"},
	    {report->left, "not added: they had left (--take-back adds them)"},
	    {report->suppressed, "not added: suppressed"},
	    {report->full, "not added: subscribe.max is reached"},
	    {report->blocked, "not added: blocked there (suppression import keeps it)"},
	    {report->bad, "invalid lines skipped"},
	};

	if (report->ignored)
		printf("ignored columns: %s\n", report->ignored);
	printf("%u %s\n", report->added, is_dry_run ? "would be added" : "added");
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i].count)
			printf("%u %s\n", parts[i].count, parts[i].text);
	if (report->unfiltered)
		printf(
		    "%u without a filter: nothing is sent to them until they have one "
		    "(paperboyctl filter add)\n",
		    report->unfiltered);
}

static bool
import(struct ctl *ctl, struct import_request *request, GError **error)
{
	pb_local(import_report) report = {0};
	bool is_ok;

	request->key = ctl_get_key(ctl, error);
	is_ok = request->key && schedule_parse_minute(ctl->settings->digest_at,
	                            &request->source.minute, error);
	print_progress("importing ... ");
	is_ok =
	    is_ok && policy_load_room(ctl->store, ctl->settings, &request->room, error);
	is_ok = is_ok && import_people(ctl->store, request, &report, error);
	print_progress_end();
	if (ctl->is_json)
		print_json(json_of_report(&report, request->is_dry_run));
	for (unsigned i = 0;
	     !ctl->is_json && report.problems && i < report.problems->len; i++)
		fprintf(stderr, "%s\n", (char *)report.problems->pdata[i]);
	if (is_ok && !ctl->is_json)
		print_report(&report, request->is_dry_run);
	if (is_ok && !request->is_dry_run)
		ctl_wake_daemon(ctl);
	return is_ok;
}

bool
ctl_open_import(struct ctl *ctl, GError **error)
{
	const char *file = ctl->argv[ctl->argc - 1];

	ctl->input_fd =
	    is_standard(file) ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	return ctl->input_fd >= 0 || set_read_error(file, error);
}

static bool
save_known(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	struct known_works *works = change->data;

	works->subscriber_id = subscriber->id;
	return known_works_save(store, works, error);
}

bool
ctl_run_subscriber_known(struct ctl *ctl, GError **error)
{
	const char *file = ctl->argv[2];
	g_autoptr(GString) text = read_input(ctl->input_fd, file, error);
	pb_auto(bibliography) found = NULL;
	pb_auto(subscriber) subscriber = NULL;
	struct known_works works = {
	    .source = "operator", .now = clock_get_now(&ctl->clock)};
	struct person_change change = {
	    ctl->argv[1], ctl->who, works.now, save_known, &works};

	if (!text)
		return false;
	if (text->len > BIBLIOGRAPHY_BYTES)
		return pb_fail(error, PB_ERROR_LIMIT, "'%s' is larger than %d bytes",
		    file, BIBLIOGRAPHY_BYTES);
	found = bibliography_parse(text->str, text->len);
	works.works = found->works;
	if (!found->works->len)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' has no entries of BibTeX or RIS with an id, or with title "
		    "and author",
		    file);
	subscriber = person_transact(ctl->store, &change, error);
	if (!subscriber)
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s, s:I, s:I, s:I, s:I}", "address",
		    subscriber->address, "works", (json_int_t)found->works->len, "new",
		    (json_int_t)works.added, "not_here", (json_int_t)works.absent,
		    "skipped", (json_int_t)found->unnamed));
	else
		printf("%s: %u works known, %u of them not here, %u entries skipped\n",
		    subscriber->address, found->works->len, works.absent,
		    found->unnamed);
	return true;
}

bool
ctl_run_subscriber_import(struct ctl *ctl, GError **error)
{
	const struct ctl_options *options = &ctl->options;
	g_autoptr(GString) text = read_input(ctl->input_fd, ctl->argv[1], error);
	struct import_request request = {
	    .who = ctl->who,
	    .is_dry_run = options->is_dry_run,
	    .is_skip_bad = options->is_skip_bad,
	    .is_resubscribe = options->is_take_back,
	    .is_first = options->is_first,
	};

	if (!text)
		return false;
	request.source = (struct subscriber_csv_source){
	    .file = ctl->argv[1],
	    .data = text->str,
	    .size = text->len,
	    .store = ctl->store,
	    .now = clock_get_now(&ctl->clock),
	    .consent = options->consent,
	    .zone = ctl->settings->digest_zone,
	    .max_full = ctl->settings->digest_max,
	};
	return import(ctl, &request, error);
}

/* ---- suppressions ---- */

/* @param rows  of struct subscriber_csv_row * @param count  increased */
static bool
suppress_all(
    struct ctl *ctl, const struct subscriber_csv *read, unsigned *count, GError **error)
{
	const char *reason = ctl->options.reason ? ctl->options.reason : ERASE_OPERATOR;
	struct erase_request request = {
	    .key = ctl_get_key(ctl, error), .who = ctl->who};

	for (unsigned i = 0; request.key && i < read->rows->len; i++) {
		const struct subscriber_csv_row *row = read->rows->pdata[i];

		if (read->has_state && !row->is_blocked)
			continue;
		request.address = row->subscriber->address;
		if (!erase_suppress(ctl->store, &request, reason,
		        clock_get_now(&ctl->clock), error))
			return false;
		++*count;
	}
	return request.key != NULL;
}

bool
ctl_run_suppression_import(struct ctl *ctl, GError **error)
{
	g_autoptr(GString) text = read_input(ctl->input_fd, ctl->argv[1], error);
	struct subscriber_csv_source source = {
	    .file = ctl->argv[1],
	    .store = ctl->store,
	    .now = clock_get_now(&ctl->clock),
	    .consent = "-",
	    .zone = "UTC",
	    .max_full = ctl->settings->digest_max,
	};
	pb_auto(subscriber_csv) read = NULL;
	g_autofree char *question = NULL;
	unsigned count = 0;

	if (!text)
		return false;
	source.data = text->str;
	source.size = text->len;
	read = subscriber_csv_read(&source, error);
	if (!read)
		return false;
	for (unsigned i = 0; i < read->problems->len; i++)
		fprintf(stderr, "%s\n", (char *)read->problems->pdata[i]);
	if (read->bad)
		return pb_fail(error, PB_ERROR_INPUT,
		    "%u %s invalid in %s; nothing was stored", read->bad,
		    read->bad == 1 ? "line is" : "lines are", ctl->argv[1]);
	question = g_strdup_printf(
	    "Suppress the addresses in %s, and remove those who subscribe",
	    ctl->argv[1]);
	if (!ctl_confirm(ctl, question, error) ||
	    !suppress_all(ctl, read, &count, error))
		return false;
	if (count < read->rows->len)
		fprintf(stderr, "%u not suppressed: their state is not blocked\n",
		    read->rows->len - count);
	return print_result(ctl, json_pack("{s:i}", "suppressed", (int)count),
	    "%u suppressed\n", count);
}

/* ---- export ---- */

static bool
write_text(void *data, const char *text, size_t size, GError **error)
{
	(void)data;
	(void)error;
	/* main() checks standard output. */
	fwrite(text, 1, size, stdout);
	return true;
}

static bool
collect_text(void *data, const char *text, size_t size, GError **error)
{
	(void)error;
	g_string_append_len(data, text, (gssize)size);
	return true;
}

/* Atomically, mode 0600. */
static bool
export_to_file(struct ctl *ctl, const char *file, const struct export_request *request,
    GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) problem = NULL;
	unsigned count;

	if (!ctl_confirm_replace(ctl, file, error) ||
	    !export_people(ctl->store, request, collect_text, text, &count, error))
		return false;
	if (!g_file_set_contents_full(file, text->str, (gssize)text->len,
	        G_FILE_SET_CONTENTS_CONSISTENT, 0600, &problem))
		return pb_fail(error, PB_ERROR_INPUT, "cannot write: %s%s",
		    problem->message,
		    g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_ACCES)
		        ? "; paperboyctl writes as the owner of the state directory: "
		          "use - and let the shell open the file"
		        : "");
	return print_result(ctl,
	    json_pack("{s:s, s:i}", "file", file, "exported", (int)count),
	    "%u %s in %s\n", count, count == 1 ? "subscriber" : "subscribers", file);
}

static bool
append_json_batch(struct ctl *ctl, const GPtrArray *people,
    const struct export_request *request, json_t *list, GError **error)
{
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];
		g_autoptr(GPtrArray) filters =
		    request->has_filters ? subscribers_load_subscriptions(
		                               ctl->store, subscriber->id, error)
		                         : NULL;

		if (request->has_filters && !filters)
			return false;
		if (!export_includes(request, subscriber))
			continue;
		json_array_append_new(list, subscriber_to_json(subscriber, filters));
	}
	return true;
}

static bool
export_json(struct ctl *ctl, const struct export_request *request, GError **error)
{
	json_t *list = json_array();
	bool is_ok = true, is_end = false;
	int64_t after = 0;

	while (is_ok && !is_end) {
		g_autoptr(GPtrArray) people =
		    subscribers_load_batch(ctl->store, after, TABLE_BATCH_ROWS, error);

		is_ok = people && append_json_batch(ctl, people, request, list, error);
		is_end = is_ok && !people->len;
		if (is_ok && !is_end)
			after =
			    ((struct subscriber *)people->pdata[people->len - 1])->id;
	}
	if (is_ok)
		print_json(list);
	else
		json_decref(list);
	return is_ok;
}

bool
ctl_run_subscriber_export(struct ctl *ctl, GError **error)
{
	struct export_request request;
	unsigned count;

	if (ctl->options.state &&
	    subscriber_parse_state(ctl->options.state) == SUBSCRIBER_GONE)
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid state '%s' (expected active, paused, "
		    "suspended or "
		    "pending)",
		    ctl->options.state);
	request = (struct export_request){ctl->options.has_filters, ctl->options.state};
	if (ctl->argc > 1 && !is_standard(ctl->argv[1]))
		return export_to_file(ctl, ctl->argv[1], &request, error);
	if (ctl->is_json)
		return export_json(ctl, &request, error);
	return export_people(ctl->store, &request, write_text, NULL, &count, error);
}
