/*
 * test_intake_run.c - what a letter brings about, and that it was handled, are one.
 */
#include "service/intake.h"

#include <glib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/lab.h"
#include "store/audit.h"
#include "store/letters.h"

#define NOW 1000

/* A handler that writes a row, and then may fail. */
struct hand {
	int failure; /* a pb_error, or -1 */
	unsigned calls;
	char *said; /* what it saw */
};

static bool
handle(void *data, struct store *store, const struct letter *letter,
    const struct intake_envelope *envelope, char **verdict, GError **error)
{
	struct hand *hand = data;

	hand->calls++;
	g_free(hand->said);
	hand->said =
	    g_strdup_printf("%s|%s|%s|%s|%s|%" G_GINT64_FORMAT, letter->subject,
	        letter->text, envelope->road, envelope->sender ? envelope->sender : "-",
	        envelope->recipient ? envelope->recipient : "-", envelope->received_at);
	if (!audit_insert(store, NOW, "eva", "handled", 0, letter->subject, error))
		return false;
	if (hand->failure >= 0) {
		g_set_error(error, PB_ERROR, hand->failure, "the handler failed");
		return false;
	}
	*verdict = g_strdup("well");
	return true;
}

static bool
save(struct lab *lab, const char *raw, const char *sender, const char *recipient)
{
	const struct intake_rules rules = {
	    .state_dir = lab->folder, .recipient_header = "X-To"};
	const struct mailbox_letter letter = {
	    .raw = raw, .size = strlen(raw), .sender = sender, .recipient = recipient};
	g_autoptr(GError) error = NULL;
	bool is_fresh = false;

	g_assert_true(
	    intake_save(lab->store, &rules, "imap", &letter, NOW, &is_fresh, &error));
	g_assert_no_error(error);
	return is_fresh;
}

static bool
run(struct lab *lab, struct hand *hand, const char *program, int64_t now,
    struct intake_report *report, GError **error)
{
	const char *top = g_getenv("top_builddir");
	g_autofree char *path = g_build_filename(
	    top ? top : ".", program ? program : "paperboy-letter", NULL);
	const struct intake_options options = {
	    .reading = {.program = path}, .handle = handle, .data = hand};
	bool is_ok = intake_run(lab->store, &options, now, report, error);

	lab_assert_idle(lab);
	return is_ok;
}

#define LETTER(n) "From: e@b.example\nSubject: s" n "\nMessage-ID: <" n "@b>\n\nlist\n"

static void
a_handler_sees_the_letter_and_its_envelope(void)
{
	static const struct {
		const char *raw, *sender, *recipient, *said;
	} rows[] = {
	    {LETTER("1"), "a@b.example", "c@d.example",
	        "s1|list\n|imap|a@b.example|c@d.example|1000"},
	    {LETTER("2"), NULL, NULL, "s2|list\n|imap|-|-|1000"},
	    {"Return-Path: <>\n" LETTER("3"), NULL, NULL, "s3|list\n|imap||-|1000"},
	    {"Return-Path: <r@b.example>\n" LETTER("4"), "", NULL,
	        "s4|list\n|imap||-|1000"},
	    {"Return-Path: <r@b.example>\n" LETTER("5"), NULL, NULL,
	        "s5|list\n|imap|r@b.example|-|1000"},
	    {"X-To: top@d.example\nX-To: low@d.example\n" LETTER("6"), NULL, NULL,
	        "s6|list\n|imap|-|top@d.example|1000"},
	    {"X-To: top@d.example\n" LETTER("7"), NULL, "c@d.example",
	        "s7|list\n|imap|-|c@d.example|1000"},
	    {"X-To: a@b, c@d\n" LETTER("8"), NULL, NULL, "s8|list\n|imap|-|-|1000"},
	};
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = -1};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct intake_report report = {0};
		g_autoptr(GError) error = NULL;

		g_assert_true(
		    save(lab, rows[i].raw, rows[i].sender, rows[i].recipient));
		g_assert_true(run(lab, &hand, NULL, NOW, &report, &error));
		g_assert_no_error(error);
		g_assert_cmpuint(report.handled, ==, 1);
		g_assert_cmpstr(hand.said, ==, rows[i].said);
	}
	lab_assert_text(
	    lab, "SELECT DISTINCT state, verdict, tries FROM letter", "done|well|0");
	g_free(hand.said);
}

static void
a_handler_that_fails_leaves_nothing_behind(void)
{
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = PB_ERROR_PERMANENT};
	struct intake_report report = {0};
	int64_t now = NOW, at;
	g_autoptr(GError) error = NULL;

	save(lab, LETTER("1"), NULL, NULL);
	for (unsigned i = 1; i <= INTAKE_TRIES; i++) {
		g_assert_true(run(lab, &hand, NULL, now, &report, &error));
		g_assert_cmpuint(hand.calls, ==, i);
		g_assert_cmpint(lab_number(lab, "SELECT count(*) FROM change"), ==, 0);
		g_assert_cmpint(lab_number(lab, "SELECT tries FROM letter"), ==, i);
		/* Not before its time. */
		g_assert_true(run(lab, &hand, NULL, now, &report, &error));
		g_assert_cmpuint(hand.calls, ==, i);
		g_assert_true(intake_load_due(lab->store, &at, &error));
		if (i < INTAKE_TRIES)
			g_assert_cmpint(at, ==, now + INTAKE_WAIT_S * i * i);
		now = at;
	}
	g_assert_cmpint(at, ==, -1);
	lab_assert_text(
	    lab, "SELECT state, verdict FROM letter", "quarantined|the handler failed");
	g_assert_cmpuint(report.quarantined, ==, 1);
	g_free(hand.said);
}

