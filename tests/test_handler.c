/*
 * test_handler.c - handling a message: rate limits, suppressed replies, and what is
 * sent.
 *
 * The commands are fakes, which log how the handler calls them.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
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

static const struct step conversations[] = {
    TITLE("unknown sender is subscribed only by confirmation"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", "run " EVA " subscribe;"),
    ROWS("SELECT count(*) FROM subscriber", "0"),
    ROWS("SELECT kind, recipient, sender GLOB 'paperboy+b-*@example.org' FROM outbox",
        "confirmation|Eva@example.com|1"),
    HAS("\r\nAuto-Submitted: auto-replied\r\n"),
    HAS("\r\nIn-Reply-To: <made-up@mail.example.com>\r\n"),
    HAS("\r\nReferences: <made-up@mail.example.com>\r\n"),
    HAS("\r\nX-Loop: paperboy@example.org\r\n"),
    HAS("\r\nReply-To: paperboy+c-"),
    HAS_NOT("subscribe"),
    SAVE("confirm"),
    LATER(HOUR),
    /* With another From and text: the token is the proof. */
    MAIL("eva.private@example.net", "$confirm", "Re: ok", "replied",
        "pending " EVA " proven subscribe;"),
    ROWS("SELECT address, state, next_due_at FROM subscriber",
        "Eva@example.com|active|1795168800"),
    ROWS("SELECT kind, recipient, sender FROM outbox ORDER BY id DESC LIMIT 1",
        "answer|Eva@example.com|"),

    TITLE("three confirmations a month and a new one revokes the last"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("first"),
    LATER(DAY - 1),
    MAIL(EVA, HOME, "subscribe", "rate limited: confirmation-pending", NULL),
    LATER(1),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    MAIL(EVA, "$first", "ok", "replied", "run " EVA " confirm;"),
    LATER(DAY),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    MAIL(EVA, HOME, "subscribe", "rate limited: confirmations-per-month", NULL,
        .times = 27, .seconds = DAY),
    LATER(DAY),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),

    TITLE("unknown sender cannot find out who subscribes"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "subscribe", "replied", NULL),
    MAIL(ADAM, HOME, "subscribe", "confirmation requested", NULL),
    ROWS("SELECT count(*) FROM outbox WHERE recipient NOT IN"
         " ('Eva@example.com', 'adam@example.com')",
        "0"),

    TITLE("sender verified by our server is proven"),
    CALL(subscribe_eva),
    CALL(trust_no_server),
    MAIL(EVA, HOME, "change", "confirmation requested", "run " EVA " change;",
        .authserv = "mx.example.org"),
    CALL(trust_our_server),
    MAIL(EVA, HOME, "change", "replied", "run " EVA " proven change;",
        .authserv = "mx.example.org"),

    TITLE("export goes to its own address only"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "export", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL("thief@example.net", "$confirm", "ok", "replied", NULL),
    ROWS("SELECT DISTINCT recipient FROM outbox", EVA),
    HAS("multipart/mixed"),
    HAS("filename=\"paperboy-export.json\""),

    TITLE("data is erased after the last reply"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "forget", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL(EVA, "$confirm", "ok", "replied", NULL),
    ROWS("SELECT state FROM subscriber", "gone"),
    CALL(erasure_waits_for_the_reply),
    ROWS("SELECT count(*) FROM outbox WHERE state = 'NEW' AND kind = 'answer'", "1"),
    CALL(erasure_follows_the_reply),

    TITLE("former subscriber can have data erased"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "unsubscribe", "replied", NULL),
    MAIL(EVA, HOME, "forget", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL(EVA, "$confirm", "yes", "replied", NULL),
    CALL(erasure_follows_the_reply),

    TITLE("address that never confirmed can have data erased"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    LATER(DAY),
    MAIL(EVA, HOME, "forget", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL(EVA, "$confirm", "yes", "replied", NULL),
    CALL(erasure_follows_the_reply),

    TITLE("automatic mail has no effect"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "list", "no reply: automatic", "",
        .field = "Auto-Submitted: auto-replied"),
    MAIL(EVA, HOME, "list", "no reply: bulk", "", .field = "Precedence: bulk"),
    MAIL(EVA, HOME, "list", "no reply: list", "", .field = "List-Id: <x.example>"),
    MAIL(EVA, HOME, "list", "no reply: auto-response-suppress", "",
        .field = "X-Auto-Response-Suppress: OOF"),
    MAIL(EVA, HOME, "list", "no reply: loop", "", .field = "X-Loop: " HOME),
    MAIL(EVA, HOME, "list", "no reply: null-sender", "", .envelope = ""),
    MAIL("mailer-daemon@example.com", HOME, "help", "no reply: robot", ""),
    MAIL("cats-request@example.com", HOME, "help", "no reply: robot", ""),
    MAIL(HOME, HOME, "help", "no reply: own-mail", ""),
    CALL(receive_delivery_report),
    ROWS("SELECT count(*) FROM outbox", "0"),

    TITLE("ten replies a day"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "", "replied", NULL),
    MAIL(EVA, HOME, "list", "replied", NULL, .times = 9),
    MAIL(EVA, HOME, "list", "rate limited: replies-per-day", NULL),
    ROWS("SELECT count(*) FROM outbox", "10"),
    /* Proven requests have a limit of their own, which forgeries cannot use up. */
    SAVE("reply"),
    MAIL(EVA, "$reply", "list", "replied", NULL),
    /* Unsubscribing is not limited, and is reported. */
    MAIL(EVA, HOME, "unsubscribe", "replied", NULL),
    LATER(DAY),
    MAIL(EVA, HOME, "list", "replied", NULL),

    TITLE("unknown sender gets three replies a day"),
    MAIL(EVA, HOME, "", "replied", NULL),
    MAIL(EVA, HOME, "help", "replied", NULL, .times = 2),
    MAIL(EVA, HOME, "help", "rate limited: unknown-sender-per-day", NULL),
    /* It does not prevent subscribing. */
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),

    TITLE("replies have the null sender and confirmations a token"),
    MAIL(EVA, HOME, "help", "replied", NULL),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    ROWS("SELECT kind, sender = '' FROM outbox ORDER BY id", "answer|1 confirmation|0"),
    CALL(bounce_of_a_confirmation_deletes_it),

    TITLE("suppressed address gets no mail"),
    CALL(subscribe_eva),
    CALL(suppress_eva),
    MAIL(EVA, HOME, "subscribe", "no reply: suppressed", ""),
    MAIL(EVA, HOME, "", "no reply: suppressed", ""),
    MAIL(EVA, "$leave", "", "no reply: suppressed", ""),
    ROWS("SELECT count(*) FROM outbox", "0"),

    TITLE("mail to the owner is forwarded"),
    MAIL(EVA, "paperboy+owner@example.org", "hello\r\nBcc: x@y.example",
        "forwarded to the owner", "", .text = "A question."),
    ROWS("SELECT kind, recipient, sender FROM outbox", "notice|owner@example.org|"),
    HAS("\r\nReply-To: Eva@example.com\r\n"),
    HAS("A question."),
    HAS_NOT("\nBcc:"),
    CALL(limit_mail_to_the_owner),
    MAIL(EVA, "paperboy+owner@example.org", "hello", "rate limited: owner-mail-per-day",
        ""),
    {.kind = STEP_END},
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
	static const struct {
		const char *language; /* NULL: unknown sender */
		const char *words, *proven;
		const char *exception; /* in no other reply */
	} rows[] = {
	    {"en", "name: the limit is 10 in 24 hours.",
	        "This is the last reply for now: the limit is 10 in 24 hours.",
	        "\"unsubscribe\""},
	    {"de", "mehr als 10 gibt es in 24 Stunden nicht.",
	        "die letzte Antwort: mehr als 10", "\"unsubscribe\""},
	    {NULL, "This is the last reply for now: the limit is 3 in 24 hours.", NULL,
	        "\"subscribe\" still"},
	};
	static const struct step save[] = {SAVE("reply"), {.kind = STEP_END}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(conversation) c = conversation_new();
		bool is_known = rows[i].language != NULL;
		const struct step unsubscribe[] = {
		    MAIL(EVA, HOME, "unsubscribe",
		        is_known ? "replied" : "rate limited: unknown-sender-per-day",
		        NULL),
		    is_known ? (struct step)HAS_NOT(rows[i].exception)
		             : (struct step)HAS(rows[i].exception),
		    /* The limit on help is not announced. */
		    MAIL(EVA, HOME, "", "replied", NULL, .seconds = DAY),
		    HAS_NOT(rows[i].exception),
		    {.kind = STEP_END},
		};

		conversation_load_templates(c);
		if (is_known) {
			g_autofree char *sql = g_strdup_printf(
			    "UPDATE subscriber SET language = '%s'", rows[i].language);

			conversation_subscribe(c, EVA);
			store_fixture_run(c->fixture, sql);
		}
		write_until_limited(c, HOME, rows[i].words, rows[i].exception);
		if (is_known) {
			conversation_play(c, save);
			write_until_limited(
			    c, "$reply", rows[i].proven, rows[i].exception);
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
	conversation_add_tests(conversations);
	unit_add_all();
	return g_test_run();
}
