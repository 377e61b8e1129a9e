/*
 * test_web_preferences.c - preferences, digests and feeds on the page.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/token.h"
#include "lib/unit.h"
#include "lib/web_fixture.h"
#include "message/subaddress.h"
#include "service/people/filters.h"
#include "service/people/sharing.h"

#define leave(c, token, ...) \
	web_submit(c, WEB_OP_LEAVE, WEB_OP_LEAVE_SHOW, token, "action", __VA_ARGS__)
#define change(c, token, ...)                                                       \
	web_submit(c, WEB_OP_PREFERENCES, WEB_OP_PREFERENCES_SHOW, token, "action", \
	    __VA_ARGS__)

/* Ask for the link by the unsubscribe page of a digest. @return its token */
static char *
get_link(struct conversation *c)
{
	g_autofree char *token = web_get_leave_token(c);

	web_reply_free(leave(c, token, "link"));
	return web_get_mailed(c, URL "/p/");
}

static struct web_reply *
show(struct conversation *c, const char *token, const char *view)
{
	return web_ask(c, WEB_OP_PREFERENCES_SHOW, token, "show", view, NULL);
}

/* ---- the link ---- */

/* Ids after a restore without the old store continue from the time. */
WEB_TEST(people_with_high_ids_get_links)
{
	g_autofree char *token = NULL;
	pb_auto(web_reply) shown = NULL;

	store_fixture_set_sequence(c->fixture, "subscriber", INT64_C(1) << 37);
	store_fixture_subscribe(
	    c->fixture, "late@example.org", "UTC", "diffusion", c->options.now);
	web_reply_free(web_submit(
	    c, WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", "address", "late@example.org"));
	token = web_get_mailed(c, URL "/p/");
	shown = show(c, token, "account");
	g_assert_cmpint(shown->status, ==, WEB_STATUS_OK);
	web_assert_has(shown, "late@example.org");
}

/* A reader of a forwarded digest can only use up the links by its token. */
WEB_TEST(links_by_address_have_their_own_limit)
{
	g_autofree char *token = web_get_leave_token(c);
	g_autofree char *link = NULL;
	pb_auto(web_reply) shown = NULL;
	int64_t mails = conversation_count_mails(c);

	for (int i = 0; i < 5; i++)
		web_reply_free(leave(c, token, "link"));
	link = web_get_mailed(c, URL "/p/");
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 3);
	for (int i = 0; i < 5; i++)
		web_reply_free(
		    web_submit(c, WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", "address", EVA));
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 6);
	/* Replies to commands by mail are not used up, and the links still work. */
	assert_rows(c->fixture,
	    "SELECT kind, count(*) FROM rate_log GROUP BY kind HAVING kind IN"
	    " ('link', 'typed', 'reply') ORDER BY kind",
	    "link|3 typed|3");
	c->options.now += DAY - 60;
	shown = web_ask(c, WEB_OP_PREFERENCES_SHOW, link, NULL);
	g_assert_cmpint(shown->status, ==, WEB_STATUS_OK);
}

WEB_TEST(link_goes_to_the_subscriber_three_times_a_day)
{
	g_autofree char *token = web_get_leave_token(c);
	int64_t mails = conversation_count_mails(c);
	pb_auto(web_reply) forged = leave(c, FORGED, "link");

	web_assert_has(forged, "This link is incomplete");
	for (int i = 0; i < 5; i++) {
		pb_auto(web_reply) reply = leave(c, token, "link");

		web_assert_has(
		    reply, i < 3 ? "A link to your preferences is on its way"
		                 : "Too many mails have gone to this address today.");
		web_assert_has_not(reply, EVA);
	}
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 3);
	assert_rows(c->fixture,
	    "SELECT kind, recipient FROM outbox ORDER BY id DESC LIMIT 1",
	    "notice|" EVA);
	c->options.now += DAY;
	web_reply_free(leave(c, token, "link"));
	g_assert_cmpint(conversation_count_mails(c), ==, mails + 4);
	assert_rows(c->fixture,
	    "SELECT DISTINCT who FROM audit_log WHERE what = 'preferences link mailed'",
	    "web");
}

static void
assert_unknown(struct conversation *c, const char *token)
{
	pb_auto(web_reply) reply = show(c, token, "");
	pb_auto(web_reply) set = web_ask(c, WEB_OP_PREFERENCES, token, "action",
	    "forget", "csrf", "aaaaaaaaaaaaaaaaa", NULL);

	g_assert_cmpint(reply->status, ==, WEB_STATUS_NOT_FOUND);
	g_assert_cmpint(set->status, ==, WEB_STATUS_NOT_FOUND);
	web_assert_has_not(reply, EVA);
}

/* Like WEB_TEST, for tests that get the token of a link to the preferences as well. */
#define LINK_TEST(function)                                        \
	UNIT_CALLER(function, struct conversation *, const char *) \
	{                                                          \
		pb_auto(conversation) c = web_fixture_new();       \
		g_autofree char *token = get_link(c);              \
		function(c, token);                                \
	}                                                          \
	static void function(struct conversation *c, const char *token)

LINK_TEST(link_works_for_24_hours)
{
	pb_auto(web_reply) reply = NULL;

	c->options.now += DAY - 60;
	reply = show(c, token, "");
	g_assert_cmpint(reply->status, ==, WEB_STATUS_OK);
	g_assert_cmpstr(web_value(reply, "subscriber"), ==, EVA);
	g_assert_cmpstr(web_value(reply, "valid_until"), ==, "Sat 21 Nov 09:00 UTC");
	c->options.now += 60;
	assert_unknown(c, token);
}

LINK_TEST(link_ends_with_address_and_subscription)
{
	g_autofree char *forged = g_strdup(token);

	forged[5] = forged[5] == 'a' ? 'b' : 'a';
	assert_unknown(c, forged);
	assert_unknown(c, FORGED);
	store_fixture_run(
	    c->fixture, "UPDATE subscriber SET moved_at = created_at + 7");
	assert_unknown(c, token);
	store_fixture_run(c->fixture, "UPDATE subscriber SET moved_at = NULL");
	web_reply_free(change(c, token, "unsubscribe"));
	assert_unknown(c, token);
}

LINK_TEST(changes_need_the_form)
{
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	g_autofree char *csrf = web_get_csrf(c, WEB_OP_HOME, "");
	pb_auto(web_reply) other = web_ask(
	    c, WEB_OP_PREFERENCES, token, "action", "unsubscribe", "csrf", csrf, NULL);
	pb_auto(web_reply) unknown = change(c, token, "destroy");

	g_assert_cmpint(other->status, ==, WEB_STATUS_FORBIDDEN);
	g_assert_cmpint(unknown->status, ==, WEB_STATUS_BAD_REQUEST);
	assert_rows(c->fixture, STATE, state);
}

/* ---- views ---- */

LINK_TEST(views_have_no_effect)
{
	static const char *const views[] = {
	    "", "filter", "blocks", "settings", "account", "other"};
	g_autofree char *state = store_fixture_text(c->fixture, STATE);

	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		pb_auto(web_reply) reply = show(c, token, views[i]);

		g_assert_cmpint(reply->status, ==, WEB_STATUS_OK);
		g_assert_cmpint(reply->page, ==, WEB_PAGE_PREFERENCES);
		g_assert_cmpstr(web_value(reply, "state"), ==, "active");
	}
	assert_rows(c->fixture, STATE, state);
}

