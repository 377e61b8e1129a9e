/*
 * test_web_handler.c - requests of the page, with the real commands and texts.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/token.h"
#include "lib/unit.h"
#include "lib/web_fixture.h"
#include "message/subaddress.h"
#include "service/people/erase.h"
#include "store/core/engine.h"

#define subscribe(c, ...) web_submit(c, WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", __VA_ARGS__)
#define leave(c, token, ...) \
	web_submit(c, WEB_OP_LEAVE, WEB_OP_LEAVE_SHOW, token, "action", __VA_ARGS__)

/* ---- the start page ---- */

WEB_TEST(home_page_has_no_effect)
{
	g_autofree char *before = store_fixture_text(c->fixture, STATE);
	pb_auto(web_reply) reply = web_ask(c, WEB_OP_HOME, "", NULL);

	g_assert_cmpint(reply->page, ==, WEB_PAGE_HOME);
	g_assert_cmpstr(web_value(reply, "service"), ==, "paperboy");
	g_assert_cmpstr(web_value(reply, "address"), ==, HOME);
	g_assert_cmpuint(strlen(web_value(reply, "csrf")), ==, TOKEN_LENGTH);
	assert_rows(c->fixture, STATE, before);
}

WEB_TEST(a_test_shows_papers_and_days)
{
	pb_auto(web_reply) reply =
	    web_ask(c, WEB_OP_HOME, "", "filter", "diffusion", NULL);
	g_autoptr(GVariant) backtest =
	    g_variant_lookup_value(reply->values, "backtest", G_VARIANT_TYPE_VARDICT);
	g_autoptr(GVariant) days =
	    g_variant_lookup_value(backtest, "days", G_VARIANT_TYPE("aa{sv}"));

	g_assert_cmpstr(web_value(reply, "form_filter"), ==, "diffusion");
	web_assert_has(reply, "2 papers in 30 days");
	web_assert_has(reply, "{'id': <'2611.00001'>, 'title': <'Diffusion'>, 'url':");
	web_assert_has(reply, "{'day': <'2026-11-19'>, 'papers': <'1'>}");
	web_assert_has(reply, "{'day': <'2026-11-20'>, 'papers': <'0'>}");
	g_assert_cmpuint(g_variant_n_children(days), ==, 31);
}

WEB_TEST(a_test_reports_the_column_of_an_error)
{
	pb_auto(web_reply) reply =
	    web_ask(c, WEB_OP_HOME, "", "filter", "diffusion AND (", NULL);

	web_assert_has(reply, "'field': <'filter'>, 'line': <'diffusion AND ('>");
	web_assert_has(reply, "'kind': <'error'>");
	web_assert_has(reply, "'column': <'1");
}

WEB_TEST(all_addresses_get_the_same_response)
{
	const struct erase_request suppress = {
	    .address = "gone@example.com", .who = "test", .key = c->fixture->key};
	pb_auto(web_reply) fresh = NULL, *known = NULL, *own = NULL, *gone = NULL;

	g_assert_true(erase_suppress(
	    c->fixture->store, &suppress, ERASE_OPERATOR, c->options.now, NULL));
	fresh = subscribe(c, "address", ADAM, "tz", "Asia/Tokyo", "filter", "robots");
	g_assert_true(web_flag(fresh, "is_sent"));
	assert_rows(c->fixture,
	    "SELECT recipient, kind FROM outbox ORDER BY id DESC LIMIT 1",
	    ADAM "|confirmation");
	known = subscribe(c, "address", "Eva@EXAMPLE.com", "filter", "robots");
	assert_rows(c->fixture,
	    "SELECT recipient, kind FROM outbox ORDER BY id DESC LIMIT 1",
	    EVA "|confirmation");
	web_reply_free(subscribe(c, "address", EVA));
	g_free(web_get_mailed(c, URL "/p/"));
	own = subscribe(c, "address", HOME, "filter", "robots");
	gone = subscribe(c, "address", "gone@example.com", "filter", "robots");
	web_assert_same(fresh, known);
	web_assert_same(fresh, own);
	web_assert_same(fresh, gone);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM outbox WHERE recipient IN ('" HOME
	    "', 'gone@example.com')",
	    "0");
	assert_rows(
	    c->fixture, "SELECT count(*) FROM subscription WHERE text = 'robots'", "0");
}

