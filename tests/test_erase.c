/*
 * test_erase.c - an erased person leaves no trace in rows or files.
 */
#include "service/people/erase.h"

#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "model/taste_vector.h"
#include "service/jobs/maintenance.h"
#include "service/people/data_export.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/mail/outbox.h"
#include "store/subscriber/personal_data.h"
#include "store/subscriber/suppression.h"

#define NOW   "2026-11-20T09:00:00Z"
#define ZEBRA "Zebra.Quagga@example.org"

/* Words that occur only in the data of one person. */
static const char *const traces[] = {"quagga", "xylophonia", "wombatword", "wombatname",
    "numbatword", "consentiform", "refusalgram", "answergram", "strangergram",
    "okapiword", "kudu"};

/* A server's files have their own retention, see store_erase(): its rows are read. */
static bool
is_in_rows(struct store_fixture *fixture, const char *word)
{
	g_autofree char *names = store_fixture_text(
	    fixture, "SELECT name FROM sqlite_schema WHERE type = 'table'");
	g_auto(GStrv) tables = g_strsplit(names, " ", -1);
	int64_t found = 0;

	/* Bytes that are ASCII as text. */
	store_fixture_run(fixture, "SET bytea_output = 'escape'");
	for (char **table = tables; *table; table++) {
		g_autofree char *sql = g_strdup_printf(
		    "SELECT count(*) FROM %s t WHERE CAST(t AS TEXT) ILIKE '%%%s%%'",
		    *table, word);

		found += store_fixture_number(fixture, sql);
	}
	return found > 0;
}

/* Read with another program, which does not affect our locks. */
static bool
is_in_files(struct store_fixture *fixture, const char *word)
{
	char *arguments[] = {"grep", "-r", "-q", "-a", "-i", "-F", "-e", (char *)word,
	    fixture->directory, NULL};
	int status = -1;

	if (store_is_server(fixture->path))
		return is_in_rows(fixture, word);
	g_assert_true(g_spawn_sync(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL,
	    NULL, NULL, NULL, &status, NULL));
	g_assert_cmpint(WIFEXITED(status) ? WEXITSTATUS(status) : 99, <=, 1);
	return WEXITSTATUS(status) == 0;
}

static void
add_zebra(struct store_fixture *fixture, int64_t now)
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
	    .key = fixture->key,
	};
	const struct profile_change change = {.name = "Xylophonia II", .who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) added =
	    subscribe_add(fixture->store, &request, now, NULL, NULL, &error);
	pb_auto(subscriber) changed =
	    profile_set(fixture->store, ZEBRA, &change, now, &error);

	g_assert_no_error(error);
	g_assert_true(
	    subscribe_remove_filter(fixture->store, ZEBRA, 2, "test", now, NULL));
}

/* A reply to the subscriber, and one to the address before the subscription. */
static void
add_mail(struct store_fixture *fixture)
{
	static const char *const words[] = {"answergram", "strangergram"};

	for (int i = 0; i < 2; i++) {
		g_autofree char *text = g_strdup_printf(
		    "Message-ID: <%d@example.org>\r\n\r\n%s\r\n", i, words[i]);
		g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
		g_autofree char *key =
		    store_fixture_text(fixture, "SELECT address_key FROM subscriber"
		                                " WHERE address = '" ZEBRA "'");
		struct outbox_mail mail = {.kind = OUTBOX_REPLY,
		    .recipient = ZEBRA,
		    .address_key = key,
		    .sender = "",
		    .message = message,
		    .now = store_fixture_time(NOW)};
		int64_t id;

		if (i == 0)
			mail.subscriber_id = store_fixture_number(fixture,
			    "SELECT id FROM subscriber WHERE address = '" ZEBRA "'");
		NO_ERROR(outbox_add_mail(fixture->store, &mail, &id, &error));
	}
}

static char *
format_hex(const GByteArray *bytes)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < bytes->len; i++)
		g_string_append_printf(text, "%02x", bytes->data[i]);
	return g_string_free(text, FALSE);
}

