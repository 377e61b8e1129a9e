/*
 * test_outbox_mail.c - mail in the outbox: stored, claimed, ended, erased.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/delivery/queue.h"
#include "store/mail/outbox.h"
#include "store/subscriber/suppression.h"

#define NOW     "2026-11-20T09:00:00Z"
#define HEADERS "Message-ID: <a1@example.org>\r\nSubject: Re: zebrafilter\r\n"
#define TEXT    HEADERS "\r\nYour quaggafilter is gone.\r\n"

static struct store_fixture *
new_fixture(void)
{
	struct store_fixture *fixture = store_fixture_new();

	store_fixture_set_now(fixture, store_fixture_time(NOW));
	return fixture;
}

static bool
try_to_add(struct store_fixture *fixture, enum outbox_kind kind, int64_t subscriber_id,
    const char *recipient, GBytes *message, int64_t *id, GError **error)
{
	const struct outbox_mail mail = {
	    .kind = kind,
	    .subscriber_id = subscriber_id,
	    .recipient = recipient,
	    .address_key = recipient,
	    .sender = kind == OUTBOX_CONFIRMATION ? "paperboy+b-x@example.org" : "",
	    .message = message,
	    .now = store_fixture_time(NOW),
	};

	return outbox_add_mail(fixture->store, &mail, id, error);
}

static int64_t
add(struct store_fixture *fixture, enum outbox_kind kind, int64_t subscriber_id,
    const char *recipient)
{
	g_autoptr(GBytes) message = g_bytes_new_static(TEXT, strlen(TEXT));
	int64_t id = -1;

	NO_ERROR(
	    try_to_add(fixture, kind, subscriber_id, recipient, message, &id, &error));
	return id;
}

static GPtrArray *
claim(struct store_fixture *fixture, unsigned limit)
{
	const struct outbox_claim request = {.now = store_fixture_time(NOW),
	    .limit = limit,
	    .is_idle = true,
	    .cache_key = "render key",
	    .key = fixture->key};
	bool is_more;
	GPtrArray *jobs =
	    NO_ERROR(outbox_claim(fixture->store, &request, &is_more, &error));

	return jobs;
}

static void
finish(struct store_fixture *fixture, int64_t id, enum outbox_status end)
{
	g_autoptr(GPtrArray) results = g_ptr_array_new();
	struct outbox_result result = {
	    .id = id, .end = end, .next_try_at = store_fixture_time(NOW), .code = 250};

	if (end == OUTBOX_UNKNOWN)
		result.next_try_at = -1;
	g_ptr_array_add(results, &result);
	NO_ERROR(outbox_save_results(
	    fixture->store, results, store_fixture_time(NOW), &error));
}

#define OUTBOX_TEST(function) TEST_WITH(function, store_fixture, fixture, new_fixture())

OUTBOX_TEST(message_is_sent_as_stored)
{
	int64_t id = add(fixture, OUTBOX_REPLY, 0, "ada@example.org");
	g_autoptr(GPtrArray) jobs = claim(fixture, 50);
	const struct outbox_job *job = jobs->pdata[0];
	g_autoptr(GBytes) message = NULL;
	g_autoptr(GBytes) text = g_bytes_new_static(TEXT, strlen(TEXT));

	NO_ERROR(outbox_find_mail(fixture->store, id, &message, &error));
	g_assert_true(g_bytes_equal(message, text));
	g_assert_cmpuint(jobs->len, ==, 1);
	g_assert_cmpint(job->id, ==, id);
	g_assert_cmpint(job->kind, ==, OUTBOX_REPLY);
	g_assert_cmpint(job->digest_id, ==, -1);
	g_assert_cmpint(job->subscriber_id, ==, -1);
	g_assert_cmpstr(job->recipient, ==, "ada@example.org");
	g_assert_cmpstr(job->sender, ==, "");
	g_assert_false(job->is_cancelled);
}

TEST(a_mail_that_cannot_be_sent_is_not_stored)
{
	static const struct {
		const char *bytes, *says;
	} rows[] = {
	    {"Subject: x\r\n\r\nno id\r\n", "no Message-ID"},
	    {"Subject: x\r\n\r\nMessage-ID: <late@example.org>\r\n", "no Message-ID"},
	    {"Message-ID:\r\n\r\nempty\r\n", "no Message-ID"},
	    {HEADERS, "no empty line"},
	    {HEADERS "\r\nend", "no CRLF at the end"},
	    {HEADERS "\r\na\nb\r\n", "bare LF"},
	    {HEADERS "\r\na\rb\r\n", "bare CR"},
	    {HEADERS "\n\r\n", "bare LF"},
	    {"", "no empty line"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autoptr(GBytes) message =
		    g_bytes_new_static(rows[i].bytes, strlen(rows[i].bytes));
		g_autoptr(GError) error = NULL;
		int64_t id = -7;

		g_assert_false(try_to_add(
		    fixture, OUTBOX_REPLY, 0, "a@example.org", message, &id, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!strstr(error->message, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, error->message);
		g_assert_cmpint(id, ==, -7);
		assert_rows(fixture, "SELECT count(*) FROM outbox", "0");
	}
}

/*
 * @param bytes  of all lines
 * @param line   of one of them
 */
