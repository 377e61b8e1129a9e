/*
 * test_forget.c - who is forgotten leaves no trace, in rows or in files.
 */
#include "service/forget.h"

#include <glib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "lib/lab.h"
#include "service/dossier.h"
#include "service/profile.h"
#include "service/subscribe.h"
#include "service/upkeep.h"
#include "store/outbox.h"
#include "store/suppression.h"

#define NOW   "2026-11-20T09:00:00Z"
#define ZEBRA "Zebra.Quagga@example.org"

/* Words that are nowhere but in what is kept about one person. */
static const char *const traces[] = {"quagga", "xylophonia", "wombatword", "wombatname",
    "numbatword", "consentiform", "refusalgram", "answergram", "strangergram"};

/* Look with another program's eyes: no lock of ours is touched by it. */
static bool
is_in_files(struct lab *lab, const char *word)
{
	char *arguments[] = {"grep", "-r", "-q", "-a", "-i", "-F", "-e", (char *)word,
	    lab->folder, NULL};
	int status = -1;

	g_assert_true(g_spawn_sync(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL,
	    NULL, NULL, NULL, &status, NULL));
	g_assert_cmpint(WIFEXITED(status) ? WEXITSTATUS(status) : 99, <=, 1);
	return WEXITSTATUS(status) == 0;
}

static void
add_zebra(struct lab *lab, int64_t now)
{
	const struct subscribe_filter filters[] = {
	    {.text = "diffusion OR wombatword", .name = "wombatname"},
	    {.text = "numbatword"},
	    {.text = "diffusion"},
	};
	const struct subscribe_request request = {
	    .address = ZEBRA,
	    .name = "Xylophonia",
	    .consent = "said so, consentiform",
	    .zone = "UTC",
	    .max_full = 20,
	    .filters = filters,
	    .filter_count = 3,
	    .who = "test",
	    .key = lab->key,
	};
	const struct profile_change change = {.name = "Xylophonia II", .who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) added =
	    subscribe_add(lab->store, &request, now, NULL, NULL, &error);
	pb_auto(subscriber) changed =
	    profile_set(lab->store, ZEBRA, &change, now, &error);

	g_assert_no_error(error);
	g_assert_true(subscribe_remove_filter(lab->store, ZEBRA, 2, "test", now, NULL));
}

/* One that is hers, one that went to her address before she was a person here. */
static void
add_letters(struct lab *lab)
{
	static const char *const words[] = {"answergram", "strangergram"};

	for (int i = 0; i < 2; i++) {
		g_autofree char *text = g_strdup_printf(
		    "Message-ID: <%d@example.org>\r\n\r\n%s\r\n", i, words[i]);
		g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
		g_autofree char *key =
		    lab_text(lab, "SELECT address_key FROM subscriber"
		                  " WHERE address = '" ZEBRA "'");
		struct outbox_letter letter = {.kind = OUTBOX_ANSWER,
		    .recipient = ZEBRA,
		    .address_key = key,
		    .sender = "",
		    .message = message,
		    .now = lab_time(NOW)};
		g_autoptr(GError) error = NULL;
		int64_t id;

		if (i == 0)
			letter.subscriber_id = lab_number(lab,
			    "SELECT id FROM subscriber WHERE address = '" ZEBRA "'");
		outbox_add_letter(lab->store, &letter, &id, &error);
		g_assert_no_error(error);
	}
}

/* One to forget among many others, and with something in every table. */
static struct lab *
new_lab(int64_t *id)
{
	struct lab *lab = lab_new();
	int64_t now = lab_time(NOW);

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	lab_list(lab, "2026-11-20", "2611.00002", "Diffusion again", 3);
	for (int i = 0; i < 150; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		lab_subscribe(lab, address, "UTC", "diffusion", now);
		if (i == 75)
			add_zebra(lab, now);
	}
	g_assert_cmpuint(lab_press(lab, now), ==, 151);
	*id = lab_number(lab, "SELECT id FROM subscriber WHERE address = '" ZEBRA "'");
	lab_run(lab, "UPDATE outbox SET state = 'DEFERRED', reply ="
	             " '450 Zebra.Quagga: refusalgram' WHERE subscriber_id ="
	             " (SELECT id FROM subscriber WHERE address = '" ZEBRA "')");
	add_letters(lab);
	lab_run(lab, "INSERT INTO delivered (subscriber_id, paper_seq, digest_id, at) "
	             "SELECT id, 1, 1, 1 FROM subscriber");
	lab_run(lab, "INSERT INTO refused SELECT id, 1, 1, 1 FROM subscriber");
	lab_run(lab, "INSERT INTO farewell (address_key, address, outbox_id, at)"
	             " SELECT address_key, address, 1, 1 FROM subscriber");
	lab_run(lab, "INSERT INTO ticket (hash, purpose, address, address_key,"
	             " recipient, subscriber_id, action, details, made_at, expires_at)"
	             " SELECT printf('%064d', id), 'confirm', address, address_key,"
	             " address, id, 'add ' || coalesce(name, 'x'), 'asked', 1, 2 FROM "
	             "subscriber");
	return lab;
}