/* Post the form for an address from a client network. @return the status */
static enum web_status
submit_form(struct conversation *c, struct web_budget *budget, const char *address,
    const char *network)
{
	const struct web_handler handler = {
	    .store = c->fixture->store, .options = c->options, .budget = budget};
	pb_auto(web_request) request = web_request_new(WEB_OP_SUBSCRIBE);
	pb_auto(web_reply) reply = NULL;
	struct handler_report report;

	g_hash_table_insert(
	    request->fields, g_strdup("csrf"), web_get_csrf(c, WEB_OP_HOME, ""));
	g_hash_table_insert(request->fields, g_strdup("address"), g_strdup(address));
	conversation_set(&request->network, network);
	reply = web_handler_run(&handler, request, &report, NULL);
	g_assert_true(web_flag(reply, "is_sent") == (reply->status == WEB_STATUS_OK));
	if (reply->status != WEB_STATUS_OK)
		web_assert_has(reply, "The form has had too many requests");
	return reply->status;
}

static unsigned
submit_forms(struct conversation *c, struct web_budget *budget, unsigned count,
    const char *network)
{
	unsigned accepted = 0;

	for (unsigned i = 0; i < count; i++) {
		g_autofree char *address =
		    g_strdup_printf("p@d%u-%c.example.com", i, *network);

		accepted += submit_form(c, budget, address, network) == WEB_STATUS_OK;
	}
	return accepted;
}

WEB_TEST(a_flood_of_the_form_leaves_mail_alone)
{
	int64_t mails = conversation_count_mails(c);

	g_assert_cmpuint(submit_forms(c, NULL, 70, "1.2.3.0/24"), ==, 60);
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 60);
	/* The reply tells nothing about an address. */
	g_assert_cmpint(submit_form(c, NULL, EVA, ""), ==, WEB_STATUS_LIMITED);
	g_assert_cmpint(
	    submit_form(c, NULL, "p@d0-1.example.com", ""), ==, WEB_STATUS_LIMITED);
	g_assert_cmpint(
	    conversation_send(c, ADAM, HOME, "subscribe"), ==, HANDLER_CONFIRMING);
	c->options.now += HOUR;
	g_assert_cmpint(submit_form(c, NULL, "new@example.com", ""), ==, WEB_STATUS_OK);
	assert_rows(
	    c->fixture, "SELECT value FROM cursor WHERE name = 'dropped total'", "12");
}

WEB_TEST(forms_of_a_network_are_limited)
{
	pb_auto(web_budget) budget = web_budget_new(WEB_TESTS_PER_HOUR);

	g_assert_cmpuint(submit_forms(c, budget, 20, "1.2.3.0/24"), ==, 10);
	g_assert_cmpint(
	    submit_form(c, budget, EVA, "1.2.3.0/24"), ==, WEB_STATUS_LIMITED);
	g_assert_cmpuint(submit_forms(c, budget, 20, "2001:db8:1::/48"), ==, 10);
	/* Unknown. */
	g_assert_cmpint(submit_form(c, budget, EVA, ""), ==, WEB_STATUS_OK);
	c->options.now += HOUR - 1;
	g_assert_cmpint(
	    submit_form(c, budget, ADAM, "1.2.3.0/24"), ==, WEB_STATUS_LIMITED);
	c->options.now++;
	g_assert_cmpint(submit_form(c, budget, ADAM, "1.2.3.0/24"), ==, WEB_STATUS_OK);
}