LINK_TEST(filters_show_what_they_found)
{
	pb_auto(web_reply) all = show(c, token, "");
	pb_auto(web_reply) one = web_ask(
	    c, WEB_OP_PREFERENCES_SHOW, token, "show", "filter", "number", "1", NULL);
	pb_auto(web_reply) old = NULL;

	web_assert_has(all, "'canonical': <'diffusion'>");
	web_assert_has(all, "2 papers in 30 days");
	web_assert_has(all, "{'day': <'2026-11-19'>, 'papers': <'1'>}");
	web_assert_has_not(all, "Old diffusion");
	web_assert_has(one, "'title': <'Old diffusion'>");
	g_assert_cmpstr(web_value(one, "form_filter"), ==, "diffusion");
	/* The matches of a filter that is older than the 30 days. */
	store_fixture_run(c->fixture, "UPDATE filter SET created_at = 1");
	old = web_ask(
	    c, WEB_OP_PREFERENCES_SHOW, token, "show", "filter", "number", "1", NULL);
	web_assert_same(one, old);
}

#define MANY 20

/* Whether a list of filters ends with a number. */
static void
assert_last(const struct web_reply *reply, int number)
{
	g_autofree char *last = g_strdup_printf("'number': <'%d'>", number);
	g_autofree char *next = g_strdup_printf("'number': <'%d'>", number + 1);

	web_assert_has(reply, last);
	web_assert_has_not(reply, next);
}

LINK_TEST(many_filters_have_pages)
{
	g_autofree char *pages = g_strdup_printf(
	    "%d", (MANY + WEB_PROTO_PAGE_FILTERS - 1) / WEB_PROTO_PAGE_FILTERS);
	pb_auto(web_reply) first = NULL, *second = NULL, *beyond = NULL;

	for (int i = 2; i <= MANY; i++) {
		g_autofree char *filter = g_strdup_printf("diffusion AND word%d", i);

		store_fixture_add_filter(c->fixture, EVA, filter, c->options.now);
	}
	first = show(c, token, "");
	assert_last(first, WEB_PROTO_PAGE_FILTERS);
	g_assert_cmpstr(web_value(first, "pages"), ==, pages);
	g_assert_cmpstr(web_value(first, "previous_page"), ==, "");
	g_assert_cmpstr(web_value(first, "next_page"), ==, "2");
	second = web_ask(c, WEB_OP_PREFERENCES_SHOW, token, "page", "2", NULL);
	assert_last(second, 2 * WEB_PROTO_PAGE_FILTERS);
	web_assert_has_not(second, "'number': <'1'>");
	beyond = web_ask(c, WEB_OP_PREFERENCES_SHOW, token, "page", "99", NULL);
	g_assert_cmpstr(web_value(beyond, "page"), ==, pages);
	g_assert_cmpstr(web_value(beyond, "next_page"), ==, "");
	assert_last(beyond, MANY);
}