static void
nothing_is_held_against_a_letter_when_the_store_is_busy(void)
{
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = PB_ERROR_TEMPORARY};
	struct intake_report report = {0};
	g_autoptr(GError) error = NULL;

	save(lab, LETTER("1"), NULL, NULL);
	for (int i = 0; i < 5; i++) {
		g_assert_false(run(lab, &hand, NULL, NOW, &report, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
		g_clear_error(&error);
	}
	lab_assert_text(lab, "SELECT state, tries FROM letter", "new|0");
	g_assert_false(run(lab, &hand, "no-such-reader", NOW, &report, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	lab_assert_text(lab, "SELECT state, tries FROM letter", "new|0");
	g_free(hand.said);
}

static void
a_refusal_is_tried_at_once_and_the_others_go_on(void)
{
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = -1};
	struct intake_report report = {0};
	g_autoptr(GError) error = NULL;
	GString *bomb = g_string_new("From: e@b.example\n");

	for (int i = 0; i < BOUNDS_LETTER_FIELDS + 1; i++)
		g_string_append(bomb, "X: y\n");
	save(lab, bomb->str, NULL, NULL);
	save(lab, LETTER("1"), NULL, NULL);
	g_assert_true(run(lab, &hand, NULL, NOW, &report, &error));
	lab_assert_text(
	    lab, "SELECT state, tries FROM letter ORDER BY id", "quarantined|3 done|0");
	g_assert_cmpuint(report.failed, ==, 3);
	g_assert_cmpuint(report.quarantined, ==, 1);
	g_string_free(bomb, TRUE);
	g_free(hand.said);
}

static void
a_run_has_its_limits(void)
{
	pb_auto(lab) lab = lab_new();
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-letter", NULL);
	struct hand hand = {.failure = -1};
	int stop = 0;
	struct intake_options options = {.reading = {.program = path},
	    .handle = handle,
	    .data = &hand,
	    .limit = 2,
	    .stop = &stop};
	struct intake_report report = {0};

	save(lab, LETTER("1"), NULL, NULL);
	save(lab, LETTER("2"), NULL, NULL);
	save(lab, LETTER("3"), NULL, NULL);
	g_assert_true(intake_run(lab->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 2);
	g_assert_true(report.is_more);
	stop = 1;
	g_assert_true(intake_run(lab->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 2);
	stop = 0;
	g_assert_true(intake_run(lab->store, &options, NOW, &report, NULL));
	g_assert_cmpuint(report.handled, ==, 3);
	g_assert_false(report.is_more);
	g_free(hand.said);
}

static void
what_is_too_large_or_finds_no_room_is_not_stored(void)
{
	pb_auto(lab) lab = lab_new();
	struct intake_rules rules = {.state_dir = lab->folder};
	g_autofree char *raw = g_strnfill(BOUNDS_LETTER_BYTES + 1, 'x');
	struct mailbox_letter letter = {.raw = raw, .size = BOUNDS_LETTER_BYTES + 1};
	g_autoptr(GError) error = NULL;
	bool is_fresh;

	g_assert_false(
	    intake_save(lab->store, &rules, "lmtp", &letter, NOW, &is_fresh, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	g_clear_error(&error);
	letter.size--;
	rules.disk_floor_bytes = INT64_MAX;
	g_assert_false(
	    intake_save(lab->store, &rules, "lmtp", &letter, NOW, &is_fresh, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_clear_error(&error);
	rules.disk_floor_bytes = 0;
	g_assert_true(
	    intake_save(lab->store, &rules, "lmtp", &letter, NOW, &is_fresh, &error));
	g_assert_true(is_fresh);
	g_assert_cmpint(
	    lab_number(lab, "SELECT length(raw) FROM letter"), ==, BOUNDS_LETTER_BYTES);
}

/* A program that dies of any letter. */
static bool
die(void *data, struct store *store, const struct letter *letter,
    const struct intake_envelope *envelope, char **verdict, GError **error)
{
	(void)data;
	(void)store;
	(void)letter;
	(void)envelope;
	(void)verdict;
	(void)error;
	abort();
}

static void
run_life(struct lab *lab, intake_handler handle_letter, bool is_waiting, int64_t now)
{
	const struct rlimit no_core = {0, 0};
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-letter", NULL);
	struct hand hand = {.failure = -1};
	struct intake_options options = {
	    .reading = {.program = path}, .handle = handle_letter, .data = &hand};
	struct intake_report report = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	lab->store = store_open(lab->path, NULL);
	if (is_waiting)
		intake_load_waited(lab->store, &options.waited_id, NULL);
	intake_run(lab->store, &options, now, &report, NULL);
	store_free(lab->store);
	_exit(0);
}

/* In a process of its own; no store is open while it begins. @return its status */
static int
live(struct lab *lab, intake_handler handle_letter, bool is_waiting, int64_t now)
{
	int status;
	pid_t child;

	store_free(lab->store);
	child = fork();
	g_assert_cmpint(child, >=, 0);
	if (child == 0)
		run_life(lab, handle_letter, is_waiting, now);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	lab->store = store_open(lab->path, NULL);
	g_assert_nonnull(lab->store);
	return status;
}

static void
a_letter_that_the_program_dies_of_is_quarantined(void)
{
	pb_auto(lab) lab = lab_new();

	save(lab, LETTER("1"), NULL, NULL);
	save(lab, LETTER("2"), NULL, NULL);
	for (unsigned i = 0; i < INTAKE_DEATHS; i++) {
		lab_assert_text(lab, "SELECT DISTINCT state FROM letter", "new");
		g_assert_true(WIFSIGNALED(live(lab, die, i > 0, NOW)));
	}
	lab_assert_text(lab, "SELECT state, tries, begun FROM letter ORDER BY id",
	    "new|0|9 new|0|0");
	/* The next life does not touch it, and goes on with the others. */
	g_assert_cmpint(live(lab, handle, true, NOW), ==, 0);
	lab_assert_text(lab, "SELECT state, verdict FROM letter ORDER BY id",
	    "quarantined|paperboyd died of it done|well");
	/* Tried again it has all its tries. */
	g_assert_true(letters_save_due(lab->store, 1, NOW, NULL));
	g_assert_cmpint(live(lab, handle, true, NOW), ==, 0);
	lab_assert_text(lab, "SELECT DISTINCT state FROM letter", "done");
}

static void
what_is_no_death_is_not_counted_as_one(void)
{
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = PB_ERROR_TEMPORARY};
	struct intake_options options = {
	    .handle = handle, .data = &hand, .waited_id = 1};
	const char *top = g_getenv("top_builddir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "paperboy-letter", NULL);

	options.reading.program = path;
	save(lab, LETTER("1"), NULL, NULL);
	/* A store that is busy is no death, however often. */
	for (unsigned i = 0; i < 2 * INTAKE_DEATHS; i++) {
		struct intake_report report = {0};

		g_assert_false(intake_run(lab->store, &options, NOW, &report, NULL));
		lab_assert_text(lab, "SELECT state, begun FROM letter", "new|0");
	}
	/* Nor is a failure that is counted by itself. */
	hand.failure = PB_ERROR_PERMANENT;
	for (unsigned i = 1; i < INTAKE_TRIES; i++) {
		struct intake_report report = {0};

		g_assert_true(
		    intake_run(lab->store, &options, NOW + i * 100, &report, NULL));
		lab_assert_text(lab, "SELECT state, begun FROM letter", "new|0");
	}
	g_free(hand.said);
}

static bool
call_run(struct lab *lab, void *data, GError **error)
{
	struct intake_report report = {0};

	return run(lab, data, NULL, NOW, &report, error) && report.handled == 1;
}

static void
a_failing_store_does_nothing_by_half(void)
{
	pb_auto(lab) lab = lab_new();
	struct hand hand = {.failure = -1};

	save(lab, LETTER("1"), NULL, NULL);
	/* What is interrupted holds nothing against the letter, and leaves no effect.
	 */
	g_assert_cmpuint(lab_fail_everywhere(lab, call_run, &hand, true), >=, 3);
	lab_assert_text(lab, "SELECT state, tries FROM letter", "done|0");
	g_assert_cmpint(lab_number(lab, "SELECT count(*) FROM change"), ==, 1);
	g_free(hand.said);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	/* A letter that fails is told in the log. */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
	g_test_add_func("/intake/a handler sees the letter and its envelope",
	    a_handler_sees_the_letter_and_its_envelope);
	g_test_add_func("/intake/a handler that fails leaves nothing behind",
	    a_handler_that_fails_leaves_nothing_behind);
	g_test_add_func(
	    "/intake/nothing is held against a letter when the store is busy",
	    nothing_is_held_against_a_letter_when_the_store_is_busy);
	g_test_add_func("/intake/a refusal is tried at once and the others go on",
	    a_refusal_is_tried_at_once_and_the_others_go_on);
	g_test_add_func("/intake/a run has its limits", a_run_has_its_limits);
	g_test_add_func("/intake/what is too large or finds no room is not stored",
	    what_is_too_large_or_finds_no_room_is_not_stored);
	g_test_add_func("/intake/a letter that the program dies of is quarantined",
	    a_letter_that_the_program_dies_of_is_quarantined);
	g_test_add_func("/intake/what is no death is not counted as one",
	    what_is_no_death_is_not_counted_as_one);
	g_test_add_func("/intake/a failing store does nothing by half",
	    a_failing_store_does_nothing_by_half);
	return g_test_run();
}