TEST(a_network_from_paperboy_web_is_checked)
{
	static const struct {
		const char *network;
		bool is_valid;
	} rows[] = {{"", true}, {"192.0.2.0/24", true}, {"ffff:ffff:ffff::/48", true},
	    {"192.0.2.0/24 ", false}, {"localhost", false}, {"1\n", false},
	    {"1111111111111111111111111", false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_request) request = web_request_new(WEB_OP_HOME);
		g_autoptr(GBytes) frame = NULL;
		g_autoptr(GBytes) body = NULL;
		pb_auto(web_request) parsed = NULL;

		conversation_set(&request->network, rows[i].network);
		frame = web_request_write(request);
		body = g_bytes_new_from_bytes(frame, 4, g_bytes_get_size(frame) - 4);
		parsed = web_request_parse(body, NULL);
		g_assert_true(rows[i].is_valid == (parsed != NULL));
		if (parsed)
			g_assert_cmpstr(parsed->network, ==, rows[i].network);
	}
}

WEB_TEST(mistakes_in_the_form_mail_nothing)
{
	static const char *const rows[][3] = {{"", "", "robots"},
	    {ADAM, "Atlantis", "robots"}, {"nobody", "", "robots"},
	    {"a@b.example\nBcc: c@d.example", "", "robots"}, {ADAM, "", "AND ("}};
	int64_t mails = conversation_count_mails(c);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_reply) reply = subscribe(
		    c, "address", rows[i][0], "zone", rows[i][1], "filter", rows[i][2]);

		g_assert_false(web_flag(reply, "is_sent"));
		web_assert_has(reply, "'kind': <'error'>");
		g_assert_cmpstr(web_value(reply, "form_filter"), ==, rows[i][2]);
	}
	g_assert_cmpint(conversation_count_mails(c), ==, mails);
}

WEB_TEST(a_chosen_zone_counts_before_a_refused_one)
{
	pb_auto(web_reply) refused =
	    subscribe(c, "address", ADAM, "tz", "UTC", "zone", "Atlantis");
	pb_auto(web_reply) chosen = NULL;
	g_autofree char *token = NULL;

	web_assert_has(refused, "'field': <'zone'>");
	g_assert_cmpstr(web_value(refused, "form_zone"), ==, "Atlantis");
	chosen = subscribe(c, "address", ADAM, "tz", "Asia/Tokyo", "zone", "Atlantis");
	g_assert_true(web_flag(chosen, "is_sent"));
	token = web_get_mailed(c, URL "/c/");
	web_reply_free(web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token));
	assert_rows(c->fixture,
	    "SELECT zone FROM subscriber WHERE address = '" ADAM "'", "Asia/Tokyo");
}

WEB_TEST(a_subscriber_confirms_a_filter_and_no_command)
{
	pb_auto(web_reply) reply =
	    subscribe(c, "address", EVA, "zone", "berlin", "filter", "robots");
	g_autofree char *token = web_get_mailed(c, URL "/c/");
	pb_auto(web_reply) shown = web_ask(c, WEB_OP_CONFIRM_SHOW, token, NULL);
	pb_auto(web_reply) done = NULL;

	web_assert_has(shown, "Mail " EVA " papers about this, too?");
	web_assert_has(shown, "[{'query': <'robots'>}]");
	done = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token);
	assert_rows(c->fixture,
	    "SELECT text FROM subscription WHERE subscriber_id = 1 ORDER BY number",
	    "diffusion robots");
}

