/*
 * test_policy.c - who may subscribe: the same decision by mail and on the page.
 */
#include "service/people/policy.h"

#include <sqlite3.h>
#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"
#include "lib/web_fixture.h"
#include "message/subaddress.h"
#include "service/inbound/handler_request.h"
#include "store/core/engine.h"

#define OWNER "owner@example.org"

#define subscribe(c, ...) web_submit(c, WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", __VA_ARGS__)

#define NEWEST                                                                        \
	"SELECT recipient, kind FROM outbox WHERE kind <> 'digest' ORDER BY id DESC " \
	"LIMIT 1"

#define PEOPLE "SELECT address, state FROM subscriber ORDER BY id"

static void
choose(struct conversation *c, enum settings_policy policy, const char *domains)
{
	c->settings->subscribe_policy = (int)policy;
	conversation_set(&c->settings->subscribe_domains, domains ? domains : "");
}

/* The address that the newest mail with a token is answered to. @return a new string */
static char *
find_reply(struct conversation *c)
{
	g_autofree char *token = web_get_mailed(c, URL "/c/");

	return g_strdup_printf("paperboy+c-%s@example.org", token);
}

static void
reply(struct conversation *c, const char *from, const char *to, const char *text,
    enum handler_outcome outcome)
{
	pb_auto(inmail) mail = conversation_new_mail(from, "Re: your mail", text);

	g_assert_cmpint(conversation_hand_in(c, mail, from, to).outcome, ==, outcome);
}

/* ---- the decision ---- */

static enum settings_policy
parse_policy(const char *name)
{
	static const char *const names[] = {
	    "open", "domains", "approval", "closed", NULL};
	int policy = 0;

	while (!g_str_equal(names[policy], name))
		policy++;
	return (enum settings_policy)policy;
}

/* Whether the newest mail refuses. */
static bool
is_refusal(struct conversation *c)
{
	g_autofree char *mail = conversation_get_mail(c);

	return strstr(mail, OWNER) && strstr(mail, "Subscriptions here are") &&
	       !strstr(mail, "/c/");
}

static const char *
finish(struct conversation *c, const char *address)
{
	g_autofree char *to = find_reply(c);

	reply(c, address, to, "yes", HANDLER_REPLIED);
	return store_fixture_number(c->fixture,
	           "SELECT count(*) FROM confirmation WHERE purpose = 'approval'")
	           ? "approval"
	           : "asked";
}

static const char *
ask_by_mail(struct conversation *c, const char *address)
{
	switch (conversation_send(c, address, HOME, "subscribe")) {
	case HANDLER_CONFIRMING:
		return finish(c, address);
	case HANDLER_REPLIED:
		return is_refusal(c) ? "refused" : "replied";
	default:
		return "invalid";
	}
}

static const char *
ask_on_page(struct conversation *c, const char *address)
{
	int64_t before = conversation_count_mails(c);
	pb_auto(web_reply) reply = subscribe(c, "address", address);
	g_autofree char *text = web_print(reply);

	if (strstr(text, "'field': <'address'>"))
		return "invalid";
	g_assert_true(web_flag(reply, "is_sent"));
	if (strstr(text, "Subscriptions here are")) {
		g_assert_nonnull(strstr(text, OWNER));
		g_assert_cmpint(conversation_count_mails(c), ==, before);
		return "refused";
	}
	g_assert_cmpint(conversation_count_mails(c), ==, before + 1);
	return finish(c, address);
}

TEST(both_doors_decide_alike)
{
	CASES_FOREACH(row, "policy", *policy, *domains, *address, *by_mail, *on_page) {
		pb_auto(conversation) one = web_fixture_new();
		pb_auto(conversation) other = web_fixture_new();

		g_test_message("%s %s %s", row->policy, row->domains, row->address);
		choose(one, parse_policy(row->policy), row->domains);
		choose(other, parse_policy(row->policy), row->domains);
		g_assert_cmpstr(ask_by_mail(one, row->address), ==, row->by_mail);
		g_assert_cmpstr(ask_on_page(other, row->address), ==, row->on_page);
	}
}

