/*
 * test_one_click.c - the self-test of one-click unsubscribing: header, result, times.
 *
 * The requests are tested in test_self_test.py.
 */
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "message/subaddress.h"
#include "render/sender.h"
#include "service/delivery/mail_token.h"
#include "service/health/self_test.h"
#include "service/state/one_click.h"

#define NOW "2026-11-20T09:00:00Z"

#define URL  "https://papers.example.org"
#define LINK URL "/u/abcdefghijklmnopq2"
#define MAIL "<mailto:paperboy@papers.example.org>"

#define SIGNATURE "d=papers.example.org; h=list-id:list-unsubscribe"

static void
add_field(struct inmail *mail, const char *name, const char *value)
{
	if (value)
		g_ptr_array_add(mail->marks, inmail_field_new(name, value));
}

TEST(returned_links_are_examined)
{
	static const struct {
		const char *link, *announced, *signature;
		enum self_test_fault fault;
	} rows[] = {
	    {"<" LINK ">, " MAIL, SENDER_ONE_CLICK, SIGNATURE ":list-unsubscribe-post",
	        SELF_TEST_FAULT_NONE},
	    {MAIL ", <" LINK ">", SENDER_ONE_CLICK, SIGNATURE ":list-unsubscribe-post",
	        SELF_TEST_FAULT_NONE},
	    {"<" LINK ">, " MAIL, SENDER_ONE_CLICK, SIGNATURE,
	        SELF_TEST_FAULT_SIGNATURE},
	    {"<" LINK ">, " MAIL, SENDER_ONE_CLICK, NULL, SELF_TEST_FAULT_SIGNATURE},
	    {NULL, SENDER_ONE_CLICK, SIGNATURE, SELF_TEST_FAULT_HEADER},
	    {MAIL, SENDER_ONE_CLICK, SIGNATURE, SELF_TEST_FAULT_HEADER},
	    {"<" LINK ">, " MAIL, NULL, SIGNATURE, SELF_TEST_FAULT_HEADER},
	    {"<" LINK ">, " MAIL, "One-Click", SIGNATURE, SELF_TEST_FAULT_HEADER},
	    {"<" LINK ">, <HTTPS://lists.example/>", SENDER_ONE_CLICK, SIGNATURE,
	        SELF_TEST_FAULT_HEADER},
	    {"<" URL "/u/abcdefgh ijklmnopq2>, " MAIL, SENDER_ONE_CLICK, SIGNATURE,
	        SELF_TEST_FAULT_HEADER},
	    {"<" LINK, SENDER_ONE_CLICK, SIGNATURE, SELF_TEST_FAULT_HEADER},
	    {"<" LINK "x>, " MAIL, SENDER_ONE_CLICK, SIGNATURE, SELF_TEST_FAULT_HEADER},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct inmail *inmail = inmail_new();
		pb_local(check_mail) mail = {0};
		pb_local(self_test_result) result = {0};
		g_autofree char *line = NULL;

		add_field(inmail, "List-Unsubscribe", rows[i].link);
		add_field(inmail, "List-Unsubscribe-Post", rows[i].announced);
		add_field(inmail, "DKIM-Signature", rows[i].signature);
		line = check_mail_format(inmail, "abc", "");
		g_test_message("%s", line);
		g_assert_true(check_mail_parse(line, "abc", &mail));
		self_test_check_mail(&mail, LINK, &result);
		g_assert_cmpint(result.fault, ==, (int)rows[i].fault);
		inmail_free(inmail);
	}
}