WEB_TEST(subscription_by_the_page_records_consent)
{
	pb_auto(web_reply) reply = subscribe(c, "address", ADAM, "zone", "berlin",
	    "filter", "robots OR\n\"open source\"");
	g_autofree char *token = web_get_mailed(c, URL "/c/");
	g_autofree char *state = NULL;
	pb_auto(web_reply) shown = NULL, *done = NULL, *again = NULL, *forged = NULL;

	g_assert_true(web_flag(reply, "is_sent"));
	state = store_fixture_text(c->fixture, STATE);
	shown = web_ask(c, WEB_OP_CONFIRM_SHOW, token, NULL);
	g_assert_cmpint(shown->page, ==, WEB_PAGE_CONFIRM);
	web_assert_has(shown, "Mail new research papers to " ADAM "?");
	web_assert_has(shown, "[{'query': <'robots OR \"open source\"'>}]");
	assert_rows(c->fixture, STATE, state);
	done = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token);
	assert_rows(c->fixture,
	    "SELECT s.address, s.zone, s.state, n.text FROM subscriber s JOIN "
	    "subscription n"
	    " ON n.subscriber_id = s.id WHERE s.id = 2",
	    ADAM "|Europe/Berlin|active|robots OR \"open source\"");
	assert_rows(c->fixture,
	    "SELECT consent_text GLOB 'asked by web 2026-11-20 *; text of the "
	    "confirmation"
	    " sha256:*; confirmed by web 2026-11-20 *' FROM subscriber WHERE id = 2",
	    "1");
	assert_rows(c->fixture,
	    "SELECT DISTINCT who FROM audit_log WHERE subscriber_id = 2", "web");
	web_assert_has(done, "The first digest comes as soon as a paper matches.");
	g_free(state);
	state = store_fixture_text(c->fixture, STATE);
	again = web_ask(c, WEB_OP_CONFIRM_SHOW, token, NULL);
	forged = web_ask(c, WEB_OP_CONFIRM_SHOW, FORGED, NULL);
	web_assert_has(again, "This link was used before");
	web_assert_has(forged, "This link is incomplete");
	assert_rows(c->fixture, STATE, state);
}

/* The page says what will come: as many papers as the digest then has. */
WEB_TEST(the_page_counts_the_papers_of_the_first_digest)
{
	pb_auto(web_reply) reply = subscribe(c, "address", ADAM, "filter", "diffusion");
	g_autofree char *token = web_get_mailed(c, URL "/c/");
	pb_auto(web_reply) done =
	    web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token);

	g_assert_true(web_flag(reply, "is_sent"));
	web_assert_has(
	    done, ADAM " is subscribed. The first digest, with 2 papers, is");
	store_fixture_build_digests(c->fixture, c->options.now);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM digest_item p JOIN digest d ON d.id = p.digest_id"
	    " WHERE d.subscriber_id = 2",
	    "2");
}

WEB_TEST(an_expired_link_says_so)
{
	pb_auto(web_reply) reply = subscribe(c, "address", ADAM, "filter", "diffusion");
	g_autofree char *token = web_get_mailed(c, URL "/c/");
	pb_auto(web_reply) late = NULL;

	c->options.now += 30 * (int64_t)DAY;
	late = web_ask(c, WEB_OP_CONFIRM_SHOW, token, NULL);
	g_assert_cmpint(late->status, ==, WEB_STATUS_NOT_FOUND);
	web_assert_has(late, "This link has expired: subscribe again.");
}

/* Like WEB_TEST, for tests that get a token to unsubscribe as well. */
#define LEAVE_TEST(function)                                     \
	UNIT_CALLER(function, struct conversation *, char *)     \
	{                                                        \
		pb_auto(conversation) c = web_fixture_new();     \
		g_autofree char *token = web_get_leave_token(c); \
		function(c, token);                              \
	}                                                        \
	static void function(struct conversation *c, char *token)

LEAVE_TEST(forms_need_their_token)
{
	static const enum web_op operations[] = {
	    WEB_OP_SUBSCRIBE, WEB_OP_CONFIRM, WEB_OP_LEAVE};
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	g_autofree char *other = web_get_csrf(c, WEB_OP_LEAVE_SHOW, FORGED);
	g_autofree char *own = web_get_csrf(c, WEB_OP_LEAVE_SHOW, token);

	for (size_t i = 0; i < G_N_ELEMENTS(operations); i++) {
		pb_auto(web_reply) none = web_ask(c, operations[i], token, "action",
		    "unsubscribe", "address", ADAM, NULL);
		pb_auto(web_reply) foreign = web_ask(c, operations[i], token, "csrf",
		    other, "action", "unsubscribe", "address", ADAM, NULL);

		g_assert_cmpint(none->status, ==, WEB_STATUS_FORBIDDEN);
		g_assert_cmpint(foreign->status, ==, WEB_STATUS_FORBIDDEN);
	}
	c->options.now += 2 * DAY;
	{
		pb_auto(web_reply) late = web_ask(
		    c, WEB_OP_LEAVE, token, "csrf", own, "action", "unsubscribe", NULL);

		g_assert_cmpint(late->status, ==, WEB_STATUS_FORBIDDEN);
	}
	assert_rows(c->fixture, STATE, state);
	c->options.now -= DAY;
	{
		pb_auto(web_reply) next_day = web_ask(
		    c, WEB_OP_LEAVE, token, "csrf", own, "action", "unsubscribe", NULL);

		g_assert_cmpint(next_day->status, ==, WEB_STATUS_OK);
	}
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
}