/* Learned words; those of the person to erase are unlike those of the others. */
static void
add_tastes(struct store_fixture *fixture)
{
	static const struct {
		const char *word, *who;
	} rows[] = {{"diffusion", "<>"}, {"okapiword", "="}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(taste_vector) vector = {0};
		g_autofree char *sql = NULL, *words = NULL;
		g_autoptr(GByteArray) packed = NULL;

		taste_vector_init(&vector);
		taste_vector_add(&vector, rows[i].word, 7, true);
		packed = taste_vector_pack(&vector);
		words = format_hex(packed);
		sql = g_strdup_printf(
		    "INSERT INTO taste SELECT id, 1, x'%s' FROM subscriber"
		    " WHERE address %s '" ZEBRA "'",
		    words, rows[i].who);
		store_fixture_run(fixture, sql);
	}
}

/* The person to erase has rows in every table, among many others. */
static struct store_fixture *
new_fixture(int64_t *id)
{
	struct store_fixture *fixture = store_fixture_new();
	int64_t now = store_fixture_time(NOW);

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion again", 3);
	for (int i = 0; i < 150; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", "diffusion", now);
		if (i == 75)
			add_zebra(fixture, now);
	}
	assert_digests(fixture, now, 151);
	*id = store_fixture_number(
	    fixture, "SELECT id FROM subscriber WHERE address = '" ZEBRA "'");
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'DEFERRED', reply ="
	    " '450 Zebra.Quagga: refusalgram' WHERE subscriber_id ="
	    " (SELECT id FROM subscriber WHERE address = '" ZEBRA "')");
	add_mail(fixture);
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) "
	    "SELECT id, 1, 1, 1 FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO digest_rejected SELECT id, 1, 1, 1 FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO feedback SELECT id, 1, 1, 1, 'mail' FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO watch SELECT id, 1, 1, 9000000000 FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO paper_event VALUES (1, 1, 'retracted', 0, 1)");
	store_fixture_run(
	    fixture, "INSERT INTO retraction_mail SELECT id, 1 FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO known SELECT id, '2611.00001', 1 FROM subscriber");
	add_tastes(fixture);
	store_fixture_run(fixture,
	    "INSERT INTO bounce (subscriber_id, message, at, class, is_scored, rule)"
	    " SELECT id, 'digest-1', 1, 'dead', 1, 'no-such-user' FROM subscriber");
	store_fixture_run(
	    fixture, "INSERT INTO bounce_probe SELECT id, 1, 1 FROM subscriber");
	/* Zebra shares a filter and follows another. */
	store_fixture_run(fixture,
	    "INSERT INTO share (name, subscription_id, version, created_at)"
	    " SELECT 'kudu-news', id, 1, 1 FROM subscription WHERE name = 'wombatname'"
	    " UNION ALL SELECT 'diffusion-news', min(id), 1, 1 FROM subscription;"
	    "INSERT INTO share_version SELECT h.id, 1, s.text, 1 FROM share h"
	    " JOIN subscription s ON s.id = h.subscription_id;"
	    "INSERT INTO follow (subscription_id, subscriber_id, share_id, version,"
	    " is_fork) SELECT s.id, s.subscriber_id, h.id, 1, 0 FROM subscription s"
	    " JOIN share h ON h.name = 'diffusion-news'"
	    " WHERE s.text = 'diffusion' AND s.id <> h.subscription_id");
	store_fixture_run(fixture,
	    "INSERT INTO pending_erasure (address_key, address, outbox_id, at)"
	    " SELECT address_key, address, 1, 1 FROM subscriber");
	store_fixture_run(fixture,
	    "INSERT INTO confirmation (hash, purpose, address, address_key,"
	    " recipient, subscriber_id, action, details, made_at, expires_at)"
	    " SELECT printf('%064d', id), 'confirm', address, address_key,"
	    " address, id, 'add ' || coalesce(name, 'x'), 'asked', 1, 2 FROM "
	    "subscriber");
	store_fixture_run(fixture,
	    "INSERT INTO proposal (subscriber_id, number, subscription_id, filter,"
	    " term, command, gained, lost, days, title, made_at, expires_at, state)"
	    " SELECT id, 1, 1, '1 ' || coalesce(name, 'x'), 'x', 'block x', 1, 0, 30,"
	    " 'X', 1, 9, 'open' FROM subscriber");
	store_fixture_run(fixture,
	    "INSERT INTO proposal_change (proposal_id, subscription_id, is_after,"
	    " number, text, canonical, since_day, created_at, is_block)"
	    " SELECT id, 1, 0, 1, 'x', 'x', '', 1, 0 FROM proposal");
	return fixture;
}