LINK_TEST(the_page_has_the_language_of_the_subscriber)
{
	pb_auto(web_reply) reply = NULL;

	store_fixture_run(c->fixture, "UPDATE subscriber SET language = 'de'");
	reply = show(c, token, "");
	g_assert_cmpstr(reply->language, ==, "de");
	web_assert_has(reply, "2 Artikel");
}

#define ADA "ada@example.org"

/* They say so, with the version, and not whose they are. */
LINK_TEST(shared_and_followed_filters_are_marked)
{
	const struct sharing_actor eva = {
	    c->fixture->store, EVA, "test", c->options.now, 0};
	const struct sharing_actor ada = {
	    c->fixture->store, ADA, "test", c->options.now, 0};
	g_autofree char *own = NULL, *other = NULL;
	pb_auto(subscription) before = NULL;
	pb_auto(subscription) followed = NULL;
	pb_auto(subscription) edited = NULL;
	const struct filters_change change = {
	    .address = ADA, .number = 1, .text = "robots OR drones", .who = "test"};
	pb_auto(web_reply) shared = NULL;
	pb_auto(web_reply) changed = NULL;
	pb_auto(web_reply) ended = NULL;

	store_fixture_subscribe(c->fixture, ADA, "UTC", "robots", c->options.now);
	g_assert_true(sharing_share(&eva, 1, "pictures", &own, NULL));
	g_assert_true(sharing_share(&ada, 1, "walkers", &other, NULL));
	followed = sharing_follow(&eva, "walkers", 0, &before, NULL);
	g_assert_nonnull(followed);
	shared = show(c, token, "");
	web_assert_has(shared, "'sharing': <'shared as pictures, version 1'>");
	web_assert_has(shared, "'sharing': <'follows walkers, version 1'>");
	web_assert_has_not(shared, ADA);
	edited =
	    filters_edit(c->fixture->store, &change, c->options.now, NULL, NULL, NULL);
	g_assert_nonnull(edited);
	changed = show(c, token, "");
	web_assert_has(
	    changed, "'sharing': <'follows walkers, version 1; version 2 is out'>");
	g_assert_true(
	    sharing_remove(c->fixture->store, "walkers", "test", c->options.now, NULL));
	ended = show(c, token, "");
	web_assert_has(ended, "'sharing': <''>");
	web_assert_has_not(ended, "follows");
}

/* ---- changes ---- */

#define FILTERS                                                               \
	"SELECT number, ifnull(name, ''), text, ifnull(max_papers, '') FROM " \
	"subscription"                                                        \
	" ORDER BY number"

LINK_TEST(filters_are_added_edited_moved_and_removed)
{
	int64_t mails = conversation_count_mails(c);
	pb_auto(web_reply) reply = change(c, token, "add", "filter",
	    "robots OR\n\"open source\"", "name", "my \"robots\"", "max", "5");

	web_assert_has(reply, "'kind': <'ok'>");
	g_assert_cmpstr(web_value(reply, "form_filter"), ==, "");
	assert_rows(c->fixture, FILTERS,
	    "1||diffusion| 2|my robots|robots OR \"open source\"|5");
	web_reply_free(change(c, token, "edit", "number", "2", "filter", "robots",
	    "name", "", "max", ""));
	assert_rows(c->fixture, FILTERS, "1||diffusion| 2||robots|");
	web_reply_free(change(c, token, "up", "number", "2"));
	assert_rows(c->fixture, FILTERS, "1||robots| 2||diffusion|");
	web_reply_free(change(c, token, "up", "number", "1"));
	web_reply_free(change(c, token, "down", "number", "2"));
	assert_rows(c->fixture, FILTERS, "1||robots| 2||diffusion|");
	web_reply_free(change(c, token, "down", "number", "1"));
	web_reply_free(change(c, token, "remove", "number", "2"));
	assert_rows(c->fixture, FILTERS, "1||diffusion|");
	web_reply_free(change(c, token, "block", "filter", "survey"));
	assert_rows(c->fixture,
	    "SELECT number, text, is_block FROM subscription ORDER BY number",
	    "1|diffusion|0 2|survey|1");
	web_reply_free(change(c, token, "unblock", "number", "2"));
	assert_rows(c->fixture, FILTERS, "1||diffusion|");
	g_assert_cmpint(conversation_count_mails(c), ==, mails);
	assert_rows(c->fixture,
	    "SELECT DISTINCT who FROM audit_log WHERE what LIKE 'filter %' AND who <>"
	    " 'test' AND detail NOT LIKE 'diffusion'",
	    "web");
}

LINK_TEST(mistakes_keep_the_form_and_name_the_column)
{
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	pb_auto(web_reply) reply =
	    change(c, token, "add", "filter", "robots AND (", "name", "R");

	web_assert_has(reply, "'kind': <'error'>");
	web_assert_has(reply, "'field': <'filter'>, 'line': <'robots AND ('>");
	g_assert_cmpstr(web_value(reply, "form_filter"), ==, "robots AND (");
	g_assert_cmpstr(web_value(reply, "form_name"), ==, "R");
	assert_rows(c->fixture, STATE, state);
}