/* ---- unsubscribing ---- */

LEAVE_TEST(viewing_the_unsubscribe_page_has_no_effect)
{
	g_autofree char *state = store_fixture_text(c->fixture, STATE);

	for (int i = 0; i < 100; i++) {
		pb_auto(web_reply) reply = web_ask(c, WEB_OP_LEAVE_SHOW, token, NULL);
		pb_auto(web_reply) other = web_ask(c, WEB_OP_LEAVE_SHOW, FORGED, NULL);

		g_assert_cmpint(reply->page, ==, WEB_PAGE_LEAVE);
		web_assert_same(reply, other);
	}
	assert_rows(c->fixture, STATE, state);
}

LEAVE_TEST(one_click_unsubscribes_at_once)
{
	pb_auto(web_reply) reply = web_ask(c, WEB_OP_ONE_CLICK, token, NULL);

	g_assert_cmpint(reply->status, ==, WEB_STATUS_OK);
	g_assert_cmpint(reply->page, ==, WEB_PAGE_NONE);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
	assert_rows(c->fixture, "SELECT state FROM outbox WHERE digest_id IS NOT NULL",
	    "CANCELLED");
	assert_rows(c->fixture,
	    "SELECT kind, recipient FROM outbox ORDER BY id DESC LIMIT 1",
	    "answer|" EVA);
	assert_rows(c->fixture,
	    "SELECT who FROM audit_log WHERE what = 'subscriber removed'", "web");
	g_free(web_get_mailed(c, "undo "));
	g_free(web_get_mailed(c, URL "/c/"));
}

LEAVE_TEST(repeated_one_click_sends_one_mail_a_day)
{
	int64_t mails = conversation_count_mails(c);

	for (int i = 0; i < 5; i++) {
		pb_auto(web_reply) reply = web_ask(c, WEB_OP_ONE_CLICK, token, NULL);

		g_assert_cmpint(reply->status, ==, WEB_STATUS_OK);
	}
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 1);
	c->options.now += DAY;
	for (int i = 0; i < 5; i++)
		web_reply_free(web_ask(c, WEB_OP_ONE_CLICK, token, NULL));
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 2);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM audit_log WHERE what = 'subscriber removed'", "1");
}

/* Readers of a forwarded digest get the undo token, too. */
LEAVE_TEST(leaving_and_undoing_in_turn_sends_few_mails)
{
	int64_t mails = conversation_count_mails(c);

	for (int i = 0; i < 30; i++) {
		pb_auto(web_reply) left = leave(c, token, "unsubscribe");

		assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
		web_reply_free(
		    leave(c, token, "undo", "undo", web_value(left, "undo")));
		assert_rows(c->fixture, "SELECT state FROM subscriber", "active");
	}
	g_assert_cmpint(conversation_count_mails(c), <,
	    mails + 2 * c->options.settings->limit_replies_per_day);
}

/* Statements of a request, and the rows that it changed. */
struct work {
	GPtrArray *statements;
	int changes;
};

static int
add_statement(unsigned event, void *data, void *statement, void *text)
{
	(void)event;
	(void)statement;
	/* FTS5's own are comments; it may have their result already. */
	if (!g_str_has_prefix(text, "--"))
		g_ptr_array_add(((struct work *)data)->statements, g_strdup(text));
	return 0;
}

