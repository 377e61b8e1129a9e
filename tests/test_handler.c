/*
 * test_handler.c - handling a message: rate limits, suppressed replies, and what is
 * sent.
 *
 * The commands are fakes, which log how the handler calls them.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/people/erase.h"
#include "store/mail/rate_log.h"

#define COUNTS                                                                 \
	"SELECT (SELECT count(*) FROM subscriber), (SELECT count(*) FROM"      \
	" confirmation), (SELECT count(*) FROM outbox), (SELECT count(*) FROM" \
	" pending_erasure)"

static void
subscribe_eva(struct conversation *c)
{
	conversation_subscribe(c, EVA);
}

static void
trust_our_server(struct conversation *c)
{
	conversation_set(&c->settings->commands_authserv_id, "mx.example.org");
}

static void
trust_no_server(struct conversation *c)
{
	conversation_set(&c->settings->commands_authserv_id, "");
}

static void
finish_erasure(struct conversation *c, unsigned wanted)
{
	unsigned count = 0;
	GError *error = NULL;

	g_assert_true(erase_finish(
	    c->fixture->store, c->fixture->key, c->options.now, &count, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(count, ==, wanted);
}

static void
erasure_waits_for_the_reply(struct conversation *c)
{
	finish_erasure(c, 0);
}

static void
erasure_follows_the_reply(struct conversation *c)
{
	store_fixture_run(c->fixture,
	    "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
	    " next_try_at = NULL, message = NULL");
	finish_erasure(c, 1);
	assert_rows(c->fixture, COUNTS, "0|0|0|0");
}

static void
suppress_eva(struct conversation *c)
{
	const struct erase_request request = {
	    .address = EVA, .who = "test", .key = c->fixture->key};

	g_hash_table_insert(c->saved, g_strdup("leave"),
	    conversation_format_leave(c, c->fixture->key, 1));
	g_assert_true(erase_suppress(
	    c->fixture->store, &request, ERASE_OPERATOR, c->options.now, NULL));
}

static void
receive_delivery_report(struct conversation *c)
{
	pb_auto(inmail) mail = conversation_new_mail(EVA, "list", "");

	mail->report = INMAIL_REPORT_DELIVERY;
	conversation_hand_in(c, mail, EVA, HOME);
	conversation_assert_calls("");
}

static void
bounce_of_a_confirmation_deletes_it(struct conversation *c)
{
	g_autofree char *sender = conversation_find_sender(c, 2);
	pb_auto(inmail) back =
	    conversation_new_mail("mailer-daemon@example.com", "failed", "");
	struct handler_report report = conversation_hand_in(c, back, "", sender);

	g_assert_cmpint(report.outcome, ==, HANDLER_BOUNCED);
	g_assert_cmpstr(report.reason, ==, "none");
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "1");
	back->report = INMAIL_REPORT_DELIVERY;
	inmail_add_group(back);
	g_ptr_array_add(inmail_add_group(back), inmail_field_new("Action", "failed"));
	conversation_hand_in(c, back, "", sender);
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "0");
	g_assert_cmpint(conversation_count_mails(c), ==, 2);
}

static void
limit_mail_to_the_owner(struct conversation *c)
{
	c->settings->limit_owner_mail_per_day = 1;
}

static const struct conversation_call calls[] = {
    {"subscribe_eva", subscribe_eva},
    {"trust_no_server", trust_no_server},
    {"trust_our_server", trust_our_server},
    {"erasure_waits_for_the_reply", erasure_waits_for_the_reply},
    {"erasure_follows_the_reply", erasure_follows_the_reply},
    {"receive_delivery_report", receive_delivery_report},
    {"bounce_of_a_confirmation_deletes_it", bounce_of_a_confirmation_deletes_it},
    {"suppress_eva", suppress_eva},
    {"limit_mail_to_the_owner", limit_mail_to_the_owner},
    {NULL, NULL},
};

#define CONVERSATION_TEST(function) \
	TEST_WITH(function, conversation, c, conversation_new())

CONVERSATION_TEST(thousand_requests_send_one_confirmation)
{
	for (int i = 0; i < 1000; i++) {
		g_autofree char *from =
		    i % 2 ? g_strdup_printf("e.va+%d@example.com", i) : g_strdup(EVA);

		c->options.now += 60;
		g_assert_cmpint(
		    conversation_send(c, from,
		        i % 3 ? HOME : "paperboy+subscribe@example.org", "subscribe"),
		    ==, i ? HANDLER_LIMITED : HANDLER_CONFIRMING);
	}
	g_assert_cmpint(conversation_count_mails(c), ==, 1);
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "1");
}

/* @return the number of confirmations sent to BEFORE<number>AFTER */
static unsigned
request_from(struct conversation *c, const char *before, const char *after,
    unsigned first, unsigned count, const char *server)
{
	unsigned sent = 0;

	for (unsigned i = first; i < first + count; i++) {
		g_autofree char *from = g_strdup_printf("%s%u%s", before, i, after);
		pb_auto(inmail) mail = conversation_new_mail(from, "subscribe", "");

		if (server)
			conversation_add_pass(mail, server);
		sent += conversation_hand_in(c, mail, from, HOME).outcome ==
		        HANDLER_CONFIRMING;
	}
	return sent;
}