LINK_TEST(one_field_is_one_command)
{
	static const char *const rows[][4] = {{"remove", "number", "1 2", NULL},
	    {"remove", "number", "1\ndel 1", NULL},
	    {"remove", "number", "1\" \"2", NULL},
	    {"pause", "until", "2026-12-01\nforget me", NULL},
	    {"set", "at", "09:00 max 200", NULL},
	    {"set", "at", "09:00\" max \"200", NULL},
	    {"set", "tz", "UTC\nunsubscribe", NULL}};
	g_autofree char *state = NULL;

	store_fixture_add_filter(c->fixture, EVA, "robots", c->options.now);
	state = store_fixture_text(c->fixture, STATE);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_reply) reply =
		    change(c, token, rows[i][0], rows[i][1], rows[i][2]);

		web_assert_has(reply, "'kind': <'error'>");
		assert_rows(c->fixture, STATE, state);
	}
}

LINK_TEST(a_test_stores_nothing)
{
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	pb_auto(web_reply) reply = change(c, token, "test", "filter", "old");

	web_assert_has(reply, "'title': <'Old diffusion'>");
	g_assert_cmpstr(web_value(reply, "form_filter"), ==, "old");
	assert_rows(c->fixture, STATE, state);
}

LINK_TEST(settings_are_changed_together)
{
	pb_auto(web_reply) reply = change(c, token, "set", "when", "weekly", "day_mon",
	    "on", "day_thu", "on", "at", "9 pm", "tz", "UTC", "zone", "berlin", "max",
	    "7", "order", "date", "abstract", "short", "format", "text", "quiet",
	    "note", "updates", "on", "crosslist", "off", "attach", "bibtex", "group",
	    "on", "feedback", "on", "checkup", "off", "versions", "all", "retractions",
	    "mail", "language", "de", "name", "Eva \"E\" M", "show", "settings");
	pb_auto(web_reply) cleared = NULL;

	web_assert_has(reply, "'kind': <'ok'>");
	assert_rows(c->fixture,
	    "SELECT frequency, weekdays, minute, zone, max_full, sorting, abstract, "
	    "format,"
	    " empty_digest, updates, crosslist, attach, grouping, feedback, checkup, "
	    "versions, retractions, language, name FROM subscriber",
	    "weekly|9|1260|Europe/"
	    "Berlin|7|date|short|text|note|on|off|bibtex|on|on|off|all|mail|de|Eva E "
	    "M");
	web_assert_has(reply, "'key': <'at'>, 'value': <'21:00'>");
	web_assert_has(reply, "{'value': <'weekly'>, 'is_selected': <true>}");
	web_assert_has(reply, "{'value': <'thu'>, 'is_selected': <true>}");
	web_assert_has(reply, "{'value': <'fri'>, 'is_selected': <false>}");
	cleared = change(c, token, "set", "when", "daily", "day_mon", "on", "name", "");
	assert_rows(c->fixture, "SELECT frequency, name FROM subscriber", "daily|-");
}

LINK_TEST(papers_are_liked_and_hidden)
{
	g_autofree char *id =
	    store_fixture_text(c->fixture, "SELECT id FROM paper ORDER BY seq LIMIT 1");
	pb_auto(web_reply) liked =
	    change(c, token, "like", "paper", id, "show", "taste");
	pb_auto(web_reply) forgotten = NULL;

	web_assert_has(liked, "'kind': <'ok'>");
	assert_rows(c->fixture, "SELECT is_like, source FROM feedback", "1|page");
	web_assert_has(liked, "{'title': <'Diffusion'>, 'is_liked': <true>}");
	forgotten = change(c, token, "taste_forget", "show", "taste");
	web_assert_has(forgotten, "'papers': <@aa{sv} []>");
	web_assert_has(forgotten, "'kind': <'ok'>");
	assert_rows(c->fixture, "SELECT count(*) FROM feedback", "0");
}

/* As they are pasted, one a line. */
LINK_TEST(pasted_papers_are_known)
{
	g_autoptr(GString) ids = g_string_new("");
	pb_auto(web_reply) known = NULL, *many = NULL, *wrong = NULL;

	for (int i = 0; i < 200; i++)
		g_string_append_printf(ids, "https://doi.org/10.5555/%d\r\n", i);
	known = change(c, token, "known", "papers", ids->str, "show", "taste");
	web_assert_has(known, "'kind': <'ok'>");
	assert_rows(c->fixture, "SELECT count(*) FROM known", "200");
	g_string_append(ids, "41792208\n");
	many = change(c, token, "known", "papers", ids->str, "show", "taste");
	web_assert_has(many, "up to 200 papers");
	wrong = change(c, token, "known", "papers", "10.5555/a\nfoo1", "show", "taste");
	web_assert_has(wrong, "foo1");
	assert_rows(c->fixture, "SELECT count(*) FROM known", "200");
}