/* Record the work of a request; the reply is freed. */
#define get_work(c, ask)                                                         \
	({                                                                       \
		sqlite3 *db_ = (c)->fixture->store->db;                          \
		struct work work_ = {g_ptr_array_new_with_free_func(g_free),     \
		    -sqlite3_total_changes(db_)};                                \
		sqlite3_trace_v2(db_, SQLITE_TRACE_STMT, add_statement, &work_); \
		web_reply_free(ask);                                             \
		sqlite3_trace_v2(db_, 0, NULL, NULL);                            \
		work_.changes += sqlite3_total_changes(db_);                     \
		work_;                                                           \
	})

/* Assert that two requests took as many statements and writes, and free both. */
static void
assert_same_work(struct work one, struct work other)
{
	g_autoptr(GPtrArray) first = one.statements;
	g_autoptr(GPtrArray) second = other.statements;

	for (unsigned i = 0;
	     first->len != second->len && i < MAX(first->len, second->len); i++)
		g_test_message("%s | %s", i < first->len ? (char *)first->pdata[i] : "",
		    i < second->len ? (char *)second->pdata[i] : "");
	g_assert_cmpuint(first->len, >, 0);
	g_assert_cmpuint(first->len, ==, second->len);
	g_assert_cmpint(one.changes, ==, other.changes);
}

/* Nobody learns by time whether a subscriber with a number exists. */
LEAVE_TEST(forged_one_click_takes_the_same_work)
{
	g_autofree char *nobody =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_LEAVE, 999, 1);
	struct work other;

	token[strlen(token) - 1] ^= 'a' ^ 'b';
	if (c->fixture->store->postgresql)
		return;
	other = get_work(c, web_ask(c, WEB_OP_ONE_CLICK, nobody, NULL));
	assert_same_work(get_work(c, web_ask(c, WEB_OP_ONE_CLICK, token, NULL)), other);
}

/* Nobody learns by time who is subscribed, was, or may not get mail. */
WEB_TEST(the_form_takes_the_same_work_for_all_addresses)
{
	static const char *const addresses[] = {
	    EVA, "gone@example.com", "left@example.com", HOME};
	const struct erase_request suppress = {
	    .address = addresses[1], .who = "test", .key = c->fixture->key};

	if (c->fixture->store->postgresql)
		return;
	g_assert_true(erase_suppress(
	    c->fixture->store, &suppress, ERASE_OPERATOR, c->options.now, NULL));
	store_fixture_subscribe(
	    c->fixture, addresses[2], "UTC", "robots", c->options.now);
	store_fixture_run(c->fixture,
	    "UPDATE subscriber SET state = 'gone', next_due_at = NULL WHERE id = 2");
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++)
		for (unsigned j = 0; j < 2; j++) {
			g_autofree char *fresh =
			    g_strdup_printf("new%zu-%u@example.com", i, j);
			const char *name = j ? "filter" : NULL;

			g_test_message("%s, %u", addresses[i], j);
			assert_same_work(
			    get_work(c, subscribe(c, "address", fresh, name, "robots")),
			    get_work(c,
			        subscribe(c, "address", addresses[i], name, "robots")));
		}
}

LEAVE_TEST(forged_one_click_changes_nothing)
{
	static const char *const tokens[] = {"", "a", FORGED,
	    "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrstuvwxyz234567"};
	g_autofree char *state = store_fixture_text(c->fixture, STATE);

	token[3] = token[3] == 'a' ? 'b' : 'a';
	for (size_t i = 0; i <= G_N_ELEMENTS(tokens); i++) {
		pb_auto(web_reply) reply = web_ask(c, WEB_OP_ONE_CLICK,
		    i < G_N_ELEMENTS(tokens) ? tokens[i] : token, NULL);

		g_assert_cmpint(reply->status, ==, WEB_STATUS_OK);
		g_assert_cmpint(reply->page, ==, WEB_PAGE_NONE);
	}
	assert_rows(c->fixture, STATE, state);
}

LEAVE_TEST(one_click_works_with_a_retired_key_after_a_year)
{
	static const char keys[] = "fedcba9876543210fedcba9876543210" STORE_FIXTURE_KEY;
	g_autoptr(GBytes) both = g_bytes_new_static(keys, sizeof(keys) - 1);
	pb_auto(web_reply) reply = NULL;

	c->options.key = both;
	c->options.now += 400 * (int64_t)DAY;
	reply = web_ask(c, WEB_OP_ONE_CLICK, token, NULL);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
}