static bool
forget(struct lab *lab, const char *address, bool is_never_again, GError **error)
{
	const struct forget_request request = {
	    .address = address,
	    .is_never_again = is_never_again,
	    .key = lab->key,
	    .who = "operator test",
	};
	bool is_ok = forget_person(lab->store, &request, lab_time(NOW), error);

	lab_assert_idle(lab);
	return is_ok;
}

/* Who asks before leaving is shown what there is to forget. */
static void
an_export_tells_all_that_would_be_forgotten(void)
{
	int64_t id;
	pb_auto(lab) lab = new_lab(&id);
	g_autoptr(GError) error = NULL;

	{
		g_autofree char *address =
		    lab_text(lab, "SELECT address_key FROM subscriber"
		                  " WHERE address = '" ZEBRA "'");
		g_autofree char *hash = suppression_hash(lab->key, address);

		g_assert_true(suppression_insert(
		    lab->store, hash, "never-again", lab_time(NOW), &error));
	}
	for (int is_text = 0; is_text <= 1; is_text++) {
		g_autofree char *told = NULL, *small = NULL;

		told = dossier_format(
		    lab->store, lab->key, id, is_text, lab_time(NOW), &error);
		g_assert_no_error(error);
		small = g_ascii_strdown(told, -1);
		for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
			/* Whose a filter was that was taken away is not kept. */
			if (strcmp(traces[i], "numbatword") != 0 &&
			    !strstr(small, traces[i]))
				g_test_fail_printf("%s is not told", traces[i]);
		g_assert_nonnull(
		    strstr(small, is_text ? "refusals\n  paper" : "\"refusals\": [\n"));
		g_assert_nonnull(strstr(small, "never-again"));
	}
}

static void
no_row_and_no_octet_is_left(void)
{
	int64_t id;
	pb_auto(lab) lab = new_lab(&id);
	g_autofree char *names = lab_text(lab,
	    "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c"
	    " WHERE m.type = 'table' AND c.name = 'subscriber_id' ORDER BY 1");
	g_auto(GStrv) tables = g_strsplit(names, " ", -1);
	g_autoptr(GError) error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (!is_in_files(lab, traces[i]))
			g_test_fail_printf("%s was never there", traces[i]);
	g_assert_cmpuint(g_strv_length(tables), >=, 6);
	for (char **table = tables; *table; table++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT count(*) FROM %s"
		                    " WHERE subscriber_id = %" G_GINT64_FORMAT,
		        *table, id);

		if (!lab_number(lab, sql))
			g_test_fail_printf("nothing to forget in %s", *table);
	}
	g_assert_true(forget(lab, "zebra.quagga@EXAMPLE.org", false, &error));
	g_assert_no_error(error);
	for (char **table = tables; *table; table++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT count(*) FROM %s"
		                    " WHERE subscriber_id = %" G_GINT64_FORMAT,
		        *table, id);

		if (lab_number(lab, sql))
			g_test_fail_printf("%s is not empty", *table);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(lab, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	/* The others have what they had. */
	lab_assert_text(lab, "SELECT count(*) FROM subscriber", "150");
	lab_assert_text(lab, "SELECT count(*) FROM outbox WHERE state = 'NEW'", "150");
	lab_assert_text(lab, "SELECT canonical FROM filter", "diffusion");
	lab_assert_text(lab, "SELECT count(*) FROM match", "2");
	lab_assert_text(lab, "PRAGMA integrity_check", "ok");
	lab_assert_text(lab, "PRAGMA foreign_key_check", "");
	lab_assert_text(lab, "SELECT count(*) FROM suppression", "0");
	lab_assert_text(lab,
	    "SELECT who, what, subscriber_id, detail FROM change"
	    " ORDER BY id DESC LIMIT 1",
	    "operator test|subscriber forgotten|-|-");
}