LINK_TEST(papers_are_watched)
{
	g_autofree char *id =
	    store_fixture_text(c->fixture, "SELECT id FROM paper ORDER BY seq LIMIT 1");
	pb_auto(web_reply) watched =
	    change(c, token, "watch", "paper", id, "show", "taste");
	pb_auto(web_reply) ended = NULL;

	web_assert_has(watched, "'kind': <'ok'>");
	assert_rows(c->fixture, "SELECT paper_seq FROM watch", "1");
	web_assert_has(watched, "'watched': <[{'id': <'");
	web_assert_has(watched, "'is_ending': <false>");
	ended = change(c, token, "unwatch", "paper", id, "show", "taste");
	web_assert_has(ended, "'watched': <@aa{sv} []>");
	web_assert_has(ended, "'kind': <'ok'>");
	assert_rows(c->fixture, "SELECT count(*) FROM watch", "0");
}

LINK_TEST(papers_are_known)
{
	g_autofree char *id =
	    store_fixture_text(c->fixture, "SELECT id FROM paper ORDER BY seq LIMIT 1");
	g_autofree char *ids =
	    g_strconcat(id, "\n10.1000/182, https://arxiv.org/abs/2605.15202", NULL);
	pb_auto(web_reply) reply =
	    change(c, token, "known", "papers", ids, "show", "taste");

	web_assert_has(reply, "'kind': <'ok'>");
	assert_rows(c->fixture,
	    "SELECT name FROM known WHERE name LIKE '%:%' OR"
	    " name LIKE '2605%' ORDER BY name",
	    "2605.15202 doi:10.1000/182");
	assert_rows(c->fixture, "SELECT count(*) FROM known", "3");
	assert_rows(c->fixture, "SELECT is_like, source FROM feedback", "1|page");
}

/* Papers by which "function calling" is suggested for "agents". */
static void
add_related(struct conversation *c)
{
	static const struct store_fixture_copies papers[] = {
	    {"Agents and function calling",
	        "Agents plan steps. Function calling helps with tools.", 12},
	    {"Function calling", "Function calling helps to plan steps with tools.", 3},
	    {"Weather", "Rain and snow over the sea.", 120},
	    {"Cells", "Proteins in cells.", 120},
	};

	store_fixture_save_copies(c->fixture, papers, G_N_ELEMENTS(papers), 100);
}

#define COUNT_OPEN "SELECT count(*) FROM proposal WHERE state = 'open'"
#define OFFER                                                                         \
	"'text': <'function calling: 3 more papers in 30 days, the latest: Function " \
	"calling'>"
#define WIDER "agents OR \"function calling\""

LINK_TEST(suggestions_are_taken_undone_and_refused)
{
	pb_auto(web_reply) added = NULL;
	pb_auto(web_reply) filters = NULL;
	pb_auto(web_reply) account = NULL;
	pb_auto(web_reply) taken = NULL;
	pb_auto(web_reply) undone = NULL;
	pb_auto(web_reply) refused = NULL;
	pb_auto(web_reply) again = NULL;

	add_related(c);
	added = change(c, token, "add", "filter", "agents");
	web_assert_has(added, OFFER);
	web_assert_has(added, "edit 2 agents OR \"function calling\"");
	web_assert_has_not(added, "yes 1");
	c->options.now += 60;
	filters = show(c, token, "");
	web_assert_has_not(filters, "function calling");
	account = show(c, token, "account");
	web_assert_has(account, OFFER);

	taken = change(c, token, "yes", "proposal", "1");
	web_assert_has(taken, "'is_applied': <true>");
	web_assert_has_not(taken, "undo 1");
	assert_rows(
	    c->fixture, "SELECT text FROM subscription WHERE number = 2", WIDER);
	undone = change(c, token, "undo_answer", "proposal", "1");
	web_assert_has(undone, "'kind': <'ok'>");
	web_assert_has_not(undone, "is_applied': <true>");
	assert_rows(
	    c->fixture, "SELECT text FROM subscription WHERE number = 2", "agents");

	refused = change(c, token, "no", "proposal", "1", "show", "account");
	web_assert_has(refused, "this will not be suggested again: function calling");
	again = change(c, token, "edit", "number", "2", "filter", "agents");
	web_assert_has_not(again, "function calling");
	assert_rows(c->fixture, COUNT_OPEN, "0");
}

LINK_TEST(a_tested_filter_gets_suggestions)
{
	pb_auto(web_reply) test = NULL;
	pb_auto(web_reply) other = NULL;
	pb_auto(web_reply) taken = NULL;
	pb_auto(web_reply) wrong = NULL;

	add_related(c);
	/* The suggestion would replace a filter with another text. */
	other = change(
	    c, token, "test", "filter", "agents", "show", "filter", "number", "1");
	web_assert_has_not(other, "'is_applied'");
	test = change(c, token, "test", "filter", "agents");
	web_assert_has(test, OFFER);
	wrong = change(c, token, "undo_answer", "proposal", "x");
	g_assert_cmpint(wrong->status, ==, WEB_STATUS_BAD_REQUEST);
	taken = change(c, token, "yes", "proposal", "1");
	web_assert_has(taken, "'is_applied': <true>");
	assert_rows(
	    c->fixture, "SELECT text FROM subscription WHERE number = 2", WIDER);
}

