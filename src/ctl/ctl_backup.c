/*
 * ctl_backup.c - the commands backup and restore.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/health/backup_service.h"
#include "service/state/lock.h"

/* On a terminal, once a second has gone by: one line that says how far it is. */
struct progress {
	int64_t since_us;
	bool is_shown;
};

static void
show_progress(void *data, int done_pages, int all_pages)
{
	struct progress *progress = data;

	if (!isatty(STDERR_FILENO) || !all_pages ||
	    g_get_monotonic_time() - progress->since_us < G_USEC_PER_SEC)
		return;
	fprintf(stderr, "\rcopying ... %d %% ", (int)(100.0 * done_pages / all_pages));
	progress->is_shown = true;
}

bool
ctl_run_backup(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	struct progress progress = {.since_us = g_get_monotonic_time()};
	struct backup_service_request request = {
	    .now = clock_get_now(&ctl->clock),
	    .who = ctl->who,
	    .progress = show_progress,
	    .data = &progress,
	};
	g_autofree char *size = NULL;
	int64_t bytes;
	bool is_ok;

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	request.path = argv[1];
	if (!ctl_check_replaceable(request.path, error))
		return false;
	if (g_file_test(request.path, G_FILE_TEST_EXISTS)) {
		g_autofree char *question = g_strdup_printf("Replace %s", request.path);

		if (!ctl_confirm(is_yes, question, error)) {
			g_prefix_error(error, "'%s' exists already: ", request.path);
			return false;
		}
		request.may_replace = true;
	}
	is_ok = backup_service_run(ctl->settings, ctl->store, &request, &bytes, error);
	if (progress.is_shown)
		fputs("\r\033[K", stderr);
	if (!is_ok)
		return false;
	size = g_format_size((guint64)bytes);
	if (ctl->is_json)
		print_json(json_pack(
		    "{s:s, s:I}", "backup", request.path, "bytes", (json_int_t)bytes));
	else
		printf("%s written and checked: %s, with the secret key in it\n",
		    request.path, size);
	return true;
}

static void
print_restored(struct ctl *ctl, const struct backup_service_report *report)
{
	const struct backup_restored *restored = &report->restored;
	g_autofree char *made = ctl_format_time(restored->made_at);

	if (ctl->is_json) {
		print_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:i, s:i,"
		                     " s:i}",
		    "made_at", (json_int_t)restored->made_at, "held",
		    (json_int_t)restored->held, "people", (json_int_t)restored->people,
		    "tickets", (json_int_t)restored->tickets, "letters",
		    (json_int_t)restored->messages, "aside", report->aside, "carried",
		    report->is_carried, "unsubscribed", (int)report->unsubscribed,
		    "suppressed", (int)report->suppressed, "erased",
		    (int)report->erased));
		return;
	}
	printf("Everything is as it was at %s.\n"
	       "What was there before is in %s.\n",
	    made, report->aside);
	if (restored->held || restored->people)
		printf(
		    "Nothing is mailed by itself that may have been mailed since:\n"
		    "  %" G_GINT64_FORMAT " %s HELD now, and so will be the "
		    "next digests\n"
		    "  of %" G_GINT64_FORMAT " %s, once paperboyd runs and has "
		    "asked the sources.\n"
		    "Then look at them (paperboyctl queue list --state HELD) and\n"
		    "  paperboyctl queue release ID...|all           send them, or\n"
		    "  paperboyctl queue drop --delivered ID...|all  they had it, or\n"
		    "  paperboyctl queue drop ID...|all              what is in them\n"
		    "                                                comes with the "
		    "next.\n",
		    restored->held, restored->held == 1 ? "message is" : "messages are",
		    restored->people, restored->people == 1 ? "person" : "people");
	if (restored->messages)
		printf("Quarantined is what may have been answered since:\n"
		       "  letters: %" G_GINT64_FORMAT
		       " (paperboyctl inbox list; inbox retry, or inbox drop)\n",
		    restored->messages);
	if (restored->tickets)
		printf("What waited for somebody's word is void, since it may have "
		       "come:\n"
		       "  tickets: %" G_GINT64_FORMAT
		       " (who still wants to confirm or undo writes again)\n",
		    restored->tickets);
	if (report->is_carried)
		printf(
		    "Carried over from the old store: %u unsubscribed, %u suppressed,"
		    " %u erased.\n"
		    "Who came or changed filters since is as at that time: it is "
		    "there to be\n"
		    "compared.\n",
		    report->unsubscribed, report->suppressed, report->erased);
	else
		puts("Who came, left, was suppressed or erased since is as at that "
		     "time: there was\n"
		     "no store to carry that over from which is sound and has the "
		     "same key.");
}

/* Before anything is asked: a daemon at work is the usual reason why it cannot be. */
static bool
check_alone(struct ctl *ctl, GError **error)
{
	int lock = lock_take_alone(ctl->settings->state_dir, error);

	if (lock < 0)
		return false;
	close(lock);
	return true;
}

bool
ctl_run_restore(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	struct backup_service_report report = {0};
	struct backup_info info;
	g_autofree char *made = NULL, *question = NULL;

	if (!ctl_parse(entries, 1, &argc, &argv, error) || !check_alone(ctl, error) ||
	    !backup_check(argv[1], &info, error))
		return false;
	made = ctl_format_time(info.made_at);
	question =
	    g_strdup_printf("Go back to %s, with %" G_GINT64_FORMAT
	                    " subscribers and %" G_GINT64_FORMAT " unsent messages",
	        made, info.subscribers, info.unsent);
	if (!ctl_confirm(is_yes, question, error) ||
	    !backup_service_restore(ctl->settings, argv[1], clock_get_now(&ctl->clock),
	        ctl->who, &report, error))
		return false;
	print_restored(ctl, &report);
	g_free(report.aside);
	return true;
}