static bool
is_taken(size_t bytes, size_t line, char inside)
{
	pb_auto(store_fixture) fixture = new_fixture();
	g_autoptr(GString) text = g_string_new(HEADERS "\r\n");
	g_autoptr(GBytes) message = NULL;
	g_autoptr(GError) error = NULL;
	int64_t id;
	bool is_ok;

	for (size_t i = 0; i < line; i++)
		g_string_append_c(text, i == line / 2 ? inside : 'x');
	g_string_append(text, "\r\n");
	while (text->len < bytes)
		g_string_append(text, bytes - text->len == 3 ? "x\r\n" : "\r\n");
	message = g_bytes_new(text->str, text->len);
	is_ok = try_to_add(
	    fixture, OUTBOX_NOTICE, 0, "a@example.org", message, &id, &error);
	if (!is_ok)
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_assert_cmpint(store_fixture_number(fixture, "SELECT count(*) FROM outbox"),
	    ==, is_ok ? 1 : 0);
	return is_ok;
}

TEST(its_size_and_its_lines_have_an_end)
{
	g_assert_true(is_taken(BOUNDS_STORED_BYTES, 10, 'y'));
	g_assert_false(is_taken(BOUNDS_STORED_BYTES + 1, 10, 'y'));
	g_assert_true(is_taken(0, BOUNDS_LINE_BYTES, 'y'));
	g_assert_false(is_taken(0, BOUNDS_LINE_BYTES + 1, 'y'));
	g_assert_false(is_taken(0, 10, '\0'));
}