static bool
forget(struct store_fixture *fixture, const char *address, bool is_never_again,
    GError **error)
{
	const struct erase_request request = {
	    .address = address,
	    .is_never_again = is_never_again,
	    .key = fixture->key,
	    .who = "operator test",
	};
	bool is_ok =
	    erase_person(fixture->store, &request, store_fixture_time(NOW), error);

	store_fixture_assert_idle(fixture);
	return is_ok;
}

/* A request before leaving lists the data to erase. */
TEST(export_has_everything_that_erasure_deletes)
{
	int64_t id;
	pb_auto(store_fixture) fixture = new_fixture(&id);
	g_autoptr(GError) error = NULL;

	{
		g_autofree char *address =
		    store_fixture_text(fixture, "SELECT address_key FROM subscriber"
		                                " WHERE address = '" ZEBRA "'");
		g_autofree char *hash = suppression_hash(fixture->key, address);

		g_assert_true(suppression_insert(fixture->store, hash, "never-again",
		    store_fixture_time(NOW), &error));
	}
	for (int is_text = 0; is_text <= 1; is_text++) {
		g_autofree char *reported = NULL, *small = NULL;

		reported = data_export_format(fixture->store, fixture->key, id, is_text,
		    store_fixture_time(NOW), &error);
		g_assert_no_error(error);
		small = g_ascii_strdown(reported, -1);
		for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
			/* The subscriber of a removed filter is not recorded. */
			if (strcmp(traces[i], "numbatword") != 0 &&
			    !strstr(small, traces[i]))
				g_test_fail_printf(
				    "%s is not in the export", traces[i]);
		g_assert_nonnull(strstr(small,
		    is_text ? "rejected_papers\n  id" : "\"rejected_papers\": [\n"));
		g_assert_nonnull(strstr(small, "never-again"));
	}
}

static bool
is_personal(const char *table)
{
	for (const struct personal_data *data = personal_data; data->table; data++)
		if (strcmp(data->table, table) == 0)
			return true;
	return false;
}

/* Messages of people have ids in `erased`, HMACs of addresses in `rate_log` and
 * `suppression`, which the caller exports, and names in `skipped_message`. */
#define OTHER_TABLES                                                                 \
	"acronym backup cursor domain_pause erased instance job key_check listing "  \
	"paper paper_alias paper_change paper_duplicate paper_event paper_link "     \
	"paper_moved rate_log skipped_message source_fetch source_list suppression " \
	"vocabulary watch_check"

STORE_TEST(every_table_is_in_the_inventory_of_personal_data)
{
	g_auto(GStrv) others = g_strsplit(OTHER_TABLES, " ", -1);
	g_autofree char *names = store_fixture_text(fixture,
	    "SELECT name FROM sqlite_schema WHERE type = 'table'"
	    " AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'paper_fts*'");
	g_autofree char *named = store_fixture_text(fixture,
	    "SELECT DISTINCT m.name FROM sqlite_schema m, pragma_table_info(m.name) c"
	    " WHERE m.type = 'table' AND c.name IN ('subscriber_id', 'address',"
	    " 'address_key', 'recipient', 'sender')");
	g_auto(GStrv) tables = g_strsplit(names, " ", -1);
	g_auto(GStrv) persons = g_strsplit(named, " ", -1);

	g_assert_cmpuint(g_strv_length(tables), >=, 30);
	for (char **table = tables; *table; table++)
		if (is_personal(*table) ==
		    g_strv_contains((const char *const *)others, *table))
			g_test_fail_printf(
			    "%s is in none or both of the lists", *table);
	g_assert_cmpuint(g_strv_length(persons), >=, 9);
	for (char **table = persons; *table; table++)
		if (!is_personal(*table))
			g_test_fail_printf("%s has personal data", *table);
}