TEST(replaced_message_id_is_noticed)
{
	static const struct {
		const char *id;
		bool is_own;
	} rows[] = {{"check.abc@example.org", true}, {"check.abcd@example.org", false},
	    {"made-up@provider.example", false}, {NULL, false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(inmail) inmail = inmail_new();
		pb_local(check_mail) mail = {0};
		g_autofree char *line = NULL;

		inmail->message_id = g_strdup(rows[i].id);
		line = check_mail_format(inmail, "abc", "");
		g_assert_true(check_mail_parse(line, "abc", &mail));
		g_assert_true(mail.has_own_id == rows[i].is_own);
	}
}

struct one_click_test {
	struct store_fixture *fixture;
	struct settings *settings;
	struct self_test check;
};

static void
one_click_test_init(struct one_click_test *test)
{
	*test = (struct one_click_test){
	    .fixture = store_fixture_new(), .settings = settings_new()};
	g_free(test->settings->state_dir);
	test->settings->state_dir = g_strdup(test->fixture->directory);
	g_free(test->settings->web_url);
	test->settings->web_url = g_strdup(URL);
	store_fixture_set_now(test->fixture, store_fixture_time(NOW));
	test->check = (struct self_test){
	    .settings = test->settings,
	    .store = test->fixture->store,
	    .key = test->fixture->key,
	    .clock = &test->fixture->clock,
	};
}

static void
one_click_test_clear(struct one_click_test *test)
{
	settings_free(test->settings);
	store_fixture_free(test->fixture);
}

TEST(wrong_results_remove_the_link)
{
	static const struct {
		enum self_test_fault fault;
		bool is_offered;
		int64_t hours; /* since this result is known */
	} rows[] = {
	    /* Whether it works is not known, as behind some routers. */
	    {SELF_TEST_FAULT_NETWORK, true, 0},
	    {SELF_TEST_FAULT_NETWORK, true, 1},
	    {SELF_TEST_FAULT_NONE, true, 0},
	    {SELF_TEST_FAULT_HTTP, false, 0},
	    {SELF_TEST_FAULT_HTTP, false, 1},
	    {SELF_TEST_FAULT_MAIL, false, 0},
	    {SELF_TEST_FAULT_SIGNATURE, false, 0},
	    {SELF_TEST_FAULT_NONE, true, 0},
	};
	const struct self_test_result none = {SELF_TEST_FAULT_NONE, (char *)""};
	pb_local(one_click_test) test = {0};
	int64_t now = store_fixture_time(NOW);

	one_click_test_init(&test);
	g_assert_false(one_click_is_offered(test.settings));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++, now += CLOCK_HOUR_S) {
		const struct self_test_result result = {
		    rows[i].fault, (char *)"detail"};
		pb_local(one_click) state = {0};
		bool is_offered;

		store_fixture_set_now(test.fixture, now);
		/* The worse of the two counts. */
		NO_ERROR(self_test_save(&test.check, i % 2 ? &none : &result,
		    i % 2 ? &result : &none, &is_offered, &error));
		g_assert_cmpint(is_offered, ==, rows[i].is_offered);
		g_assert_cmpint(
		    one_click_is_offered(test.settings), ==, rows[i].is_offered);
		one_click_load(test.settings, &state);
		g_assert_cmpstr(state.fault, ==, self_test_rows[rows[i].fault].name);
		g_assert_cmpint(now - state.since, ==, rows[i].hours * CLOCK_HOUR_S);
	}
}

/* Once a day; after a failure every hour. */
TEST(tests_have_an_interval)
{
	const struct self_test_result none = {SELF_TEST_FAULT_NONE, (char *)""};
	const struct self_test_result redirect = {SELF_TEST_FAULT_HTTP, (char *)""};
	int64_t now = store_fixture_time(NOW);
	pb_local(one_click_test) test = {0};
	bool is_offered;

	one_click_test_init(&test);
	g_assert_cmpint(self_test_get_due(test.settings, now), ==, now);
	g_assert_nonnull(self_test_save(&test.check, &none, &none, &is_offered, NULL));
	g_assert_cmpint(
	    self_test_get_due(test.settings, now + 1), ==, now + CLOCK_DAY_S);
	/* The clock was set back. */
	g_assert_cmpint(self_test_get_due(test.settings, now - 9), ==, now - 9);
	g_assert_nonnull(
	    self_test_save(&test.check, &none, &redirect, &is_offered, NULL));
	g_assert_cmpint(
	    self_test_get_due(test.settings, now + 1), ==, now + CLOCK_HOUR_S);
}

/* A result belongs to the page that was tested. */
TEST(other_pages_are_tested_again)
{
	static const char *const urls[] = {
	    "https://other.example.org", "", "http://a.b"};
	const struct self_test_result none = {SELF_TEST_FAULT_NONE, (char *)""};
	int64_t now = store_fixture_time(NOW);
	pb_local(one_click_test) test = {0};
	bool is_offered;

	one_click_test_init(&test);
	g_assert_nonnull(self_test_save(&test.check, &none, &none, &is_offered, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(urls); i++) {
		g_free(test.settings->web_url);
		test.settings->web_url = g_strdup(urls[i]);
		g_assert_false(one_click_is_offered(test.settings));
		g_assert_cmpint(
		    self_test_get_due(test.settings, now), ==, i == 0 ? now : -1);
	}
}

/* Neither is taken for the other one. */
TEST(test_tokens_belong_to_nobody)
{
	pb_local(one_click_test) test = {0};
	struct mail_token mail_token;
	g_autofree char *token = NULL;
	g_autofree char *leave = NULL;
	pb_auto(subscriber) subscriber = NULL;
	bool is_check, is_recorded;

	one_click_test_init(&test);
	mail_token = (struct mail_token){test.fixture->store, test.fixture->key, 0};
	store_fixture_subscribe(test.fixture, "ada@example.com", "UTC", NULL, 5);
	token = mail_token_format_check(test.fixture->key, 1);
	leave = token_sign(test.fixture->key, SUBADDRESS_TOKEN_LEAVE, 1, 5);
	g_assert_true(
	    mail_token_find_unsubscribe(&mail_token, token, &subscriber, NULL));
	g_assert_null(subscriber);
	g_assert_true(mail_token_record_check(&mail_token, leave, &is_check, NULL));
	g_assert_false(is_check);
	g_assert_true(
	    mail_token_find_check(test.fixture->store, 1, &is_recorded, NULL));
	g_assert_false(is_recorded);
	g_assert_true(mail_token_record_check(&mail_token, token, &is_check, NULL));
	g_assert_true(is_check);
	for (int64_t number = 0; number < 4; number++) {
		g_assert_true(mail_token_find_check(
		    test.fixture->store, number, &is_recorded, NULL));
		g_assert_cmpint(is_recorded, ==, number == 1);
	}
}

UNIT_MAIN
