/*
 * test_inbox_process.c - storing and processing inbound messages.
 */
#include "service/inbound/inbox_process.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/mail/inbox.h"
#include "store/subscriber/audit.h"

#define NOW 1000

/* A handler that writes a row, and may fail then. */
struct hand {
	int failure; /* a pb_error, or -1 */
	unsigned calls;
	char *seen; /* message and envelope */
};

static bool
handle(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error)
{
	struct hand *hand = data;

	hand->calls++;
	g_free(hand->seen);
	hand->seen = g_strdup_printf("%s|%s|%s|%s|%" G_GINT64_FORMAT, mail->subject,
	    mail->text, envelope->sender ? envelope->sender : "-",
	    envelope->recipient ? envelope->recipient : "-", envelope->id);
	if (!audit_insert(store, NOW, "eva", "handled", 0, mail->subject, error))
		return false;
	if (hand->failure >= 0) {
		g_set_error(error, PB_ERROR, hand->failure, "the handler failed");
		return false;
	}
	*verdict = g_strdup("well");
	return true;
}

static bool
save(struct store_fixture *fixture, const char *raw, const char *sender,
    const char *recipient)
{
	const struct inbox_process_rules rules = {
	    .state_dir = fixture->directory, .recipient_header = "X-To"};
	const struct receive_mail mail = {
	    .raw = raw, .size = strlen(raw), .sender = sender, .recipient = recipient};
	bool is_stored = false;

	g_assert_true(NO_ERROR(inbox_process_store(
	    fixture->store, &rules, "imap", &mail, NOW, &is_stored, &error)));
	return is_stored;
}

static bool
run(struct store_fixture *fixture, struct hand *hand, const char *program, int64_t now,
    struct inbox_process_report *report, GError **error)
{
	const char *top = g_getenv("top_builddir");
	g_autofree char *path = g_build_filename(
	    top ? top : ".", program ? program : "paperboy-parser", NULL);
	const struct inbox_process_options options = {
	    .parser = {.program = path}, .handle = handle, .data = hand};
	bool is_ok = inbox_process_run(fixture->store, &options, now, report, error);

	store_fixture_assert_idle(fixture);
	return is_ok;
}

#define MAIL(n) "From: e@b.example\nSubject: s" n "\nMessage-ID: <" n "@b>\n\nlist\n"

STORE_TEST(handler_gets_message_and_envelope)
{
	static const struct {
		const char *raw, *sender, *recipient, *said;
	} rows[] = {
	    {MAIL("1"), "a@b.example", "c@d.example",
	        "s1|list\n|a@b.example|c@d.example|1"},
	    {MAIL("2"), NULL, NULL, "s2|list\n|-|-|2"},
	    {"Return-Path: <>\n" MAIL("3"), NULL, NULL, "s3|list\n||-|3"},
	    {"Return-Path: <r@b.example>\n" MAIL("4"), "", NULL, "s4|list\n||-|4"},
	    {"Return-Path: <r@b.example>\n" MAIL("5"), NULL, NULL,
	        "s5|list\n|r@b.example|-|5"},
	    {"X-To: top@d.example\nX-To: low@d.example\n" MAIL("6"), NULL, NULL,
	        "s6|list\n|-|top@d.example|6"},
	    {"X-To: top@d.example\n" MAIL("7"), NULL, "c@d.example",
	        "s7|list\n|-|c@d.example|7"},
	    {"X-To: a@b, c@d\n" MAIL("8"), NULL, NULL, "s8|list\n|-|-|8"},
	};
	struct hand hand = {.failure = -1};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct inbox_process_report report = {0};

		g_assert_true(
		    save(fixture, rows[i].raw, rows[i].sender, rows[i].recipient));
		g_assert_true(
		    NO_ERROR(run(fixture, &hand, NULL, NOW, &report, &error)));
		g_assert_cmpuint(report.handled, ==, 1);
		g_assert_cmpstr(hand.seen, ==, rows[i].said);
	}
	assert_rows(
	    fixture, "SELECT DISTINCT state, verdict, tries FROM inbox", "done|well|0");
	g_free(hand.seen);
}