/* ---- mail ---- */

WEB_TEST(no_wording_and_no_address_gets_around_a_refusal)
{
	static const char *const texts[] = {"subscribe", "add diffusion",
	    "subscribe diffusion", "Please send me papers about diffusion models",
	    "set when weekly", "subscribe name=\"Ada\"", "yes", "confirm", "sub"};
	static const char *const targets[] = {HOME, "paperboy+subscribe@example.org",
	    "paperboy+unsubscribe@example.org", "PAPERBOY+Subscribe@example.org"};

	choose(c, SETTINGS_POLICY_DOMAINS, "example.net");
	c->settings->limit_unknown_sender_per_day = 100;
	for (size_t i = 0; i < G_N_ELEMENTS(texts) * G_N_ELEMENTS(targets); i++) {
		pb_auto(inmail) mail =
		    conversation_new_mail(ADAM, "hello", texts[i / 4]);

		g_assert_cmpint(
		    conversation_hand_in(c, mail, ADAM, targets[i % 4]).outcome, !=,
		    HANDLER_CONFIRMING);
	}
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "0");
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

/* The address in From is asked, so a forged one is of no use. */
WEB_TEST(a_forged_sender_gets_nothing)
{
	pb_auto(inmail) mail =
	    conversation_new_mail("boss@example.net", "subscribe", "");
	pb_auto(inmail) two =
	    conversation_new_mail("boss@example.net", "subscribe", "");

	choose(c, SETTINGS_POLICY_DOMAINS, "example.net");
	conversation_add_field(mail, "Reply-To: thief@example.com");
	g_assert_cmpint(
	    conversation_hand_in(c, mail, "thief@example.com", HOME).outcome, ==,
	    HANDLER_CONFIRMING);
	assert_rows(c->fixture, NEWEST, "boss@example.net|confirmation");
	conversation_add_address(two->from, "thief@example.com");
	g_assert_cmpint(conversation_hand_in(c, two, "thief@example.com", HOME).outcome,
	    ==, HANDLER_IGNORED);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM outbox WHERE recipient LIKE 'thief%'", "0");
}

WEB_TEST(subscribers_stay_whatever_the_policy_is)
{
	static const char *const commands[] = {"list", "add robots", "help"};

	choose(c, SETTINGS_POLICY_CLOSED, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		conversation_send(c, EVA, HOME, commands[i]);
		g_assert_false(is_refusal(c));
	}
	conversation_send(c, ADAM, HOME, "info");
	g_assert_true(is_refusal(c));
	/* Undo needs no invitation. */
	conversation_send(c, EVA, HOME, "unsubscribe");
	assert_rows(c->fixture, PEOPLE, EVA "|gone");
	{
		g_autofree char *token = web_get_mailed(c, URL "/c/");
		g_autofree char *line = g_strdup_printf("undo %s", token);

		conversation_send(c, EVA, HOME, line);
	}
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

WEB_TEST(an_address_moves_only_to_an_allowed_domain)
{
	choose(c, SETTINGS_POLICY_DOMAINS, "example.com .example.net");
	conversation_send(c, EVA, HOME, "address eva@example.org");
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "0");
	conversation_send(c, EVA, HOME, "address eva@cs.example.net");
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "2");
}