LEAVE_TEST(leaving_can_be_undone_on_the_page)
{
	pb_auto(web_reply) left = leave(c, token, "unsubscribe");
	pb_auto(web_reply) again = leave(c, token, "unsubscribe");
	pb_auto(web_reply) forged = leave(c, FORGED, "unsubscribe");
	pb_auto(web_reply) undone = NULL, *nothing = NULL;

	g_assert_cmpint(left->page, ==, WEB_PAGE_LEFT);
	web_assert_has(left, "You are unsubscribed");
	web_assert_has(again, "You were unsubscribed before");
	web_assert_has(forged, "This link is incomplete");
	/* Only the page that ended the subscription restores it. */
	g_assert_cmpstr(web_value(again, "undo"), ==, "");
	nothing = leave(c, token, "undo", "undo", FORGED);
	web_assert_has(nothing, "can no longer be undone");
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
	undone = leave(c, token, "undo", "undo", web_value(left, "undo"));
	web_assert_has(undone, "You are subscribed again");
	assert_rows(c->fixture,
	    "SELECT s.state, n.text FROM subscriber s JOIN subscription n ON"
	    " n.subscriber_id = s.id",
	    "active|diffusion");
}

LEAVE_TEST(a_forwarded_digest_pauses_and_reduces_only)
{
	pb_auto(web_reply) paused = NULL, *forged = NULL, *more = NULL, *less = NULL;
	pb_auto(web_reply) fewer = leave(c, token, "fewer", "max", "5");

	assert_rows(c->fixture, "SELECT max_full FROM subscriber", "5");
	more = leave(c, token, "fewer", "max", "100");
	g_assert_cmpint(more->status, ==, WEB_STATUS_OK);
	assert_rows(c->fixture, "SELECT max_full FROM subscriber", "5");
	web_reply_free(leave(c, token, "weekly"));
	assert_rows(c->fixture, "SELECT frequency FROM subscriber", "weekly");
	paused = leave(c, token, "pause", "days", "14");
	web_assert_has(paused, "Your digests pause for 14 days.");
	less = leave(c, token, "pause", "days", "7");
	web_assert_has(less, "Nothing was changed");
	forged = leave(c, FORGED, "pause", "days", "14");
	web_assert_has(forged, "This link is incomplete");
	assert_rows(c->fixture, "SELECT state, paused_until FROM subscriber",
	    "paused|2026-12-04");
	web_reply_free(leave(c, token, "pause", "days", ""));
	assert_rows(
	    c->fixture, "SELECT state, paused_until FROM subscriber", "paused|-");
	/* The subscriber learns of it. */
	assert_rows(c->fixture,
	    "SELECT kind, recipient FROM outbox ORDER BY id DESC LIMIT 1",
	    "answer|" EVA);
	web_reply_free(leave(c, token, "pause", "days", "1"));
	assert_rows(
	    c->fixture, "SELECT state, paused_until FROM subscriber", "paused|-");
}

LEAVE_TEST(a_suspended_address_is_not_restored_by_a_digest)
{
	g_autofree char *link = NULL;

	store_fixture_run(c->fixture, "UPDATE subscriber SET state = 'suspended'");
	web_reply_free(leave(c, token, "pause", "days", "14"));
	web_reply_free(leave(c, token, "fewer", "max", "1"));
	assert_rows(
	    c->fixture, "SELECT state, max_full FROM subscriber", "suspended|20");
	/* The link has arrived. */
	web_reply_free(leave(c, token, "link"));
	link = web_get_mailed(c, URL "/p/");
	web_reply_free(web_submit(c, WEB_OP_PREFERENCES, WEB_OP_PREFERENCES_SHOW, link,
	    "action", "set", "max", "7"));
	assert_rows(c->fixture, "SELECT state, max_full FROM subscriber", "active|7");
}