TEST(schema_rejects_invalid_mail)
{
#define INSERT(kind, person, digest, to, key, from, message)                      \
	"INSERT INTO outbox (kind, subscriber_id, digest_id, recipient,"          \
	" address_key, sender, message, state, queued_at, next_try_at) VALUES"    \
	" (" kind ", " person ", " digest ", " to ", " key ", " from ", " message \
	", 'NEW', 0, 0)"
	static const char *const rows[] = {
	    INSERT("'letter'", "NULL", "NULL", "'a@b.org'", "'k'", "''", "x'41'"),
	    INSERT("'digest'", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"),
	    INSERT("'digest'", "1", "NULL", "NULL", "NULL", "NULL", "NULL"),
	    INSERT("'answer'", "NULL", "1", "'a@b.org'", "'k'", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "NULL", "'k'", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "NULL", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "''", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "NULL", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "''", "NULL"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "''", "x''"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "''",
	        "zeroblob(262145)"),
	    INSERT("'answer'", "NULL", "NULL", "'a b@b.org'", "'k'", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a>@b.org'", "'k'", "''", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'||char(13)", "'k'", "''",
	        "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "'c'", "x'41'"),
	    INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'", "'c@d e'", "x'41'"),
	    "UPDATE outbox SET message = x'42'",
	    "UPDATE outbox SET message = NULL",
	    "UPDATE outbox SET recipient = 'other@b.org'",
	    "UPDATE outbox SET sender = 'other@b.org'",
	    "UPDATE outbox SET kind = 'notice'",
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5, next_try_at = NULL",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *says = NULL;

		store_fixture_run(
		    fixture, INSERT("'answer'", "NULL", "NULL", "'a@b.org'", "'k'",
		                 "''", "zeroblob(262144)"));
		says = store_fixture_try(fixture, rows[i]);
		if (!says || !(strstr(says, "CHECK") || strstr(says, "frozen")))
			g_test_fail_printf("%s: %s", rows[i], says ? says : "accepted");
	}
}

OUTBOX_TEST(inbox_are_claimed_before_digests)
{
	g_autoptr(GPtrArray) first = NULL, second = NULL;
	int64_t id;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	for (int i = 0; i < 5; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		store_fixture_subscribe(
		    fixture, address, "UTC", "diffusion", store_fixture_time(NOW));
	}
	assert_digests_at(fixture, NOW, 5);
	id = add(fixture, OUTBOX_CONFIRMATION, 0, "new@example.org");
	first = claim(fixture, 2);
	g_assert_cmpuint(first->len, ==, 2);
	g_assert_cmpint(((struct outbox_job *)first->pdata[0])->id, ==, id);
	g_assert_cmpstr(((struct outbox_job *)first->pdata[0])->sender, ==,
	    "paperboy+b-x@example.org");
	g_assert_cmpint(
	    ((struct outbox_job *)first->pdata[1])->kind, ==, OUTBOX_DIGEST);
	g_assert_null(((struct outbox_job *)first->pdata[1])->sender);
	second = claim(fixture, 50);
	g_assert_cmpuint(second->len, ==, 4);
}

static void
subscribe(struct store_fixture *fixture, const char *address, const char *update)
{
	g_autofree char *sql = g_strdup_printf(
	    "UPDATE subscriber SET %s WHERE address = '%s'", update, address);

	store_fixture_subscribe(
	    fixture, address, "UTC", "diffusion", store_fixture_time(NOW));
	store_fixture_run(fixture, sql);
}

/* They are queued last, behind a mailing. */
OUTBOX_TEST(awaited_messages_are_claimed_before_a_mailing)
{
	enum { MAILING = 120 };
	static const char *const first[] = {
	    "new@example.org", "first@example.org", "now@example.org"};
	g_autoptr(GPtrArray) jobs = NULL, rest = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	for (int i = 0; i < MAILING; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		subscribe(fixture, address, "is_first_due = 0");
	}
	assert_digests_at(fixture, NOW, MAILING);
	subscribe(fixture, "now@example.org", "is_first_due = 0, frequency = 'now'");
	subscribe(fixture, "first@example.org", "is_first_due = 1");
	assert_digests_at(fixture, NOW, 2);
	add(fixture, OUTBOX_REPLY, 0, "new@example.org");
	jobs = claim(fixture, G_N_ELEMENTS(first));
	g_assert_cmpuint(jobs->len, ==, G_N_ELEMENTS(first));
	for (unsigned i = 0; i < G_N_ELEMENTS(first); i++)
		g_assert_cmpstr(
		    ((struct outbox_job *)jobs->pdata[i])->recipient, ==, first[i]);
	rest = claim(fixture, 2);
	g_assert_cmpint(((struct outbox_job *)rest->pdata[0])->id, ==, 1);
}

TEST(replies_go_to_inactive_but_not_to_suppressed_addresses)
{
	static const struct {
		const char *state, *reason; /* of a suppression, or NULL */
		bool is_sent;
		enum outbox_kind kind;
	} rows[] = {
	    {"active", NULL, true, OUTBOX_REPLY},
	    {"pending", NULL, true, OUTBOX_REPLY},
	    {"paused", NULL, true, OUTBOX_REPLY},
	    {"suspended", NULL, true, OUTBOX_REPLY},
	    {"gone", NULL, true, OUTBOX_REPLY},
	    {"active", "operator", false, OUTBOX_REPLY},
	    {"gone", "operator", false, OUTBOX_REPLY},
	    {"gone", "never-again", false, OUTBOX_CONFIRMATION},
	    /* The person can come back. */
	    {"gone", "complaint", true, OUTBOX_CONFIRMATION},
	    {"gone", "dead", true, OUTBOX_REPLY},
	    {"gone", "complaint", false, OUTBOX_NOTICE},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		int64_t person = store_fixture_subscribe(
		    fixture, "ada@example.org", "UTC", NULL, store_fixture_time(NOW));
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET state = '%s', next_due_at = NULL",
		    rows[i].state);
		g_autofree char *hash =
		    suppression_hash(fixture->key, "ada@example.org");
		g_autoptr(GPtrArray) jobs = NULL;
		struct outbox_job *job;

		store_fixture_run(fixture, sql);
		if (rows[i].reason)
			suppression_insert(
			    fixture->store, hash, rows[i].reason, 1, NULL);
		add(fixture, rows[i].kind, person, "ada@example.org");
		jobs = claim(fixture, 50);
		g_assert_cmpuint(jobs->len, ==, 1);
		job = jobs->pdata[0];
		g_assert_true(job->is_cancelled == !rows[i].is_sent);
		g_assert_true(
		    outbox_mark_cancelled(fixture->store, fixture->key, &job, 1, NULL));
		g_assert_true(job->is_cancelled == !rows[i].is_sent);
		assert_rows(fixture, "SELECT state, message IS NULL FROM outbox",
		    rows[i].is_sent ? "SENDING|0" : "CANCELLED|1");
	}
}

OUTBOX_TEST(a_suppression_after_the_claim_is_seen_too)
{
	g_autofree char *hash = suppression_hash(fixture->key, "ada@example.org");
	g_autoptr(GPtrArray) jobs = NULL;
	struct outbox_job *job;

	add(fixture, OUTBOX_NOTICE, 0, "ada@example.org");
	jobs = claim(fixture, 50);
	job = jobs->pdata[0];
	g_assert_true(
	    outbox_mark_cancelled(fixture->store, fixture->key, &job, 1, NULL));
	g_assert_false(job->is_cancelled);
	suppression_insert(fixture->store, hash, "complaint", 1, NULL);
	g_assert_true(
	    outbox_mark_cancelled(fixture->store, fixture->key, &job, 1, NULL));
	g_assert_true(job->is_cancelled);
}

/* Not the addresses that begin with an x. */
static bool
allow_some(void *data, const char *recipient, int64_t *next_at)
{
	unsigned *asked = data;

	++*asked;
	*next_at = store_fixture_time(NOW) + 60;
	return *recipient != 'x';
}

/* Postponed and cancelled messages do not count, and the next in order is claimed. */
OUTBOX_TEST(a_claim_takes_the_first_that_may_be_sent)
{
	g_autofree char *hash = suppression_hash(fixture->key, "s@example.org");

	suppression_insert(fixture->store, hash, "complaint", 1, NULL);
	for (const char *at = "xxasbxc"; *at; at++) {
		g_autofree char *address = g_strdup_printf("%c@example.org", *at);

		add(fixture, OUTBOX_NOTICE, 0, address);
	}
	CASES_FOREACH(row, "outbox_mail_claims", *limit, *claimed, *is_more, *asked) {
		g_autoptr(GString) claimed = g_string_new(NULL);
		unsigned asked = 0;
		const struct outbox_claim request = {.now = store_fixture_time(NOW),
		    .limit = cases_number(row->limit),
		    .is_idle = true,
		    .cache_key = "render key",
		    .key = fixture->key,
		    .allow = allow_some,
		    .data = &asked};
		bool is_more;
		g_autoptr(GPtrArray) jobs =
		    outbox_claim(fixture->store, &request, &is_more, NULL);

		for (unsigned k = 0; k < jobs->len; k++) {
			const struct outbox_job *job = jobs->pdata[k];

			g_assert_cmpint(job->is_cancelled, ==, *job->recipient == 's');
			g_string_append_c(claimed, *job->recipient);
		}
		g_assert_cmpstr(claimed->str, ==, row->claimed);
		g_assert_cmpint(is_more, ==, cases_is_yes(row->is_more));
		g_assert_cmpuint(asked, ==, cases_number(row->asked));
	}
}

TEST(bytes_are_deleted_when_the_message_ends)
{
	static const struct {
		enum outbox_status end;
		const char *row;
	} rows[] = {
	    {OUTBOX_SENT, "SENT|1"},
	    {OUTBOX_FAILED, "FAILED|1"},
	    {OUTBOX_REJECTED, "FAILED|1"},
	    {OUTBOX_UNKNOWN, "UNKNOWN|1"},
	    {OUTBOX_CANCELLED, "CANCELLED|1"},
	    {OUTBOX_DEFERRED, "DEFERRED|0"},
	    {OUTBOX_RETURNED, "NEW|0"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		int64_t id = add(fixture, OUTBOX_REPLY, 0, "ada@example.org");
		g_autoptr(GPtrArray) jobs = claim(fixture, 50);
		g_autoptr(GError) error = NULL;
		g_autoptr(GBytes) message = NULL;

		g_assert_cmpuint(jobs->len, ==, 1);
		finish(fixture, id, rows[i].end);
		assert_rows(
		    fixture, "SELECT state, message IS NULL FROM outbox", rows[i].row);
		g_assert_true(outbox_find_mail(fixture->store, id, &message, &error));
		if (g_str_has_suffix(rows[i].row, "0"))
			g_assert_nonnull(message);
		else
			g_assert_null(message);
	}
}

OUTBOX_TEST(unsubscribing_cancels_digests_but_not_notices)
{
	int64_t person;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	person = store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "diffusion", store_fixture_time(NOW));
	store_fixture_build_digests(fixture, store_fixture_time(NOW));
	add(fixture, OUTBOX_REPLY, person, "ada@example.org");
	NO_ERROR(
	    outbox_cancel(fixture->store, person, store_fixture_time(NOW), &error));
	assert_rows(fixture, "SELECT kind, state FROM outbox ORDER BY id",
	    "digest|CANCELLED answer|NEW");
}

TEST(an_operator_holds_releases_and_drops_it)
{
	static const struct {
		enum queue_action action;
		int days; /* since it was queued */
		enum queue_outcome outcome;
		const char *state;
	} rows[] = {
	    {QUEUE_RELEASE, 0, QUEUE_DONE, "NEW"},
	    {QUEUE_RELEASE, QUEUE_MAIL_DAYS, QUEUE_DONE, "NEW"},
	    {QUEUE_RELEASE, QUEUE_MAIL_DAYS + 1, QUEUE_TOO_OLD, "CANCELLED"},
	    {QUEUE_RETRY, 0, QUEUE_DONE, "NEW"},
	    {QUEUE_DROP, 0, QUEUE_DONE, "CANCELLED"},
	    {QUEUE_DROP_DELIVERED, 0, QUEUE_DELIVERED, "CANCELLED"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		const struct queue_request hold = {
		    QUEUE_HOLD, "test", store_fixture_time(NOW)};
		const struct queue_request request = {rows[i].action, "test",
		    store_fixture_time(NOW) + rows[i].days * CLOCK_DAY_S};
		int64_t id = add(fixture, OUTBOX_REPLY, 0, "ada@example.org");
		enum queue_outcome outcome;
		g_autofree struct outbox_message *message = NULL;

		NO_ERROR(queue_change(fixture->store, &hold, &id, 1, &outcome, &error));
		NO_ERROR(
		    queue_change(fixture->store, &request, &id, 1, &outcome, &error));
		g_assert_cmpint(outcome, ==, rows[i].outcome);
		message = NO_ERROR(outbox_load_message(fixture->store, id, &error));
		g_assert_cmpstr(message->state, ==, rows[i].state);
		g_assert_cmpstr(message->kind, ==, "answer");
		g_assert_cmpstr(message->recipient, ==, "ada@example.org");
		g_assert_null(message->recipient_state);
		g_assert_null(message->slot);
	}
}

UNIT_MAIN