LINK_TEST(errors_belong_to_their_fields)
{
	pb_auto(web_reply) set = change(c, token, "set", "show", "settings", "at",
	    "25:99", "max", "7", "tz", "UTC", "zone", "Mars");
	pb_auto(web_reply) max =
	    change(c, token, "add", "filter", "robots", "max", "999");
	pb_auto(web_reply) name = change(c, token, "edit", "number", "1", "filter",
	    "robots", "name", "much longer than forty bytes, which is the limit");
	pb_auto(web_reply) twice = change(c, token, "add", "filter", "diffusion");
	pb_auto(web_reply) until = change(c, token, "pause", "until", "yesterday");
	pb_auto(web_reply) address = change(c, token, "address", "address", "nobody");
	pb_auto(web_reply) same = change(c, token, "set", "max", "7", "when", "daily");

	web_assert_has(set, "'field': <'at'>");
	web_assert_has(set, "'field': <'zone'>");
	g_assert_cmpstr(web_value(set, "form_zone"), ==, "Mars");
	web_assert_has(set, "'key': <'at'>, 'value': <'25:99'>");
	web_assert_has_not(set, "'field': <'max'>");
	assert_rows(
	    c->fixture, "SELECT max_full, minute, zone FROM subscriber", "7|450|UTC");
	web_assert_has(max, "'field': <'max'>");
	web_assert_has(name, "'field': <'name'>");
	web_assert_has(twice, "'field': <'filter'>");
	web_assert_has(until, "'field': <'until'>");
	web_assert_has(address, "'field': <'address'>");
	g_assert_cmpstr(web_value(address, "form_address"), ==, "nobody");
	web_assert_has(same, "'kind': <'ok'>");
	assert_rows(c->fixture, FILTERS, "1||diffusion|");
	g_assert_cmpint(
	    store_fixture_number(c->fixture,
	        "SELECT count(*) FROM audit_log WHERE what LIKE '%changed%'"),
	    ==, 1);
}

LINK_TEST(pause_and_resume)
{
	pb_auto(web_reply) reply = change(c, token, "pause", "until", "2026-12-24");

	g_assert_cmpstr(web_value(reply, "state"), ==, "paused");
	g_assert_cmpstr(web_value(reply, "paused_until"), ==, "Thu 24 Dec 2026");
	web_reply_free(change(c, token, "resume"));
	assert_rows(c->fixture, "SELECT state FROM subscriber", "active");
	web_reply_free(change(c, token, "pause", "days", "14"));
	assert_rows(c->fixture, "SELECT paused_until FROM subscriber", "2026-12-04");
	web_reply_free(change(c, token, "resume"));
	web_reply_free(change(c, token, "pause", "days", "", "until", ""));
	assert_rows(
	    c->fixture, "SELECT state, paused_until FROM subscriber", "paused|-");
}

LINK_TEST(the_strongest_actions_are_confirmed_by_mail)
{
	static const char *const rows[][3] = {{"address", "address", "eva@new.example"},
	    {"export", "format", "text"}, {"forget", "number", ""}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(web_reply) reply =
		    change(c, token, rows[i][0], rows[i][1], rows[i][2]);
		g_autofree char *confirm = web_get_mailed(c, URL "/c/");

		web_assert_has(reply, "'kind': <'wait'>");
		assert_rows(
		    c->fixture, "SELECT state, address FROM subscriber", "active|" EVA);
		if (i == 0)
			continue;
		web_reply_free(
		    web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, confirm));
		if (i == 1) {
			g_autofree char *mail = conversation_get_mail(c);

			g_assert_nonnull(strstr(mail, "paperboy-export.txt"));
		}
	}
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
	assert_rows(c->fixture, "SELECT count(*) FROM pending_erasure", "1");
}

/* @return the token of the newest confirmation mailed to an address */
static char *
get_confirm(struct conversation *c, const char *address)
{
	g_autofree char *sql = g_strdup_printf(
	    "SELECT CAST(message AS TEXT) FROM outbox WHERE recipient"
	    " = '%s' AND kind = 'confirmation' ORDER BY id DESC LIMIT 1",
	    address);
	g_autofree char *mail = store_fixture_text(c->fixture, sql);
	const char *found = strstr(mail, URL "/c/");

	g_assert_nonnull(found);
	return g_strndup(found + strlen(URL "/c/"), TOKEN_RANDOM_LENGTH);
}

LINK_TEST(both_addresses_confirm_a_change_on_the_page)
{
	g_autofree char *old = NULL, *new = NULL;
	pb_auto(web_reply) asked = change(c, token, "address", "address", ADAM);
	pb_auto(web_reply) first = NULL, *second = NULL;

	web_assert_has_not(asked, "'kind': <'error'>");
	old = get_confirm(c, EVA);
	new = get_confirm(c, ADAM);
	first = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, new);
	assert_rows(c->fixture, "SELECT address FROM subscriber", EVA);
	second = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, old);
	assert_rows(c->fixture, "SELECT address FROM subscriber", ADAM);
	web_assert_has(first, "The other address has to confirm as well");
	web_assert_has(second, "digests go to the new one");
	assert_unknown(c, token);
}