TEST(no_row_and_no_byte_is_left)
{
	int64_t id;
	pb_auto(store_fixture) fixture = new_fixture(&id);
	g_autofree char *names = store_fixture_text(fixture,
	    "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c"
	    " WHERE m.type = 'table' AND c.name = 'subscriber_id' ORDER BY 1");
	g_auto(GStrv) tables = g_strsplit(names, " ", -1);

	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (!is_in_files(fixture, traces[i]))
			g_test_fail_printf("%s was never there", traces[i]);
	g_assert_cmpuint(g_strv_length(tables), >=, 6);
	for (char **table = tables; *table; table++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT count(*) FROM %s"
		                    " WHERE subscriber_id = %" G_GINT64_FORMAT,
		        *table, id);

		if (!store_fixture_number(fixture, sql))
			g_test_fail_printf("nothing to forget in %s", *table);
	}
	g_assert_true(
	    NO_ERROR(forget(fixture, "zebra.quagga@EXAMPLE.org", false, &error)));
	for (char **table = tables; *table; table++) {
		g_autofree char *sql =
		    g_strdup_printf("SELECT count(*) FROM %s"
		                    " WHERE subscriber_id = %" G_GINT64_FORMAT,
		        *table, id);

		if (store_fixture_number(fixture, sql))
			g_test_fail_printf("%s is not empty", *table);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(fixture, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	/* Data of the others is unchanged. */
	assert_rows(fixture, "SELECT count(*) FROM subscriber", "150");
	assert_rows(fixture, "SELECT count(*) FROM outbox WHERE state = 'NEW'", "150");
	assert_rows(fixture, "SELECT canonical FROM filter", "diffusion");
	assert_rows(fixture, "SELECT count(*) FROM " STORE_FIXTURE_MATCHES, "2");
	assert_rows(fixture, "PRAGMA integrity_check", "ok");
	assert_rows(fixture, "PRAGMA foreign_key_check", "");
	assert_rows(fixture, "SELECT count(*) FROM suppression", "0");
	assert_rows(fixture,
	    "SELECT who, what, subscriber_id, detail FROM audit_log"
	    " ORDER BY id DESC LIMIT 1",
	    "operator test|subscriber forgotten|-|-");
}

TEST(former_subscriber_is_erased)
{
	int64_t id;
	pb_auto(store_fixture) fixture = new_fixture(&id);

	g_assert_true(subscribe_remove(
	    fixture->store, ZEBRA, "test", store_fixture_time(NOW), NULL));
	g_assert_true(is_in_files(fixture, "quagga"));
	g_assert_true(forget(fixture, ZEBRA, false, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(fixture, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	FAILS(PB_ERROR_NOT_FOUND, forget(fixture, ZEBRA, false, &error));
}

TEST(data_about_a_former_address_is_erased)
{
	int64_t id;
	pb_auto(store_fixture) fixture = new_fixture(&id);
	pb_auto(subscriber) moved = NULL;

	store_fixture_run(
	    fixture, "DELETE FROM pending_erasure"); /* who changed the address is still
	                                              * subscribed */
	/* Requests from before the subscription. */
	store_fixture_run(fixture,
	    "INSERT INTO confirmation (hash, purpose, address, address_key,"
	    " recipient, action, details, made_at, expires_at)"
	    " SELECT printf('%064d', 9999), 'undo', address, address_key,"
	    " address, 'x', 'asked', 1, 2 FROM subscriber"
	    " WHERE address = '" ZEBRA "'");
	store_fixture_run(fixture, "UPDATE confirmation SET used_at = 1, action = ''");
	moved = NO_ERROR(
	    subscribe_change_address(fixture->store, ZEBRA, "okapi@example.org",
	        fixture->key, "test", store_fixture_time(NOW), &error));
	g_assert_nonnull(moved);
	g_assert_true(is_in_files(fixture, "strangergram"));
	g_assert_true(NO_ERROR(forget(fixture, "okapi@example.org", false, &error)));
	assert_rows(fixture,
	    "SELECT count(*) FROM confirmation WHERE recipient LIKE '%quagga%'", "0");
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++)
		if (is_in_files(fixture, traces[i]))
			g_test_fail_printf("%s is still there", traces[i]);
	g_assert_false(is_in_files(fixture, "okapi"));
}

/* Asked to confirm, and never subscribed. */
STORE_TEST(address_that_never_subscribed_is_erased)
{
	static const char text[] =
	    "Message-ID: <3@example.org>\r\n\r\na wombatword\r\n";
	g_autoptr(GBytes) message = g_bytes_new_static(text, strlen(text));
	struct outbox_mail mail = {.kind = OUTBOX_CONFIRMATION,
	    .recipient = ZEBRA,
	    .address_key = "zebra.quagga@example.org",
	    .sender = "",
	    .message = message,
	    .now = store_fixture_time(NOW)};
	g_autoptr(GError) error = NULL;
	int64_t id;

	g_assert_true(outbox_add_mail(fixture->store, &mail, &id, &error));
	store_fixture_run(fixture,
	    "INSERT INTO confirmation (hash, purpose, address, address_key,"
	    " recipient, action, details, made_at, expires_at)"
	    " VALUES (printf('%064d', 1), 'confirm', '" ZEBRA "',"
	    " 'zebra.quagga@example.org', '" ZEBRA "', 'subscribe', '', 1, 2)");
	store_fixture_subscribe(
	    fixture, "p@example.org", "UTC", "diffusion", store_fixture_time(NOW));
	g_assert_true(is_in_files(fixture, "quagga"));
	g_assert_true(forget(fixture, ZEBRA, false, &error));
	g_assert_no_error(error);
	g_assert_false(is_in_files(fixture, "quagga"));
	g_assert_false(is_in_files(fixture, "wombatword"));
	assert_rows(fixture, "SELECT count(*) FROM subscriber", "1");
	g_assert_false(forget(fixture, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

STORE_TEST(never_again_prevents_subscription)
{
	struct subscribe_request request = {
	    .address = "ZEBRA.quagga@example.org",
	    .consent = STORE_FIXTURE_CONSENT,
	    .zone = "UTC",
	    .max_full = 20,
	    .who = "test",
	    .key = fixture->key,
	};
	const struct erase_request release = {
	    .address = ZEBRA, .key = fixture->key, .who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) refused = NULL;
	pb_auto(subscriber) added = NULL;

	add_zebra(fixture, store_fixture_time(NOW));
	g_assert_true(forget(fixture, ZEBRA, true, NULL));
	g_assert_false(is_in_files(fixture, "quagga"));
	assert_rows(
	    fixture, "SELECT length(hash), reason FROM suppression", "64|never-again");
	refused = subscribe_add(
	    fixture->store, &request, store_fixture_time(NOW), NULL, NULL, &error);
	g_assert_null(refused);
	g_assert_cmpstr(error->message, ==,
	    "this address is suppressed since 2026-11-20 (never-again): it gets no "
	    "mail");
	g_clear_error(&error);
	g_assert_true(
	    erase_release(fixture->store, &release, store_fixture_time(NOW), &error));
	added = subscribe_add(
	    fixture->store, &request, store_fixture_time(NOW), NULL, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(added);
	g_assert_false(
	    erase_release(fixture->store, &release, store_fixture_time(NOW), &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

STORE_TEST(suppression_unsubscribes_and_keeps_a_lasting_reason)
{
	const struct erase_request request = {
	    .address = ZEBRA, .key = fixture->key, .who = "test"};
	int64_t now = store_fixture_time(NOW);

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	add_zebra(fixture, now);
	store_fixture_build_digests(fixture, now);
	FAILS(PB_ERROR_INPUT,
	    erase_suppress(fixture->store, &request, "spam", now, &error));
	assert_rows(fixture, "SELECT state FROM subscriber", "active");
	g_assert_true(erase_suppress(fixture->store, &request, "complaint", now, NULL));
	g_assert_true(erase_suppress(fixture->store, &request, "operator", now, NULL));
	assert_rows(fixture, "SELECT state FROM subscriber", "gone");
	assert_rows(fixture, "SELECT DISTINCT state FROM outbox", "CANCELLED");
	g_assert_true(erase_suppress(fixture->store, &request, "dead", now, NULL));
	assert_rows(fixture, "SELECT reason FROM suppression", "operator");
}

/* Also if the row was not cancelled: the claim checks again. */
STORE_TEST(claim_cancels_mail_to_suppressed_addresses)
{
	g_autofree char *hash =
	    suppression_hash(fixture->key, "zebra.quagga@example.org");
	g_autoptr(GPtrArray) jobs = NULL;
	int64_t now = store_fixture_time(NOW);
	const struct outbox_job *job;
	bool is_more;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	add_zebra(fixture, now);
	store_fixture_build_digests(fixture, now);
	g_assert_true(suppression_insert(fixture->store, hash, "operator", now, NULL));
	jobs = outbox_claim(fixture->store,
	    &(struct outbox_claim){
	        .now = now, .limit = 10, .cache_key = "key", .key = fixture->key},
	    &is_more, NULL);
	g_assert_cmpuint(jobs->len, ==, 1);
	job = jobs->pdata[0];
	g_assert_true(job->is_cancelled);
	assert_rows(fixture, "SELECT state FROM outbox", "CANCELLED");
}

/*
 * A reader prevents truncating the log: the rows are deleted, and it is truncated
 * later.
 */
STORE_TEST(file_in_use_is_vacuumed_later)
{
	g_autoptr(GError) error = NULL;
	struct store_fixture reader = {.store = NULL};

	add_zebra(fixture, store_fixture_time(NOW));
	store_fixture_run(fixture, "PRAGMA busy_timeout = 1");
	reader.store = store_open(fixture->path, &error);
	g_assert_no_error(error);
	store_fixture_run(&reader, "BEGIN; SELECT count(*) FROM subscriber");
	g_assert_false(forget(fixture, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "traces may remain"));
	g_clear_error(&error);
	assert_rows(fixture, "SELECT count(*) FROM subscriber", "0");
	g_assert_true(is_in_files(fixture, "quagga"));
	store_fixture_run(&reader, "COMMIT");
	/* A second request finds no subscriber, and the file is cleaned. */
	g_assert_false(forget(fixture, ZEBRA, false, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_assert_false(is_in_files(fixture, "quagga"));
	store_free(reader.store);
}

STORE_TEST(interrupted_vacuum_is_repeated_by_maintenance)
{
	g_autoptr(GError) error = NULL;

	add_zebra(fixture, store_fixture_time(NOW));
	/* As after a kill between the commit and the cleaning. */
	store_fixture_run(fixture, "INSERT INTO cursor VALUES ('erasure', 1)");
	store_fixture_run(fixture, "PRAGMA secure_delete = OFF");
	store_fixture_run(fixture, "DELETE FROM audit_log");
	store_fixture_run(fixture, "DELETE FROM subscription");
	store_fixture_run(fixture, "DELETE FROM subscriber");
	g_assert_true(is_in_files(fixture, "quagga"));
	g_assert_true(maintenance_run(fixture->store, store_fixture_time(NOW), &error));
	g_assert_false(is_in_files(fixture, "quagga"));
	assert_rows(fixture, "SELECT value FROM cursor WHERE name = 'erasure'", "0");
}

UNIT_MAIN