STORE_TEST(failing_handler_leaves_no_effect)
{
	struct hand hand = {.failure = PB_ERROR_PERMANENT};
	struct inbox_process_report report = {0};
	int64_t now = NOW, at;
	g_autoptr(GError) error = NULL;

	save(fixture, MAIL("1"), NULL, NULL);
	for (unsigned i = 1; i <= INBOX_PROCESS_TRIES; i++) {
		g_assert_true(run(fixture, &hand, NULL, now, &report, &error));
		g_assert_cmpuint(hand.calls, ==, i);
		assert_rows(fixture, "SELECT count(*) FROM audit_log", "0");
		g_assert_cmpint(
		    store_fixture_number(fixture, "SELECT tries FROM inbox"), ==, i);
		/* It is not due yet. */
		g_assert_true(run(fixture, &hand, NULL, now, &report, &error));
		g_assert_cmpuint(hand.calls, ==, i);
		g_assert_true(inbox_load_next_due(fixture->store, &at, &error));
		if (i < INBOX_PROCESS_TRIES)
			g_assert_cmpint(at, ==, now + INBOX_PROCESS_WAIT_S * i * i);
		now = at;
	}
	g_assert_cmpint(at, ==, -1);
	assert_rows(fixture, "SELECT state, verdict FROM inbox",
	    "quarantined|the handler failed");
	g_assert_cmpuint(report.quarantined, ==, 1);
	g_free(hand.seen);
}

STORE_TEST(busy_store_is_not_a_failed_try)
{
	struct hand hand = {.failure = PB_ERROR_TEMPORARY};
	struct inbox_process_report report = {0};

	save(fixture, MAIL("1"), NULL, NULL);
	for (int i = 0; i < 5; i++) {
		FAILS(PB_ERROR_TEMPORARY,
		    run(fixture, &hand, NULL, NOW, &report, &error));
	}
	assert_rows(fixture, "SELECT state, tries FROM inbox", "new|0");
	FAILS(PB_ERROR_PERMANENT,
	    run(fixture, &hand, "no-such-reader", NOW, &report, &error));
	assert_rows(fixture, "SELECT state, tries FROM inbox", "new|0");
	g_free(hand.seen);
}

STORE_TEST(rejected_message_is_retried_at_once)
{
	struct hand hand = {.failure = -1};
	struct inbox_process_report report = {0};
	g_autoptr(GError) error = NULL;
	GString *bomb = g_string_new("From: e@b.example\n");

	for (int i = 0; i < BOUNDS_MAIL_FIELDS + 1; i++)
		g_string_append(bomb, "X: y\n");
	save(fixture, bomb->str, NULL, NULL);
	save(fixture, MAIL("1"), NULL, NULL);
	g_assert_true(run(fixture, &hand, NULL, NOW, &report, &error));
	assert_rows(fixture, "SELECT state, tries FROM inbox ORDER BY id",
	    "quarantined|3 done|0");
	g_assert_cmpuint(report.failed, ==, 3);
	g_assert_cmpuint(report.quarantined, ==, 1);
	g_string_free(bomb, TRUE);
	g_free(hand.seen);
}