LINK_TEST(unsubscribing_offers_undo)
{
	g_autofree char *leave_token = web_get_leave_token(c);
	pb_auto(web_reply) reply = change(c, token, "unsubscribe");

	g_assert_cmpint(reply->page, ==, WEB_PAGE_LEFT);
	assert_rows(c->fixture, "SELECT state FROM subscriber", "gone");
	web_reply_free(leave(c, leave_token, "undo", "undo", web_value(reply, "undo")));
	assert_rows(c->fixture, "SELECT state FROM subscriber", "active");
}

/* ---- digests and feeds ---- */

WEB_TEST(a_digest_in_the_browser_is_that_of_the_mail)
{
	int64_t since =
	    store_fixture_number(c->fixture, "SELECT created_at FROM digest");
	g_autofree char *token =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_VIEW, 1, since);
	g_autofree char *wrong =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_VIEW, 1, since + 1);
	g_autofree char *state = store_fixture_text(c->fixture, STATE);
	pb_auto(web_reply) reply = web_ask(c, WEB_OP_DIGEST, token, NULL);
	pb_auto(web_reply) unknown = web_ask(c, WEB_OP_DIGEST, wrong, NULL);
	const char *html = web_value(reply, "html");

	g_assert_cmpint(reply->page, ==, WEB_PAGE_DIGEST);
	g_assert_nonnull(strstr(html, "<html"));
	g_assert_nonnull(strstr(html, "Old <mark>diffusion</mark>"));
	g_assert_cmpint(unknown->status, ==, WEB_STATUS_NOT_FOUND);
	assert_rows(c->fixture, STATE, state);
}

WEB_TEST(a_digest_of_a_former_address_is_not_shown)
{
	int64_t since =
	    store_fixture_number(c->fixture, "SELECT created_at FROM digest");
	g_autofree char *token =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_VIEW, 1, since);
	pb_auto(web_reply) reply = NULL;

	store_fixture_run(c->fixture,
	    "UPDATE subscriber SET moved_at = (SELECT created_at + 1 FROM digest)");
	reply = web_ask(c, WEB_OP_DIGEST, token, NULL);
	g_assert_cmpint(reply->status, ==, WEB_STATUS_NOT_FOUND);
	g_assert_cmpstr(web_value(reply, "html"), ==, "");
}

/*
 * @param number  of a filter; NULL: the feed of all filters
 * @return the token of the feed, or NULL while feeds are off
 */
static char *
get_feed(struct conversation *c, const char *token, const char *number)
{
	pb_auto(web_reply) reply = web_ask(c, WEB_OP_PREFERENCES_SHOW, token, "show",
	    number ? "filter" : "account", "number", number ? number : "", NULL);
	g_autoptr(GVariant) feeds =
	    g_variant_lookup_value(reply->values, "feeds", G_VARIANT_TYPE("aa{sv}"));
	g_autoptr(GVariant) feed = NULL;
	const char *path = NULL;

	if (!g_variant_n_children(feeds))
		return NULL;
	feed = g_variant_get_child_value(feeds, 0);
	g_assert_true(g_variant_lookup(feed, "path", "&s", &path));
	g_assert_true(g_str_has_prefix(path, "/f/"));
	return g_strdup(path + strlen("/f/"));
}

LINK_TEST(feeds_are_private_and_revocable)
{
	g_autofree char *all = NULL, *one = NULL, *fresh = NULL;
	pb_auto(web_reply) feed = NULL, *same = NULL, *filter = NULL, *gone = NULL;

	store_fixture_add_filter(c->fixture, EVA, "robots", c->options.now);
	g_assert_null(get_feed(c, token, NULL));
	web_reply_free(change(c, token, "feed_on"));
	all = get_feed(c, token, NULL);
	one = get_feed(c, token, "2");
	feed = web_ask(c, WEB_OP_FEED, all, NULL);
	g_assert_cmpint(feed->page, ==, WEB_PAGE_FEED);
	web_assert_has(feed, "'title': <'Old diffusion'>");
	web_assert_has(feed, "'reasons': <'diffusion'>");
	web_assert_has_not(feed, EVA);
	web_assert_has_not(feed, all);
	same = web_ask(c, WEB_OP_FEED, all, "etag", web_value(feed, "etag"), NULL);
	g_assert_cmpint(same->status, ==, WEB_STATUS_NOT_MODIFIED);
	filter = web_ask(c, WEB_OP_FEED, one, NULL);
	g_assert_cmpint(filter->status, ==, WEB_STATUS_OK);
	web_assert_has_not(filter, "Old diffusion");
	/* A block applies here, too. */
	store_fixture_add_block(c->fixture, EVA, "old", c->options.now);
	store_fixture_build_digests(c->fixture, c->options.now);
	g_clear_pointer(&feed, web_reply_free);
	feed = web_ask(c, WEB_OP_FEED, all, "etag", web_value(same, "etag"), NULL);
	g_assert_cmpint(feed->status, ==, WEB_STATUS_OK);
	web_assert_has_not(feed, "Old diffusion");
	/* Turned on again, they get new tokens. */
	web_reply_free(change(c, token, "feed_on"));
	g_clear_pointer(&same, web_reply_free);
	same = web_ask(c, WEB_OP_FEED, all, NULL);
	g_assert_cmpint(same->status, ==, WEB_STATUS_NOT_FOUND);
	g_free(all);
	all = get_feed(c, token, NULL);
	g_assert_nonnull(all);
	web_reply_free(change(c, token, "feed_off"));
	gone = web_ask(c, WEB_OP_FEED, all, NULL);
	g_assert_cmpint(gone->status, ==, WEB_STATUS_NOT_FOUND);
	c->options.now += 1;
	web_reply_free(change(c, token, "feed_on"));
	fresh = get_feed(c, token, NULL);
	g_assert_cmpstr(fresh, !=, all);
	g_clear_pointer(&gone, web_reply_free);
	gone = web_ask(c, WEB_OP_FEED, one, NULL);
	g_assert_cmpint(gone->status, ==, WEB_STATUS_NOT_FOUND);
}