CONVERSATION_TEST(confirmations_are_limited_per_domain_and_overall)
{
	unsigned per_domain =
	    (unsigned)c->settings->limit_confirmations_per_domain_hour;
	unsigned overall = (unsigned)c->settings->limit_confirmations_per_hour;

	g_assert_cmpuint(
	    request_from(c, "p", "@example.com", 0, 100, NULL), ==, per_domain);
	g_assert_cmpuint(request_from(c, "p@d", ".example.com", 0, 100, NULL), ==,
	    overall - per_domain);
	c->options.now += HOUR;
	g_assert_cmpint(
	    conversation_send(c, EVA, HOME, "subscribe"), ==, HANDLER_CONFIRMING);
}

CONVERSATION_TEST(verified_senders_have_limits_of_their_own)
{
	static const char trusted[] = "mx.example.org";
	struct rate_log_dropped dropped;
	unsigned sent;

	trust_our_server(c);
	sent = request_from(c, "p@d", ".example.com", 0, 35, NULL);
	sent += request_from(c, "p@d", ".example.com", 35, 35, "mx.forger.example");
	g_assert_cmpuint(sent, ==, 60);
	g_assert_true(rate_log_load_dropped(c->fixture->store, &dropped, NULL));
	g_assert_cmpint(dropped.total, ==, 10);
	g_assert_cmpint(dropped.lately, ==, 10);
	g_assert_cmpint(dropped.last_at, ==, c->options.now);
	sent = request_from(c, "p@d", ".example.com", 100, 70, trusted);
	g_assert_cmpuint(sent, ==, 60);
	/* Within one domain, too. */
	c->options.now += HOUR;
	sent = request_from(c, "p", "@example.com", 0, 40, NULL);
	g_assert_cmpuint(sent, ==, 30);
	g_assert_cmpuint(request_from(c, "q", "@example.com", 0, 1, trusted), ==, 1);
}

/* Only the last reply announces the limit. */
static void
write_until_limited(struct conversation *c, const char *recipient, const char *words,
    const char *exception)
{
	bool was_said = false;

	for (int i = 0; i < 11; i++) {
		g_autofree char *mail = NULL;
		enum handler_outcome outcome =
		    conversation_send(c, EVA, recipient, "list");

		g_assert_cmpint(
		    outcome, ==, was_said ? HANDLER_LIMITED : HANDLER_REPLIED);
		if (was_said)
			return;
		mail = conversation_get_mail(c);
		was_said = strstr(mail, words) != NULL;
		g_assert_true(was_said == (strstr(mail, exception) != NULL));
	}
	g_assert_not_reached();
}

TEST(last_reply_of_a_day_announces_the_limit)
{
	static const struct step save[] = {SAVE("reply"), {.kind = STEP_END}};

	CASES_FOREACH(
	    row, "handler_last_replies", *language, *words, *proven, *exception) {
		pb_auto(conversation) c = conversation_new();
		bool is_known = row->language != NULL;
		const struct step unsubscribe[] = {
		    MAIL(EVA, HOME, "unsubscribe",
		        is_known ? "replied" : "rate limited: unknown-sender-per-day",
		        NULL),
		    is_known ? (struct step)HAS_NOT(row->exception)
		             : (struct step)HAS(row->exception),
		    /* The limit on help is not announced. */
		    MAIL(EVA, HOME, "", "replied", NULL, .seconds = DAY),
		    HAS_NOT(row->exception),
		    {.kind = STEP_END},
		};

		conversation_load_templates(c);
		if (is_known) {
			g_autofree char *sql = g_strdup_printf(
			    "UPDATE subscriber SET language = '%s'", row->language);

			conversation_subscribe(c, EVA);
			store_fixture_run(c->fixture, sql);
		}
		write_until_limited(c, HOME, row->words, row->exception);
		if (is_known) {
			conversation_play(c, save);
			write_until_limited(c, "$reply", row->proven, row->exception);
		}
		conversation_play(c, unsubscribe);
	}
}

CONVERSATION_TEST(header_injection_is_impossible)
{
	static const struct step wanted[] = {HAS_NOT("\nBcc:"),
	    HAS_NOT("\r\nIn-Reply-To:"),
	    HAS("\r\nSubject: Re: list Bcc: victim@example.net X:\r\n"),
	    {.kind = STEP_END}};
	pb_auto(inmail) mail = conversation_new_mail(
	    EVA, "list\r\nBcc: victim@example.net\nX: \xe2\x80\xae", "");

	conversation_subscribe(c, EVA);
	conversation_set(&mail->message_id, "a@b>\r\nBcc: victim@example.net");
	g_ptr_array_add(mail->references, g_strdup("x\r\nBcc: victim@example.net"));
	conversation_hand_in(c, mail, EVA, HOME);
	conversation_play(c, wanted);
}

static bool
handle(struct store *store, void *data, GError **error)
{
	struct conversation *c = data;
	pb_auto(inmail) mail = conversation_new_mail(EVA, "subscribe", "");
	const struct receive_mail envelope = {
	    .id = 1, .sender = EVA, .recipient = HOME};
	struct handler_report report;

	return handler_run(store, &c->options, mail, &envelope, &report, error);
}

static bool
call_handler(struct store_fixture *fixture, void *data, GError **error)
{
	return store_transact(fixture->store, handle, data, error);
}

CONVERSATION_TEST(failing_store_leaves_no_partial_effect)
{
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(c->fixture, call_handler, c, true), >, 5);
	g_assert_cmpint(conversation_count_mails(c), ==, 1);
	assert_rows(c->fixture, "SELECT count(*) FROM confirmation", "1");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	conversation_calls = g_string_new(NULL);
	conversation_add_script("handler", calls);
	unit_add_all();
	return g_test_run();
}
