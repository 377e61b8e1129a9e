/*
 * test_subscribe.c - subscribing, unsubscribing and filter changes; each change is
 * atomic.
 */
#include "service/people/person.h"
#include "service/people/subscribe.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/subscriber/subscribers.h"

#define NOW "2026-11-20T09:00:00Z"
#define ADA "ada@example.org"

static const struct subscribe_request model = {
    .address = ADA,
    .consent = STORE_FIXTURE_CONSENT,
    .zone = "UTC",
    .schedule = {.frequency = SCHEDULE_DAILY, .minute = 450},
    .max_full = 20,
    .who = "test",
};

/* @return the error, NULL on success */
static char *
add(struct store_fixture *fixture, const struct subscribe_request *request)
{
	struct subscribe_request whole = *request;
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	whole.key = fixture->key;
	subscriber = subscribe_add(
	    fixture->store, &whole, store_fixture_time(NOW), NULL, NULL, &error);
	store_fixture_assert_idle(fixture);
	g_assert_true(!subscriber == !!error);
	return error ? g_strdup(error->message) : NULL;
}

STORE_TEST(subscriber_is_stored_as_requested)
{
	struct subscribe_request request = model;

	request.address = "Ada Example <Ada.E@EXAMPLE.org>";
	request.schedule = (struct schedule){SCHEDULE_WEEKLY, 0x08, 60};
	request.zone = "Europe/Berlin";
	request.max_full = BOUNDS_DIGEST_FULL_MAX;
	g_assert_null(add(fixture, &request));
	assert_rows(fixture,
	    "SELECT address, name, state, frequency, weekdays, minute, zone, max_full,"
	    " consent_text, is_first_due, consent_at = created_at FROM subscriber",
	    "Ada.E@example.org|Ada "
	    "Example|active|weekly|8|60|Europe/Berlin|200|" STORE_FIXTURE_CONSENT
	    "|1|1");
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT next_due_at FROM subscriber"), ==,
	    store_fixture_time(NOW));
	assert_rows(fixture, "SELECT who, what, subscriber_id, detail FROM audit_log",
	    "test|subscriber added|1|" STORE_FIXTURE_CONSENT);
}