STORE_TEST(run_ends_at_its_limits)
{
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-parser", NULL);
	struct hand hand = {.failure = -1};
	int stop = 0;
	struct inbox_process_options options = {.parser = {.program = path},
	    .handle = handle,
	    .data = &hand,
	    .limit = 2,
	    .stop = &stop};
	struct inbox_process_report report = {0};

	save(fixture, MAIL("1"), NULL, NULL);
	save(fixture, MAIL("2"), NULL, NULL);
	save(fixture, MAIL("3"), NULL, NULL);
	g_assert_true(inbox_process_run(fixture->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 2);
	g_assert_true(report.is_more);
	stop = 1;
	g_assert_true(inbox_process_run(fixture->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 2);
	stop = 0;
	g_assert_true(inbox_process_run(fixture->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 3);
	g_assert_false(report.is_more);
	g_free(hand.seen);
}

STORE_TEST(large_messages_and_a_full_disk_are_refused)
{
	struct inbox_process_rules rules = {.state_dir = fixture->directory};
	g_autofree char *raw = g_strnfill(BOUNDS_MAIL_BYTES + 1, 'x');
	struct receive_mail mail = {.raw = raw, .size = BOUNDS_MAIL_BYTES + 1};
	g_autoptr(GError) error = NULL;
	bool is_stored;

	g_assert_false(inbox_process_store(
	    fixture->store, &rules, "lmtp", &mail, NOW, &is_stored, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_clear_error(&error);
	mail.size--;
	rules.min_free_bytes = INT64_MAX;
	g_assert_false(inbox_process_store(
	    fixture->store, &rules, "lmtp", &mail, NOW, &is_stored, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_clear_error(&error);
	rules.min_free_bytes = 0;
	g_assert_true(inbox_process_store(
	    fixture->store, &rules, "lmtp", &mail, NOW, &is_stored, &error));
	g_assert_true(is_stored);
	g_assert_cmpint(store_fixture_number(fixture, "SELECT length(raw) FROM inbox"),
	    ==, BOUNDS_MAIL_BYTES);
}

/* A handler that crashes. */
static bool
die(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error)
{
	(void)data;
	(void)store;
	(void)mail;
	(void)envelope;
	(void)verdict;
	(void)error;
	abort();
}

static void
run_life(struct store_fixture *fixture, inbox_handler handle_mail, bool is_waiting,
    int64_t now)
{
	const struct rlimit no_core = {0, 0};
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-parser", NULL);
	struct hand hand = {.failure = -1};
	struct inbox_process_options options = {
	    .parser = {.program = path}, .handle = handle_mail, .data = &hand};
	struct inbox_process_report report = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	fixture->store = store_open(fixture->path, NULL);
	if (is_waiting)
		inbox_load_newest(fixture->store, &options.backlog_id, NULL);
	inbox_process_run(fixture->store, &options, now, &report, NULL);
	store_free(fixture->store);
	_exit(0);
}

/* Run in a child process, with the store closed. @return its status */
static int
live(struct store_fixture *fixture, inbox_handler handle_mail, bool is_waiting,
    int64_t now)
{
	int status;
	pid_t child;

	store_free(fixture->store);
	child = fork();
	g_assert_cmpint(child, >=, 0);
	if (child == 0)
		run_life(fixture, handle_mail, is_waiting, now);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	fixture->store = store_open(fixture->path, NULL);
	g_assert_nonnull(fixture->store);
	return status;
}

STORE_TEST(crashing_message_is_quarantined)
{
	save(fixture, MAIL("1"), NULL, NULL);
	save(fixture, MAIL("2"), NULL, NULL);
	for (unsigned i = 0; i < INBOX_PROCESS_CRASHES; i++) {
		assert_rows(fixture, "SELECT DISTINCT state FROM inbox", "new");
		g_assert_true(WIFSIGNALED(live(fixture, die, i > 0, NOW)));
	}
	assert_rows(fixture, "SELECT state, tries, started FROM inbox ORDER BY id",
	    "new|0|9 new|0|0");
	/* The next process skips it, and goes on with the others. */
	g_assert_cmpint(live(fixture, handle, true, NOW), ==, 0);
	assert_rows(fixture, "SELECT state, verdict FROM inbox ORDER BY id",
	    "quarantined|crashed while processing it done|well");
	/* A retry starts with all tries. */
	g_assert_true(inbox_retry_at(fixture->store, 1, NOW, NULL));
	g_assert_cmpint(live(fixture, handle, true, NOW), ==, 0);
	assert_rows(fixture, "SELECT DISTINCT state FROM inbox", "done");
}

STORE_TEST(only_crashes_are_counted_as_crashes)
{
	struct hand hand = {.failure = PB_ERROR_TEMPORARY};
	struct inbox_process_options options = {
	    .handle = handle, .data = &hand, .backlog_id = 1};
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-parser", NULL);

	options.parser.program = path;
	save(fixture, MAIL("1"), NULL, NULL);
	/* A busy store is not a crash. */
	for (unsigned i = 0; i < 2 * INBOX_PROCESS_CRASHES; i++) {
		struct inbox_process_report report = {0};

		g_assert_false(
		    inbox_process_run(fixture->store, &options, NOW, &report, NULL));
		assert_rows(fixture, "SELECT state, started FROM inbox", "new|0");
	}
	/* A failed try is not a crash. */
	hand.failure = PB_ERROR_PERMANENT;
	for (unsigned i = 1; i < INBOX_PROCESS_TRIES; i++) {
		struct inbox_process_report report = {0};

		g_assert_true(inbox_process_run(
		    fixture->store, &options, NOW + i * 100, &report, NULL));
		assert_rows(fixture, "SELECT state, started FROM inbox", "new|0");
	}
	g_free(hand.seen);
}

static bool
call_run(struct store_fixture *fixture, void *data, GError **error)
{
	struct inbox_process_report report = {0};

	return run(fixture, data, NULL, NOW, &report, error) && report.handled == 1;
}

STORE_TEST(failing_store_leaves_no_partial_effect)
{
	struct hand hand = {.failure = -1};

	save(fixture, MAIL("1"), NULL, NULL);
	/* An interrupted try is not counted, and has no effect.
	 */
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_run, &hand, true), >=, 3);
	assert_rows(fixture, "SELECT state, tries FROM inbox", "done|0");
	assert_rows(fixture, "SELECT count(*) FROM audit_log", "1");
	g_free(hand.seen);
}

UNIT_MAIN_WITH_WARNINGS