WEB_TEST(a_request_that_waits_is_decided_again)
{
	g_autofree char *to = NULL;

	g_assert_cmpint(
	    conversation_send(c, ADAM, HOME, "subscribe"), ==, HANDLER_CONFIRMING);
	to = find_reply(c);
	choose(c, SETTINGS_POLICY_CLOSED, NULL);
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	g_assert_true(is_refusal(c));
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

/* ---- approval ---- */

static bool
invite_work(struct store *store, void *data, GError **error)
{
	struct conversation *c = data;
	struct handler_report report = {0};
	struct request request;
	const char *reason;

	handler_request_init(&request, store, &c->options, "", "operator", &report);
	return handler_invite(&request, ADAM, &reason, error);
}

static void
invite(struct conversation *c)
{
	GError *error = NULL;

	store_transact(c->fixture->store, invite_work, c, &error);
	g_assert_no_error(error);
}

/* Check that the newest mail shows nothing of what the owner wrote. */
static void
assert_hidden(struct conversation *c)
{
	g_autofree char *mail = conversation_get_mail(c);

	g_assert_null(strstr(mail, "doubt"));
	g_assert_null(strstr(mail, "sorry"));
	g_assert_null(strstr(mail, "max 3"));
	g_assert_null(strstr(mail, "your mail"));
}

/* Ask as somebody who confirms. @return where the owner's answer goes */
static char *
ask_owner(struct conversation *c, const char *text)
{
	g_autofree char *to = NULL;

	conversation_send(c, ADAM, HOME, text);
	to = find_reply(c);
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	store_fixture_run(c->fixture, "DELETE FROM outbox WHERE kind = 'answer'");
	return find_reply(c);
}

/* Subscribed in another way, which the owner's answer does not change. */
WEB_TEST(who_is_subscribed_needs_no_approval)
{
	g_autofree char *owner = NULL, *invited = NULL;

	choose(c, SETTINGS_POLICY_APPROVAL, NULL);
	owner = ask_owner(c, "subscribe");
	invite(c);
	invited = find_reply(c);
	reply(c, ADAM, invited, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|active");
	reply(c, OWNER, owner, "no", HANDLER_IGNORED);
	assert_rows(c->fixture, NEWEST, ADAM "|answer");
	conversation_send(c, ADAM, HOME, "unsubscribe");
	reply(c, OWNER, owner, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|gone");
}

WEB_TEST(who_leaves_is_not_approved)
{
	g_autofree char *owner = NULL;

	choose(c, SETTINGS_POLICY_APPROVAL, NULL);
	owner = ask_owner(c, "subscribe robots");
	conversation_send(c, ADAM, HOME, "unsubscribe");
	reply(c, OWNER, owner, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

WEB_TEST(the_owner_agrees)
{
	g_autofree char *to = NULL, *owner = NULL;

	choose(c, SETTINGS_POLICY_APPROVAL, NULL);
	g_assert_cmpint(conversation_send(c, ADAM, HOME, "subscribe robots"), ==,
	    HANDLER_CONFIRMING);
	to = find_reply(c);
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture,
	    "SELECT recipient, kind FROM outbox WHERE kind <> 'digest' ORDER BY id",
	    ADAM "|confirmation " OWNER "|confirmation " ADAM "|answer");
	assert_rows(c->fixture, PEOPLE, EVA "|active");
	store_fixture_run(c->fixture, "DELETE FROM outbox WHERE kind = 'answer'");
	{
		g_autofree char *mail = conversation_get_mail(c);

		g_assert_nonnull(strstr(mail, ADAM));
		g_assert_nonnull(strstr(mail, "robots"));
	}
	/* Another request waits with the first. */
	owner = ask_owner(c, "subscribe drones");
	/* Automatic and unclear answers decide nothing. */
	reply(c, OWNER, owner, "Who is that?", HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active");
	reply(c, OWNER, owner, "Yes, although I doubt it.\n\nset max 3\n",
	    HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|active");
	assert_rows(c->fixture, NEWEST, ADAM "|answer");
	assert_hidden(c);
	assert_rows(c->fixture,
	    "SELECT consent_text GLOB 'asked by mail *; confirmed, and approved by "
	    "mail *'"
	    " FROM subscriber WHERE id = 2",
	    "1");
	assert_rows(c->fixture, "SELECT text FROM subscription WHERE subscriber_id = 2",
	    "robots drones");
}

WEB_TEST(the_owner_declines)
{
	g_autofree char *to = NULL, *owner = NULL, *mail = NULL;

	choose(c, SETTINGS_POLICY_APPROVAL, NULL);
	owner = ask_owner(c, "subscribe");
	/* Once: the same request waits for the same answer. */
	conversation_send(c, ADAM, HOME, "subscribe");
	to = find_reply(c);
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM outbox WHERE recipient = '" OWNER "'", "1");
	reply(c, OWNER, owner, "No, sorry.", HANDLER_REPLIED);
	assert_rows(c->fixture, NEWEST, ADAM "|answer");
	mail = conversation_get_mail(c);
	g_assert_nonnull(strstr(mail, "has declined"));
	assert_hidden(c);
	reply(c, OWNER, owner, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

WEB_TEST(the_owner_agrees_on_the_page)
{
	g_autofree char *token = NULL, *csrf = NULL;
	pb_auto(web_reply) shown = NULL, *done = NULL;

	choose(c, SETTINGS_POLICY_APPROVAL, NULL);
	conversation_send(c, ADAM, HOME, "subscribe");
	token = web_get_mailed(c, URL "/c/");
	done = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token);
	web_assert_has(done, "A person decides");
	store_fixture_run(
	    c->fixture, "DELETE FROM outbox WHERE recipient <> '" OWNER "'");
	g_free(token);
	token = web_get_mailed(c, URL "/c/");
	shown = web_ask(c, WEB_OP_CONFIRM_SHOW, token, NULL);
	web_assert_has(shown, "May " ADAM " subscribe?");
	web_reply_free(done);
	done = web_submit(c, WEB_OP_CONFIRM, WEB_OP_CONFIRM_SHOW, token);
	/* The page gives the owner no access to the preferences. */
	web_assert_has_not(done, "/p/");
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|active");
}

/* ---- invitations ---- */

WEB_TEST(an_invitation_opens_a_closed_service)
{
	g_autofree char *to = NULL;

	choose(c, SETTINGS_POLICY_CLOSED, NULL);
	invite(c);
	assert_rows(c->fixture, NEWEST, ADAM "|confirmation");
	to = find_reply(c);
	reply(c, ADAM, to, "Yes, papers on robots", HANDLER_CONFIRMING);
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|active");
	assert_rows(c->fixture,
	    "SELECT consent_text GLOB 'invited by operator; confirmed by mail *'"
	    " FROM subscriber WHERE id = 2",
	    "1");
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture, "SELECT count(*) FROM subscriber", "2");
}

WEB_TEST(whoever_is_invited_can_also_ask)
{
	choose(c, SETTINGS_POLICY_CLOSED, NULL);
	invite(c);
	g_assert_cmpint(conversation_send(c, "adam+x@example.com", HOME, "subscribe"),
	    ==, HANDLER_REPLIED);
	g_assert_cmpint(
	    conversation_send(c, ADAM, HOME, "subscribe"), ==, HANDLER_CONFIRMING);
	g_assert_cmpstr(finish(c, ADAM), ==, "asked");
	assert_rows(c->fixture, PEOPLE, EVA "|active " ADAM "|active");
}

WEB_TEST(an_invitation_ends)
{
	g_autofree char *first = NULL, *second = NULL;

	choose(c, SETTINGS_POLICY_CLOSED, NULL);
	invite(c);
	first = find_reply(c);
	invite(c);
	second = find_reply(c);
	reply(c, ADAM, first, "yes", HANDLER_REPLIED);
	c->options.now += HANDLER_OTHERS_S;
	reply(c, ADAM, second, "yes", HANDLER_REPLIED);
	conversation_send(c, ADAM, HOME, "subscribe");
	g_assert_true(is_refusal(c));
	assert_rows(c->fixture, PEOPLE, EVA "|active");
}

/* The answer does not depend on the address. */
WEB_TEST(a_subscriber_invites)
{
	static const char *const wanted[] = {
	    ADAM, EVA, HOME, "left@example.com", "gone@example.org"};
	g_autofree char *to = NULL, *first = NULL, *last = NULL;

	choose(c, SETTINGS_POLICY_DOMAINS, "example.com");
	conversation_send(c, EVA, HOME, "invite " ADAM);
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "0");
	c->settings->subscribe_invite = true;
	store_fixture_subscribe(
	    c->fixture, "left@example.com", "UTC", "robots", c->options.now);
	store_fixture_run(c->fixture,
	    "UPDATE subscriber SET state = 'gone', next_due_at = NULL WHERE id = 2");
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
		g_autofree char *line = g_strdup_printf("invite %s", wanted[i]);
		g_autofree char *answer = NULL;
		char *body;

		c->options.now += DAY;
		conversation_send(c, EVA, HOME, line);
		to = find_reply(c);
		reply(c, EVA, to, "yes", HANDLER_REPLIED);
		g_clear_pointer(&to, g_free);
		store_fixture_run(
		    c->fixture, "DELETE FROM outbox WHERE kind = 'confirmation'");
		answer = conversation_get_mail(c);
		body = strstr(answer, "ok     each address");
		g_assert_nonnull(body);
		if (!first)
			first = g_strndup(body, 200);
		g_assert_true(g_str_has_prefix(body, first));
	}
	assert_rows(c->fixture,
	    "SELECT address, details FROM confirmation WHERE purpose = 'invitation'",
	    ADAM "|invited by a subscriber");
	/* A wrong address is reported, and the others are invited. */
	c->options.now += DAY;
	conversation_send(c, EVA, HOME, "invite nonsense carl@example.com");
	to = find_reply(c);
	reply(c, EVA, to, "yes", HANDLER_REPLIED);
	store_fixture_run(c->fixture, "DELETE FROM outbox WHERE kind = 'confirmation'");
	last = conversation_get_mail(c);
	g_assert_nonnull(strstr(last, "and get no mail: nonsense"));
	assert_rows(c->fixture,
	    "SELECT address FROM confirmation WHERE purpose = 'invitation' AND id > 1"
	    " AND address GLOB 'carl*'",
	    "carl@example.com");
}

WEB_TEST(invitations_are_limited)
{
	g_autoptr(GString) line = g_string_new("invite");
	g_autofree char *to = NULL;

	c->settings->subscribe_invite = true;
	for (unsigned i = 0; i < 12; i++)
		g_string_append_printf(line, " p%u@d%u.example.com", i, i);
	conversation_send(c, EVA, HOME, line->str);
	to = find_reply(c);
	reply(c, EVA, to, "yes", HANDLER_REPLIED);
	assert_rows(c->fixture,
	    "SELECT count(*) FROM confirmation WHERE purpose = 'invitation'", "10");
	/* One address gets one within a day, however many invite it. */
	g_assert_cmpint(conversation_send(c, "p0@d0.example.com", HOME, "subscribe"),
	    ==, HANDLER_LIMITED);
}

/* ---- limits ---- */

WEB_TEST(subscribe_max_holds_for_all_doors)
{
	enum policy_verdict verdict;
	g_autofree char *to = NULL;
	pb_auto(web_reply) reply_of_page = NULL;

	invite(c);
	to = find_reply(c);
	c->settings->subscribe_max = 1;
	reply(c, ADAM, to, "yes", HANDLER_REPLIED);
	conversation_send(c, "new@example.net", HOME, "subscribe");
	assert_rows(c->fixture, PEOPLE, EVA "|active");
	reply_of_page = subscribe(c, "address", "other@example.net");
	web_assert_has(reply_of_page, "No more people");
	g_assert_true(policy_decide(
	    c->fixture->store, c->settings, ADAM, POLICY_OPERATOR, &verdict, NULL));
	g_assert_cmpint(verdict, ==, POLICY_FULL);
	store_fixture_run(
	    c->fixture, "UPDATE subscriber SET state = 'gone', next_due_at = NULL");
	g_assert_true(policy_decide(
	    c->fixture->store, c->settings, ADAM, POLICY_OPERATOR, &verdict, NULL));
	g_assert_cmpint(verdict, ==, POLICY_ALLOWED);
}

WEB_TEST(requests_that_wait_are_limited)
{
	pb_auto(web_reply) reply = NULL;

	c->settings->subscribe_pending = 1;
	g_assert_cmpint(
	    conversation_send(c, ADAM, HOME, "subscribe"), ==, HANDLER_CONFIRMING);
	g_assert_cmpint(conversation_send(c, "new@example.net", HOME, "subscribe"), ==,
	    HANDLER_LIMITED);
	reply = subscribe(c, "address", "new@example.net");
	g_assert_cmpint(reply->status, ==, WEB_STATUS_LIMITED);
	c->options.now += 4 * (int64_t)DAY;
	g_assert_cmpint(conversation_send(c, "new@example.net", HOME, "subscribe"), ==,
	    HANDLER_CONFIRMING);
}

WEB_TEST(filters_are_limited)
{
	g_autofree char *to = NULL, *mail = NULL;

	c->settings->subscribe_filters = 2;
	conversation_send(c, EVA, HOME, "list");
	to = conversation_format_leave(c, c->fixture->key, 1);
	{
		pb_auto(inmail) lines =
		    conversation_new_mail(EVA, "changes", "add robots\nblock survey\n");

		conversation_hand_in(c, lines, EVA, HOME);
	}
	mail = conversation_get_mail(c);
	g_assert_nonnull(strstr(mail, "limit of 2 filters reached"));
}

/* ---- nobody learns who is subscribed ---- */

struct work {
	unsigned statements;
	int changes;
};

static int
count_statement(unsigned event, void *data, void *statement, void *text)
{
	(void)event;
	(void)statement;
	/* Triggers are comments. */
	((struct work *)data)->statements += strncmp(text, "--", 2) != 0;
	return 0;
}

WEB_TEST(the_page_says_and_does_the_same_for_all_addresses)
{
	static const enum settings_policy policies[] = {
	    SETTINGS_POLICY_DOMAINS, SETTINGS_POLICY_APPROVAL, SETTINGS_POLICY_CLOSED};
	static const char *const addresses[] = {
	    "fresh@example.com", EVA, "invited@example.com", "Eva@EXAMPLE.com"};
	sqlite3 *db = c->fixture->store->postgresql ? NULL : c->fixture->store->db;

	for (size_t i = 0; i < G_N_ELEMENTS(policies); i++) {
		g_autofree char *first = NULL;
		struct work before = {0};

		choose(c, policies[i], "example.net");
		invite(c);
		store_fixture_run(c->fixture,
		    "UPDATE confirmation SET address = 'invited@example.com',"
		    " address_key = 'invited@example.com'"
		    " WHERE purpose = 'invitation'");
		for (size_t j = 0; j < G_N_ELEMENTS(addresses); j++) {
			struct work work = {0};
			g_autofree char *text = NULL;

			if (db)
				sqlite3_trace_v2(
				    db, SQLITE_TRACE_STMT, count_statement, &work);
			work.changes = db ? -sqlite3_total_changes(db) : 0;
			{
				pb_auto(web_reply) reply =
				    subscribe(c, "address", addresses[j]);

				text = web_print(reply);
			}
			work.changes += db ? sqlite3_total_changes(db) : 0;
			if (db)
				sqlite3_trace_v2(db, 0, NULL, NULL);
			if (!first) {
				first = g_steal_pointer(&text);
				before = work;
				continue;
			}
			g_test_message("%d %s", (int)policies[i], addresses[j]);
			g_assert_cmpstr(text, ==, first);
			g_assert_cmpuint(work.statements, ==, before.statements);
			g_assert_cmpint(work.changes, ==, before.changes);
		}
		store_fixture_run(
		    c->fixture, "DELETE FROM rate_log; DELETE FROM confirmation");
	}
	assert_rows(c->fixture,
	    "SELECT count(*) > 0 FROM outbox WHERE recipient = '" EVA
	    "' AND kind <> 'digest'",
	    "1");
}

UNIT_MAIN