/* Some papers of physics have thousands of authors. */
LINK_TEST(large_feeds_fit_into_a_reply)
{
	g_autofree char *abstract = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES, 'x');
	g_autofree char *all = NULL;
	g_autoptr(GVariant) entries = NULL;
	pb_auto(web_reply) feed = NULL;

	for (int i = 0; i < 50; i++) {
		g_autofree char *id = g_strdup_printf("2611.1%04d", i);
		struct paper *paper =
		    store_fixture_paper(id, "Diffusion in detectors", abstract);

		for (int author = 0; author < 1000; author++)
			g_ptr_array_add(paper->authors, g_strdup("A. Physicist"));
		store_fixture_save(
		    c->fixture, "hf", "2026-11-20", c->options.now, paper);
	}
	store_fixture_build_digests(c->fixture, c->options.now);
	web_reply_free(change(c, token, "feed_on"));
	all = get_feed(c, token, NULL);
	feed = web_ask(c, WEB_OP_FEED, all, NULL);
	g_assert_cmpint(feed->status, ==, WEB_STATUS_OK);
	entries =
	    g_variant_lookup_value(feed->values, "entries", G_VARIANT_TYPE("aa{sv}"));
	g_assert_cmpuint(g_variant_n_children(entries), >, 20);
	g_assert_cmpuint(g_variant_n_children(entries), <, 50);
}

LINK_TEST(feeds_end_with_the_subscription)
{
	g_autofree char *leave_token = web_get_leave_token(c);
	g_autofree char *all = NULL;
	pb_auto(web_reply) gone = NULL;

	web_reply_free(change(c, token, "feed_on"));
	all = get_feed(c, token, NULL);
	web_reply_free(web_ask(c, WEB_OP_ONE_CLICK, leave_token, NULL));
	gone = web_ask(c, WEB_OP_FEED, all, NULL);
	g_assert_cmpint(gone->status, ==, WEB_STATUS_NOT_FOUND);
}

WEB_TEST(searching_is_a_setting)
{
	pb_auto(web_reply) off = web_ask(c, WEB_OP_SEARCH, "", "filter", "old", NULL);
	pb_auto(web_reply) found = NULL, *wrong = NULL;

	g_assert_cmpint(off->status, ==, WEB_STATUS_NOT_FOUND);
	c->settings->web_search = true;
	found = web_ask(c, WEB_OP_SEARCH, "", "filter", "old", NULL);
	web_assert_has(found, "'count': <'1 paper'>");
	web_assert_has(found, "'title': <'Old diffusion'>");
	wrong = web_ask(c, WEB_OP_SEARCH, "", "filter", "AND", NULL);
	web_assert_has(wrong, "'kind': <'error'>");
}

/* Anybody may test, but not use up the limit of subscribers. */
LINK_TEST(tests_of_all_users_are_limited)
{
	g_autofree char *csrf = web_get_csrf(c, WEB_OP_PREFERENCES_SHOW, token);
	pb_auto(web_budget) budget = web_budget_new(120);
	pb_auto(web_request) request = web_request_new(WEB_OP_HOME);
	pb_auto(web_request) own = web_request_new(WEB_OP_PREFERENCES);
	pb_auto(web_reply) tested = NULL;
	struct handler_report own_report;
	const struct web_handler handler = {
	    .store = c->fixture->store, .options = c->options, .budget = budget};
	static const enum web_status expected[] = {
	    WEB_STATUS_OK, WEB_STATUS_OK, WEB_STATUS_LIMITED};

	g_hash_table_insert(request->fields, g_strdup("filter"), g_strdup("diffusion"));
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		struct handler_report report;
		pb_auto(web_reply) reply =
		    web_handler_run(&handler, request, &report, NULL);

		g_assert_cmpint(reply->status, ==, expected[i]);
		g_assert_cmpstr(web_value(reply, "form_filter"), ==, "diffusion");
	}
	g_free(own->token);
	own->token = g_strdup(token);
	g_hash_table_insert(own->fields, g_strdup("csrf"), g_strdup(csrf));
	g_hash_table_insert(own->fields, g_strdup("action"), g_strdup("test"));
	g_hash_table_insert(own->fields, g_strdup("filter"), g_strdup("diffusion"));
	tested = web_handler_run(&handler, own, &own_report, NULL);
	g_assert_cmpint(tested->status, ==, WEB_STATUS_OK);
	web_assert_has(tested, "'backtest'");
}

UNIT_MAIN