TEST(invalid_request_is_rejected_and_stores_nothing)
{
	g_autofree char *long_name = g_strnfill(BOUNDS_PERSON_NAME_BYTES + 1, 'n');
	g_autofree char *long_consent = g_strnfill(BOUNDS_CONSENT_BYTES + 1, 'c');
	static const struct subscribe_filter bad[] = {
	    {.text = "good"}, {.text = "ti:"}};
	static const struct subscribe_filter twice[] = {
	    {.text = "model"}, {.text = "Models"}};
	static const struct subscribe_filter named[] = {
	    {.text = "model", .name = "a\tb"}};
	static const struct subscribe_filter long_named[] = {
	    {.text = "model", .name = "12345678901234567890123456789012345678901"}};
	const struct {
		struct subscribe_request
		    with; /* values other than zero replace those of the model */
		const char *says;
	} rows[] = {
	    {{.address = "no address"}, "address"},
	    {{.address = "a@b\nc.example"}, "address"},
	    {{.address = ""}, "address"},
	    {{.consent = ""}, "consent"},
	    {{.consent = "by\nphone"}, "the consent contains a control character"},
	    {{.consent = "by \x1b[2J"}, "the consent contains a control character"},
	    {{.consent = "by \xff"}, "the consent is not UTF-8"},
	    {{.consent = long_consent}, "the consent is too long"},
	    {{.name = ""}, "the name is empty"},
	    {{.name = "a\nBcc: b@c.example"}, "the name contains a control"},
	    {{.name = "\xc2\x9b"
	              "31m"},
	        "the name contains a control"},
	    {{.name = "a\xc3"}, "the name is not UTF-8"},
	    {{.name = long_name}, "the name is too long"},
	    {{.zone = "Mars/Olympus"}, "unknown time zone"},
	    {{.max_full = 201}, "max must be from 1 to 200"},
	    {{.max_full = -1}, "max must be from 1 to 200"},
	    {{.filters = bad, .filter_count = 2},
	        "column 4: expected a word, a phrase"},
	    {{.filters = twice, .filter_count = 2}, "filter 1 is the same"},
	    {{.filters = named, .filter_count = 1}, "the name contains a control"},
	    {{.filters = long_named, .filter_count = 1}, "the name is too long"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		const struct subscribe_request *with = &rows[i].with;
		struct subscribe_request request = model;
		g_autofree char *before = store_fixture_hash(fixture);
		g_autofree char *after = NULL, *says = NULL;

		request.address = with->address ? with->address : request.address;
		request.consent = with->consent ? with->consent : request.consent;
		request.name = with->name;
		request.zone = with->zone ? with->zone : request.zone;
		request.max_full = with->max_full ? with->max_full : request.max_full;
		request.filters = with->filters;
		request.filter_count = with->filter_count;
		says = add(fixture, &request);
		if (!says || !strstr(says, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, says ? says : "accepted");
		after = store_fixture_hash(fixture);
		g_assert_cmpstr(before, ==, after);
	}
}

STORE_TEST(the_limits_themselves_are_allowed)
{
	g_autofree char *name = g_strnfill(BOUNDS_PERSON_NAME_BYTES, 'n');
	g_autofree char *consent = g_strnfill(BOUNDS_CONSENT_BYTES, 'c');
	struct subscribe_request request = model;

	request.name = name;
	request.consent = consent;
	g_assert_null(add(fixture, &request));
}

STORE_TEST(rejected_filter_is_identified)
{
	static const struct subscribe_filter filters[] = {
	    {.text = "good"}, {.text = "diffusion upvotes:>=ten"}};
	struct subscribe_request request = model;
	pb_local(query_error) problem = {0};
	unsigned refused = 99;

	request.filters = filters;
	request.filter_count = 2;
	request.key = fixture->key;
	FAILS(PB_ERROR_INPUT, subscribe_add(fixture->store, &request,
	                          store_fixture_time(NOW), &problem, &refused, &error));
	g_assert_cmpuint(refused, ==, 1);
	g_assert_cmpuint(problem.column, ==, 21);
	g_assert_nonnull(problem.message);
}

STORE_TEST(spellings_of_an_address_are_one_subscriber)
{
	struct subscribe_request request = model;
	static const char *const same[] = {ADA, "ada@EXAMPLE.ORG", "<ada@example.org>"};

	g_assert_null(add(fixture, &request));
	for (size_t i = 0; i < G_N_ELEMENTS(same); i++) {
		g_autofree char *says = NULL;

		request.address = same[i];
		says = add(fixture, &request);
		g_assert_cmpstr(says, ==, "this address is already subscribed");
	}
	assert_rows(fixture, "SELECT count(*) FROM subscriber", "1");
}

STORE_TEST(unsubscription_removes_filters_and_unsent_mail)
{
	g_autoptr(GError) error = NULL;
	int64_t now = store_fixture_time(NOW);
	struct subscribe_request request = model;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	g_assert_true(subscribe_remove(fixture->store, ADA, "test", now + 5, &error));
	assert_rows(fixture, "SELECT state, next_due_at FROM subscriber", "gone|-");
	assert_rows(fixture, "SELECT count(*) FROM subscription", "0");
	assert_rows(fixture, "SELECT state, next_try_at FROM outbox", "CANCELLED|-");
	assert_rows(fixture, "SELECT what FROM audit_log ORDER BY id DESC LIMIT 1",
	    "subscriber removed");
	g_assert_null(person_load(fixture->store, ADA, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_clear_error(&error);
	g_assert_false(subscribe_remove(fixture->store, ADA, "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);

	request.consent = "asked again by phone";
	request.zone = "Asia/Kathmandu";
	g_assert_null(add(fixture, &request));
	assert_rows(fixture,
	    "SELECT id, state, zone, consent_text, is_first_due FROM subscriber",
	    "1|active|Asia/Kathmandu|asked again by phone|1");
}

STORE_TEST(message_in_flight_is_sent_after_unsubscription)
{
	g_autoptr(GError) error = NULL;
	int64_t now = store_fixture_time(NOW);

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, claimed_at = 1,"
	    " next_try_at = NULL");
	g_assert_true(subscribe_remove(fixture->store, ADA, "test", now + 5, &error));
	assert_rows(fixture, "SELECT state FROM outbox", "SENDING");
	assert_rows(fixture, "SELECT state FROM digest", "live");
}

STORE_TEST(filters_take_the_smallest_free_number)
{
	g_autoptr(GError) error = NULL;
	int64_t now = store_fixture_time(NOW);

	store_fixture_subscribe(fixture, ADA, "UTC", "one", now);
	store_fixture_add_filter(fixture, ADA, "two", now);
	store_fixture_add_filter(fixture, ADA, "three", now);
	g_assert_true(
	    subscribe_remove_filter(fixture->store, ADA, 2, "test", now, &error));
	g_assert_false(
	    subscribe_remove_filter(fixture->store, ADA, 2, "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	store_fixture_add_filter(fixture, ADA, "four", now);
	assert_rows(fixture, "SELECT number, text FROM subscription ORDER BY number",
	    "1|one 2|four 3|three");
	assert_rows(
	    fixture, "SELECT since_day FROM subscription LIMIT 1", "2026-11-17");
}

STORE_TEST(number_of_filters_is_limited)
{
	const struct subscribe_filter more = {.text = "more"};

	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	for (int i = 0; i < BOUNDS_FILTERS_PERSON; i++) {
		g_autofree char *text = g_strdup_printf("word%d", i);

		store_fixture_add_filter(fixture, ADA, text, store_fixture_time(NOW));
	}
	FAILS(PB_ERROR_LIMIT, subscribe_add_filter(fixture->store, ADA, &more, "test",
	                          store_fixture_time(NOW), NULL, NULL, &error));
	store_fixture_assert_idle(fixture);
}

STORE_TEST(ambiguous_filter_gives_a_warning)
{
	g_autoptr(GPtrArray) warnings = NULL;
	const struct subscribe_filter filter = {.text = "cat or dog"};
	pb_auto(subscription) subscription = NULL;

	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	subscription = NO_ERROR(subscribe_add_filter(fixture->store, ADA, &filter,
	    "test", store_fixture_time(NOW), NULL, &warnings, &error));
	g_assert_cmpuint(warnings->len, ==, 1);
	g_assert_nonnull(strstr(((struct msg *)warnings->pdata[0])->text, "OR"));
}

UNIT_MAIN