LEAVE_TEST(invalid_choices_are_rejected)
{
	static const char *const rows[][3] = {{"pause", "days", "0"},
	    {"pause", "days", "367"}, {"pause", "days", "1d\nunsubscribe"},
	    {"fewer", "max", "0"}, {"fewer", "max", "201"},
	    {"fewer", "max", "5 at 09:00"}, {"", "max", "5"}, {"forget", "max", "5"}};
	g_autofree char *state = store_fixture_text(c->fixture, STATE);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_reply) reply =
		    leave(c, token, rows[i][0], rows[i][1], rows[i][2]);

		g_assert_cmpint(reply->status, ==, WEB_STATUS_BAD_REQUEST);
	}
	assert_rows(c->fixture, STATE, state);
}

LEAVE_TEST(the_page_has_the_language_of_the_reader)
{
	static const char *const rows[][2] = {{"de", "de"}, {"", "en"}, {"xx", "en"}};

	store_fixture_run(c->fixture, "UPDATE subscriber SET language = 'de'");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_request) request = web_request_new(WEB_OP_LEAVE_SHOW);
		pb_auto(web_reply) reply = NULL;

		g_free(request->token);
		g_free(request->language);
		request->token = g_strdup(token);
		request->language = g_strdup(rows[i][0]);
		reply = web_ask_request(c, request);
		g_assert_cmpstr(reply->language, ==, rows[i][1]);
	}
	/* The mail has the subscriber's. */
	web_reply_free(web_ask(c, WEB_OP_ONE_CLICK, token, NULL));
	{
		g_autofree char *mail = conversation_get_mail(c);

		g_assert_nonnull(strstr(mail, "Dein Abonnement"));
	}
}

/* Submit a form on a page in a language. */
static void
submit_in(struct conversation *c, const char *language, enum web_op op,
    enum web_op show, const char *token, const char *address)
{
	pb_auto(web_request) request = web_request_new(op);

	g_free(request->token);
	g_free(request->language);
	request->token = g_strdup(token);
	request->language = g_strdup(language);
	g_hash_table_insert(
	    request->fields, g_strdup("csrf"), web_get_csrf(c, show, token));
	if (address)
		g_hash_table_insert(
		    request->fields, g_strdup("address"), g_strdup(address));
	web_reply_free(web_ask_request(c, request));
}

TEST(the_welcome_has_the_language_of_the_subscription)
{
	static const char *const rows[][4] = {
	    {"en", "de", "Welcome!", ADAM "|-"},
	    {"de", "en", "Willkommen", ADAM "|de"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(conversation) c = web_fixture_new();
		g_autofree char *token = NULL, *mail = NULL;

		submit_in(c, rows[i][0], WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", ADAM);
		token = web_get_mailed(c, URL "/c/");
		submit_in(
		    c, rows[i][1], WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token, NULL);
		mail = conversation_get_mail(c);
		g_assert_nonnull(strstr(mail, rows[i][2]));
		assert_rows(c->fixture,
		    "SELECT address, language FROM subscriber WHERE id = 2",
		    rows[i][3]);
	}
}

LEAVE_TEST(failures_of_the_store_change_nothing)
{
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	pb_auto(web_request) request = web_request_new(WEB_OP_ONE_CLICK);
	const struct web_handler handler = {
	    .store = c->fixture->store, .options = c->options};
	unsigned failures = 0;

	g_free(request->token);
	request->token = g_strdup(token);
	for (int at = 1;; at++) {
		struct handler_report report = {0};
		g_autoptr(GError) error = NULL;
		pb_auto(web_reply) reply = NULL;

		store_fixture_interrupt_at(c->fixture, at);
		reply = web_handler_run(&handler, request, &report, &error);
		store_fixture_interrupt_at(c->fixture, 0);
		store_fixture_assert_idle(c->fixture);
		if (reply)
			break;
		g_assert_nonnull(error);
		g_assert_false(report.is_queued);
		assert_rows(c->fixture, STATE, state);
		failures++;
	}
	g_assert_cmpuint(failures, >, 10);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
}

UNIT_MAIN