static void
who_has_left_before_is_forgotten_too(void)
{
	int64_t id;
	pb_auto(lab) lab = new_lab(&id);
	g_autoptr(GError) error = NULL;

	g_assert_true(subscribe_remove(lab->store, ZEBRA, "test", lab_time(NOW), NULL));
	g_assert_true(is_in_files(lab, "quagga"));
	g_assert_true(forget(lab, ZEBRA, false, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(lab, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	g_assert_false(forget(lab, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

static void
what_is_kept_of_a_former_address_goes_too(void)
{
	int64_t id;
	pb_auto(lab) lab = new_lab(&id);
	pb_auto(subscriber) moved = NULL;
	g_autoptr(GError) error = NULL;

	lab_run(lab, "DELETE FROM farewell"); /* who moves is here still */
	/* What she asked for before she was a person here. */
	lab_run(lab, "INSERT INTO ticket (hash, purpose, address, address_key,"
	             " recipient, action, details, made_at, expires_at)"
	             " SELECT printf('%064d', 9999), 'undo', address, address_key,"
	             " address, 'x', 'asked', 1, 2 FROM subscriber"
	             " WHERE address = '" ZEBRA "'");
	lab_run(lab, "UPDATE ticket SET used_at = 1, action = ''");
	moved = subscribe_change_address(lab->store, ZEBRA, "okapi@example.org",
	    lab->key, "test", lab_time(NOW), &error);
	g_assert_no_error(error);
	g_assert_nonnull(moved);
	g_assert_true(is_in_files(lab, "strangergram"));
	g_assert_true(forget(lab, "okapi@example.org", false, &error));
	g_assert_no_error(error);
	lab_assert_text(
	    lab, "SELECT count(*) FROM ticket WHERE recipient LIKE '%quagga%'", "0");
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(lab, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	g_assert_false(is_in_files(lab, "okapi"));
}

/* Asked to confirm, and never a person here. */
static void
who_was_only_ever_asked_is_forgotten_too(void)
{
	pb_auto(lab) lab = lab_new();
	static const char text[] =
	    "Message-ID: <3@example.org>\r\n\r\na wombatword\r\n";
	g_autoptr(GBytes) message = g_bytes_new_static(text, strlen(text));
	struct outbox_letter letter = {.kind = OUTBOX_CONFIRMATION,
	    .recipient = ZEBRA,
	    .address_key = "zebra.quagga@example.org",
	    .sender = "",
	    .message = message,
	    .now = lab_time(NOW)};
	g_autoptr(GError) error = NULL;
	int64_t id;

	g_assert_true(outbox_add_letter(lab->store, &letter, &id, &error));
	lab_run(lab,
	    "INSERT INTO ticket (hash, purpose, address, address_key,"
	    " recipient, action, details, made_at, expires_at)"
	    " VALUES (printf('%064d', 1), 'confirm', '" ZEBRA "',"
	    " 'zebra.quagga@example.org', '" ZEBRA "', 'subscribe', '', 1, 2)");
	lab_subscribe(lab, "p@example.org", "UTC", "diffusion", lab_time(NOW));
	g_assert_true(is_in_files(lab, "quagga"));
	g_assert_true(forget(lab, ZEBRA, false, &error));
	g_assert_no_error(error);
	g_assert_false(is_in_files(lab, "quagga"));
	g_assert_false(is_in_files(lab, "wombatword"));
	lab_assert_text(lab, "SELECT count(*) FROM subscriber", "1");
	g_assert_false(forget(lab, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

static void
who_asked_never_to_be_mailed_is_not_added_again(void)
{
	pb_auto(lab) lab = lab_new();
	struct subscribe_request request = {
	    .address = "ZEBRA.quagga@example.org",
	    .consent = LAB_CONSENT,
	    .zone = "UTC",
	    .max_full = 20,
	    .who = "test",
	    .key = lab->key,
	};
	const struct forget_request release = {
	    .address = ZEBRA, .key = lab->key, .who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) refused = NULL;
	pb_auto(subscriber) added = NULL;

	add_zebra(lab, lab_time(NOW));
	g_assert_true(forget(lab, ZEBRA, true, NULL));
	g_assert_false(is_in_files(lab, "quagga"));
	lab_assert_text(
	    lab, "SELECT length(hash), reason FROM suppression", "64|never-again");
	refused =
	    subscribe_add(lab->store, &request, lab_time(NOW), NULL, NULL, &error);
	g_assert_null(refused);
	g_assert_cmpstr(error->message, ==,
	    "no mail may go to this address: it is suppressed since 2026-11-20 "
	    "(never-again)");
	g_clear_error(&error);
	g_assert_true(forget_release(lab->store, &release, lab_time(NOW), &error));
	added = subscribe_add(lab->store, &request, lab_time(NOW), NULL, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(added);
	g_assert_false(forget_release(lab->store, &release, lab_time(NOW), &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

static void
who_is_suppressed_leaves_and_the_first_reason_stays(void)
{
	pb_auto(lab) lab = lab_new();
	const struct forget_request request = {
	    .address = ZEBRA, .key = lab->key, .who = "test"};
	g_autoptr(GError) error = NULL;
	int64_t now = lab_time(NOW);

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	add_zebra(lab, now);
	lab_press(lab, now);
	g_assert_false(forget_suppress(lab->store, &request, "spam", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	lab_assert_text(lab, "SELECT state FROM subscriber", "active");
	g_assert_true(forget_suppress(lab->store, &request, "complaint", now, NULL));
	g_assert_true(forget_suppress(lab->store, &request, "operator", now, NULL));
	lab_assert_text(lab, "SELECT state FROM subscriber", "gone");
	lab_assert_text(lab, "SELECT DISTINCT state FROM outbox", "CANCELLED");
	lab_assert_text(lab, "SELECT reason FROM suppression", "complaint");
}

/* Also when the row was never cancelled, whoever wrote it: the claim looks again. */
static void
the_claim_cancels_what_is_suppressed(void)
{
	pb_auto(lab) lab = lab_new();
	g_autofree char *hash = suppression_hash(lab->key, "zebra.quagga@example.org");
	g_autoptr(GPtrArray) jobs = NULL;
	int64_t now = lab_time(NOW);
	const struct outbox_job *job;
	bool is_more;

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	add_zebra(lab, now);
	lab_press(lab, now);
	g_assert_true(suppression_insert(lab->store, hash, "operator", now, NULL));
	jobs = outbox_claim(lab->store,
	    &(struct outbox_claim){
	        .now = now, .limit = 10, .render_key = "key", .key = lab->key},
	    &is_more, NULL);
	g_assert_cmpuint(jobs->len, ==, 1);
	job = jobs->pdata[0];
	g_assert_false(job->is_wanted);
	lab_assert_text(lab, "SELECT state FROM outbox", "CANCELLED");
}

/* A reader keeps the log from being cut: the rows go, and it is cut when that ends. */
static void
a_file_in_use_is_cleaned_later(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GError) error = NULL;
	struct lab reader = {.store = NULL};

	add_zebra(lab, lab_time(NOW));
	lab_run(lab, "PRAGMA busy_timeout = 1");
	reader.store = store_open(lab->path, &error);
	g_assert_no_error(error);
	lab_run(&reader, "BEGIN; SELECT count(*) FROM subscriber");
	g_assert_false(forget(lab, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "traces may be left"));
	g_clear_error(&error);
	lab_assert_text(lab, "SELECT count(*) FROM subscriber", "0");
	g_assert_true(is_in_files(lab, "quagga"));
	lab_run(&reader, "COMMIT");
	/* Whoever asks again is told that nobody is there, and the file gets clean. */
	g_assert_false(forget(lab, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_assert_false(is_in_files(lab, "quagga"));
	store_free(reader.store);
}

static void
what_could_not_be_cleaned_is_cleaned_by_the_upkeep(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GError) error = NULL;

	add_zebra(lab, lab_time(NOW));
	/* As after a kill between the commit and the cleaning. */
	lab_run(lab, "INSERT INTO cursor VALUES ('erasure', 1)");
	lab_run(lab, "PRAGMA secure_delete = OFF");
	lab_run(lab, "DELETE FROM change");
	lab_run(lab, "DELETE FROM subscription");
	lab_run(lab, "DELETE FROM subscriber");
	g_assert_true(is_in_files(lab, "quagga"));
	g_assert_true(upkeep_run(lab->store, lab_time(NOW), &error));
	g_assert_false(is_in_files(lab, "quagga"));
	lab_assert_text(lab, "SELECT value FROM cursor WHERE name = 'erasure'", "0");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/forget/" #name, name)
	ADD(an_export_tells_all_that_would_be_forgotten);
	ADD(no_row_and_no_octet_is_left);
	ADD(who_has_left_before_is_forgotten_too);
	ADD(what_is_kept_of_a_former_address_goes_too);
	ADD(who_was_only_ever_asked_is_forgotten_too);
	ADD(who_asked_never_to_be_mailed_is_not_added_again);
	ADD(who_is_suppressed_leaves_and_the_first_reason_stays);
	ADD(the_claim_cancels_what_is_suppressed);
	ADD(a_file_in_use_is_cleaned_later);
	ADD(what_could_not_be_cleaned_is_cleaned_by_the_upkeep);
	return g_test_run();
}
