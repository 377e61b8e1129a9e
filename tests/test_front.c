/*
 * test_front.c - from a letter to its one answer: limits, silence, what is sent.
 *
 * The commands are made up here, so that what the front itself lets through shows.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "lib/desk.h"
#include "lib/fakecommands.h"
#include "service/forget.h"
#include "service/subscribe.h"
#include "store/allowance.h"
#include "store/people.h"

#define DAY  86400
#define HOUR 3600
#define EVA  "Eva@example.com"

static void
subscribe(struct desk *desk, const char *address)
{
	lab_subscribe(desk->lab, address, "UTC", NULL, desk->options.now - DAY);
	g_string_truncate(fakecommands_done, 0);
}

static void
row_4_5_a_stranger_is_nobody_until_the_confirmation(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	desk_init(&desk);
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
	lab_assert_text(desk.lab, "SELECT count(*) FROM subscriber", "0");
	lab_assert_text(desk.lab,
	    "SELECT kind, recipient, sender GLOB 'paperboy+b-*@example.org' FROM "
	    "outbox",
	    "confirmation|Eva@example.com|1");
	mail = desk_get_mail(&desk);
	g_assert_nonnull(strstr(mail, "\r\nAuto-Submitted: auto-replied\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nIn-Reply-To: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nReferences: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(strstr(mail, "\r\nX-Loop: paperboy@example.org\r\n"));
	g_assert_null(strstr(mail, "subscribe"));
	reply_to = desk_find_reply_to(&desk);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+c-"));
	fakecommands_assert("run Eva@example.com subscribe;");

	/* Capitals, another From, any words: the token is the proof. */
	desk.options.now += HOUR;
	g_free(mail);
	mail = g_ascii_strup(reply_to, -1);
	g_assert_cmpint(desk_write_to(&desk, "eva.private@example.net", mail, "Re: ok"),
	    ==, FRONT_ANSWERED);
	fakecommands_assert("pending Eva@example.com proven subscribe;");
	lab_assert_text(desk.lab, "SELECT address, state, next_due_at FROM subscriber",
	    "Eva@example.com|active|1795168800");
	lab_assert_text(desk.lab,
	    "SELECT kind, recipient, sender FROM outbox ORDER BY id DESC LIMIT 1",
	    "answer|Eva@example.com|");
}

static void
row_4_6_a_thousand_requests_are_one_confirmation(void)
{
	desk_auto desk;

	desk_init(&desk);
	for (int i = 0; i < 1000; i++) {
		g_autofree char *from = i % 2
		                            ? g_strdup_printf("e.va+%d@example.com", i)
		                            : g_strdup("Eva@example.com");

		desk.options.now += 60;
		g_assert_cmpint(
		    desk_write_to(&desk, from,
		        i % 3 ? DESK_HOME : "paperboy+subscribe@example.org",
		        "subscribe"),
		    ==, i ? FRONT_LIMITED : FRONT_ASKED);
	}
	g_assert_cmpint(desk_count_mails(&desk), ==, 1);
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "1");
}

static void
row_4_6_three_in_thirty_days_and_a_new_one_kills_the_old(void)
{
	desk_auto desk;
	g_autofree char *first = NULL;

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	first = desk_find_reply_to(&desk);
	desk.options.now += DAY - 1;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_LIMITED);
	desk.options.now += 1;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
	g_string_truncate(fakecommands_done, 0);
	g_assert_cmpint(desk_write_to(&desk, EVA, first, "ok"), ==, FRONT_ANSWERED);
	fakecommands_assert("run Eva@example.com confirm;");
	desk.options.now += DAY;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
	for (int day = 3; day < 30; day++) {
		desk.options.now += DAY;
		g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==,
		    FRONT_LIMITED);
	}
	desk.options.now += DAY;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
}

static void
row_4_7_confirmations_are_limited_for_a_domain_and_for_all(void)
{
	desk_auto desk;
	int asked = 0;

	desk_init(&desk);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p%d@example.com", i);

		asked +=
		    desk_write_to(&desk, from, DESK_HOME, "subscribe") == FRONT_ASKED;
	}
	g_assert_cmpint(asked, ==, desk.settings->limit_confirmations_domain_hour);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p@d%d.example.com", i);

		asked +=
		    desk_write_to(&desk, from, DESK_HOME, "subscribe") == FRONT_ASKED;
	}
	g_assert_cmpint(asked, ==, desk.settings->limit_confirmations_hour);
	desk.options.now += HOUR;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
}

/* From a domain of its own. */
static enum front_outcome
request(struct desk *desk, unsigned number, const char *server)
{
	g_autofree char *domain = g_strdup_printf("d%u.example.com", number);
	g_autofree char *from = g_strconcat("p@", domain, NULL);
	g_autofree char *properties = g_strconcat("header.from=", domain, NULL);
	pb_auto(letter) letter = letters_new(from, "subscribe", "");

	if (server)
		letters_vouch(letter, server, "dmarc", "pass", properties);
	return desk_hand_in(desk, letter, from, DESK_HOME).outcome;
}

static void
forged_requests_leave_a_share_to_authenticated_senders(void)
{
	desk_auto desk;
	struct allowance_dropped dropped;
	unsigned asked = 0;

	desk_init(&desk);
	desk_set(&desk.settings->commands_authserv_id, "mx.example.org");
	for (unsigned i = 0; i < 70; i++)
		asked += request(&desk, i, i % 2 ? "mx.forger.example" : NULL) ==
		         FRONT_ASKED;
	g_assert_cmpuint(asked, ==, 45);
	g_assert_true(allowance_load_dropped(desk.lab->store, &dropped, NULL));
	g_assert_cmpint(dropped.total, ==, 25);
	g_assert_cmpint(dropped.lately, ==, 25);
	g_assert_cmpint(dropped.last_at, ==, desk.options.now);
	asked = 0;
	for (unsigned i = 100; i < 120; i++)
		asked += request(&desk, i, "mx.example.org") == FRONT_ASKED;
	g_assert_cmpuint(asked, ==, 15);
	/* Of one domain, too. */
	desk.options.now += HOUR;
	asked = 0;
	for (int i = 0; i < 40; i++) {
		g_autofree char *from = g_strdup_printf("p%d@example.com", i);

		asked +=
		    desk_write_to(&desk, from, DESK_HOME, "subscribe") == FRONT_ASKED;
	}
	g_assert_cmpuint(asked, ==, 23);
	{
		pb_auto(letter) letter = letters_new(EVA, "subscribe", "");

		letters_vouch(letter, "mx.example.org", "dmarc", "pass",
		    "header.from=example.com");
		g_assert_cmpint(desk_hand_in(&desk, letter, EVA, DESK_HOME).outcome, ==,
		    FRONT_ASKED);
	}
}

static void
row_4_21_a_sender_that_our_server_vouches_for_is_proven(void)
{
	desk_auto desk;
	pb_auto(letter) letter = letters_new(EVA, "change", "");

	desk_init(&desk);
	subscribe(&desk, EVA);
	letters_vouch(
	    letter, "mx.example.org", "dmarc", "pass", "header.from=example.com");
	desk_hand_in(&desk, letter, EVA, DESK_HOME);
	fakecommands_assert("run Eva@example.com change;");
	desk_set(&desk.settings->commands_authserv_id, "mx.example.org");
	desk_hand_in(&desk, letter, EVA, DESK_HOME);
	fakecommands_assert("run Eva@example.com proven change;");
}

static void
row_6_8_an_export_goes_to_its_own_address_only(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "export");
	reply_to = desk_find_reply_to(&desk);
	desk_write_to(&desk, "thief@example.net", reply_to, "ok");
	lab_assert_text(desk.lab, "SELECT DISTINCT recipient FROM outbox", EVA);
	mail = desk_get_mail(&desk);
	g_assert_nonnull(strstr(mail, "multipart/mixed"));
	g_assert_nonnull(strstr(mail, "filename=\"paperboy-export.json\""));
}

static void
row_6_8_the_last_answer_goes_out_and_then_all_is_erased(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	unsigned count = 0;
	GError *error = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "forget");
	reply_to = desk_find_reply_to(&desk);
	g_assert_cmpint(desk_write_to(&desk, EVA, reply_to, "ok"), ==, FRONT_ANSWERED);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
	g_assert_true(forget_finish(
	    desk.lab->store, desk.lab->key, desk.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 0);
	lab_assert_text(desk.lab,
	    "SELECT count(*) FROM outbox WHERE state = 'NEW'"
	    " AND kind = 'answer'",
	    "1");
	lab_run(desk.lab, "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
	                  " next_try_at = NULL, message = NULL");
	g_assert_true(forget_finish(
	    desk.lab->store, desk.lab->key, desk.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 1);
	lab_assert_text(desk.lab,
	    "SELECT (SELECT count(*) FROM subscriber), (SELECT count(*) FROM ticket),"
	    " (SELECT count(*) FROM outbox), (SELECT count(*) FROM farewell)",
	    "0|0|0|0");
}

/* Who has left, and who was only ever asked whether to come. */
static void
row_6_8_who_is_no_subscriber_is_forgotten_too(void)
{
	for (int has_left = 0; has_left < 2; has_left++) {
		desk_auto desk;
		g_autofree char *reply_to = NULL;
		unsigned count = 0;
		GError *error = NULL;

		desk_init(&desk);
		if (has_left) {
			subscribe(&desk, EVA);
			desk_write_to(&desk, EVA, DESK_HOME, "unsubscribe");
		} else {
			desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
			desk.options.now += DAY;
		}
		g_assert_cmpint(
		    desk_write_to(&desk, EVA, DESK_HOME, "forget"), ==, FRONT_ASKED);
		reply_to = desk_find_reply_to(&desk);
		g_assert_cmpint(
		    desk_write_to(&desk, EVA, reply_to, "yes"), ==, FRONT_ANSWERED);
		lab_run(desk.lab, "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
		                  " next_try_at = NULL, message = NULL");
		g_assert_true(forget_finish(
		    desk.lab->store, desk.lab->key, desk.options.now, &count, &error));
		g_assert_cmpuint(count, ==, 1);
		lab_assert_text(desk.lab,
		    "SELECT (SELECT count(*) FROM subscriber),"
		    " (SELECT count(*) FROM ticket), (SELECT count(*) FROM outbox),"
		    " (SELECT count(*) FROM farewell)",
		    "0|0|0|0");
	}
}

static void
row_4_9_nothing_goes_out_to_who_is_never_answered(void)
{
	static const struct {
		const char *name, *value;
	} marks[] = {{"Auto-Submitted", "auto-replied"}, {"Precedence", "bulk"},
	    {"List-Id", "<x.example>"}, {"X-Auto-Response-Suppress", "OOF"},
	    {"X-Loop", DESK_HOME}};
	static const char *const robots[] = {
	    "mailer-daemon@example.com", "cats-request@example.com", DESK_HOME};
	desk_auto desk;

	desk_init(&desk);
	subscribe(&desk, EVA);
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		pb_auto(letter) letter = letters_new(EVA, "list", "");

		letters_mark(letter, marks[i].name, marks[i].value);
		desk_hand_in(&desk, letter, EVA, DESK_HOME);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(robots); i++)
		desk_write_to(&desk, robots[i], DESK_HOME, "help");
	{
		pb_auto(letter) letter = letters_new(EVA, "list", "");

		desk_hand_in(&desk, letter, "", DESK_HOME);
		letter->report = LETTER_REPORT_DELIVERY;
		desk_hand_in(&desk, letter, EVA, DESK_HOME);
	}
	g_assert_cmpint(desk_count_mails(&desk), ==, 0);
	fakecommands_assert("");
}

static void
row_4_11_ten_answers_a_day_and_one_help(void)
{
	desk_auto desk;

	desk_init(&desk);
	subscribe(&desk, EVA);
	g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, ""), ==, FRONT_ANSWERED);
	g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, ""), ==, FRONT_LIMITED);
	for (int i = 1; i < 10; i++)
		g_assert_cmpint(
		    desk_write_to(&desk, EVA, DESK_HOME, "list"), ==, FRONT_ANSWERED);
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "list"), ==, FRONT_LIMITED);
	g_assert_cmpint(desk_count_mails(&desk), ==, 10);
	/* A proof has ten of its own, so that nobody can use a person's up. */
	{
		g_autofree char *reply_to = desk_find_reply_to(&desk);

		g_assert_cmpint(
		    desk_write_to(&desk, EVA, reply_to, "list"), ==, FRONT_ANSWERED);
	}
	/* Unsubscribing never waits, and is told. */
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "unsubscribe"), ==, FRONT_ANSWERED);
	desk.options.now += DAY;
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "list"), ==, FRONT_ANSWERED);
}

static void
row_4_11_a_stranger_gets_three_answers_a_day(void)
{
	desk_auto desk;

	desk_init(&desk);
	g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, ""), ==, FRONT_ANSWERED);
	g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, ""), ==, FRONT_LIMITED);
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "help"), ==, FRONT_ANSWERED);
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "help"), ==, FRONT_ANSWERED);
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "help"), ==, FRONT_LIMITED);
	/* It is no reason not to let somebody in. */
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==, FRONT_ASKED);
}

/* Of all that comes only the last one says it. */
static void
write_until_limited(
    struct desk *desk, const char *recipient, const char *words, const char *exception)
{
	bool was_said = false;

	for (int i = 0; i < 11; i++) {
		g_autofree char *mail = NULL;
		enum front_outcome outcome =
		    desk_write_to(desk, EVA, recipient, "list");

		g_assert_cmpint(outcome, ==, was_said ? FRONT_LIMITED : FRONT_ANSWERED);
		if (was_said)
			return;
		mail = desk_get_mail(desk);
		was_said = strstr(mail, words) != NULL;
		g_assert_true(was_said == (strstr(mail, exception) != NULL));
	}
	g_assert_not_reached();
}

static void
the_last_answer_of_a_day_says_so(void)
{
	static const struct {
		const char *language; /* NULL: a stranger */
		const char *words, *proven;
		const char *exception; /* in no other answer */
	} rows[] = {
	    {"en", "name: 10 in 24 hours are all.",
	        "This is the last answer for now: 10 in 24 hours are all.",
	        "\"unsubscribe\""},
	    {"de", "mehr als 10 gibt es in 24 Stunden nicht.",
	        "die letzte Antwort: mehr als 10", "\"unsubscribe\""},
	    {NULL, "This is the last answer for now: 3 in 24 hours are all.", NULL,
	        "Only \"subscribe\""},
	};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	g_autoptr(GError) error = NULL;
	pb_auto(phrasebook) book = phrasebook_load(templates, &error);

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		desk_auto desk;
		g_autofree char *mail = NULL, *reply_to = NULL;

		desk_init(&desk);
		desk.options.phrases = book;
		if (rows[i].language) {
			g_autofree char *sql = g_strdup_printf(
			    "UPDATE subscriber SET language = '%s'", rows[i].language);

			subscribe(&desk, EVA);
			lab_run(desk.lab, sql);
		}
		write_until_limited(&desk, DESK_HOME, rows[i].words, rows[i].exception);
		reply_to = rows[i].language ? desk_find_reply_to(&desk) : NULL;
		if (reply_to)
			write_until_limited(
			    &desk, reply_to, rows[i].proven, rows[i].exception);
		/* Who leaves is told of that in any case, and of nothing else. */
		g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, "unsubscribe"), ==,
		    reply_to ? FRONT_ANSWERED : FRONT_LIMITED);
		mail = desk_get_mail(&desk);
		g_assert_true(!strstr(mail, rows[i].exception) == !!reply_to);
		/* The one help of a day is no end of anything. */
		desk.options.now += DAY;
		desk_write_to(&desk, EVA, DESK_HOME, "");
		g_free(mail);
		mail = desk_get_mail(&desk);
		g_assert_null(strstr(mail, rows[i].exception));
	}
}

static void
row_4_13_no_word_of_a_letter_becomes_a_header(void)
{
	desk_auto desk;
	pb_auto(letter) letter =
	    letters_new(EVA, "list\r\nBcc: victim@example.net\nX: \xe2\x80\xae", "");
	g_autofree char *mail = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	g_free(letter->message_id);
	letter->message_id = g_strdup("a@b>\r\nBcc: victim@example.net");
	g_ptr_array_add(letter->references, g_strdup("x\r\nBcc: victim@example.net"));
	desk_hand_in(&desk, letter, EVA, DESK_HOME);
	mail = desk_get_mail(&desk);
	g_assert_null(strstr(mail, "\nBcc:"));
	g_assert_null(strstr(mail, "\r\nIn-Reply-To:"));
	g_assert_nonnull(
	    strstr(mail, "\r\nSubject: Re: list Bcc: victim@example.net X:\r\n"));
}

static void
row_4_12_answers_have_the_null_sender_and_confirmations_a_token(void)
{
	desk_auto desk;
	g_autofree char *sender = NULL;
	pb_auto(letter) back = letters_new("mailer-daemon@example.com", "failed", "");
	struct front_report report;

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "help");
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	lab_assert_text(desk.lab, "SELECT kind, sender = '' FROM outbox ORDER BY id",
	    "answer|1 confirmation|0");
	sender = lab_text(desk.lab, "SELECT sender FROM outbox WHERE id = 2");
	/* 5.6: what came back waits for nobody, and is never answered. */
	report = desk_hand_in(&desk, back, "", sender);
	g_assert_cmpint(report.outcome, ==, FRONT_CAME_BACK);
	g_assert_cmpint(report.ticket_id, ==, 1);
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "1");
	back->report = LETTER_REPORT_DELIVERY;
	letter_add_group(back);
	g_ptr_array_add(letter_add_group(back), letter_field_new("Action", "failed"));
	report = desk_hand_in(&desk, back, "", sender);
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "0");
	g_assert_cmpint(desk_count_mails(&desk), ==, 2);
}

static void
row_4_8_a_stranger_cannot_tell_who_is_a_subscriber(void)
{
	desk_auto desk;
	int64_t before;

	desk_init(&desk);
	subscribe(&desk, EVA);
	/* All that is told is told to the address itself. */
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	desk_write_to(&desk, "adam@example.com", DESK_HOME, "subscribe");
	before =
	    lab_number(desk.lab, "SELECT count(*) FROM outbox WHERE recipient NOT IN"
	                         " ('Eva@example.com', 'adam@example.com')");
	g_assert_cmpint(before, ==, 0);
}

static void
a_suppressed_address_gets_nothing_ever(void)
{
	desk_auto desk;
	const struct forget_request request = {.address = EVA, .who = "test"};
	struct forget_request keyed = request;
	g_autofree char *leave = NULL;

	desk_init(&desk);
	keyed.key = desk.lab->key;
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	g_assert_true(forget_suppress(
	    desk.lab->store, &keyed, FORGET_OPERATOR, desk.options.now, NULL));
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	desk_write_to(&desk, EVA, DESK_HOME, "");
	desk_write_to(&desk, EVA, leave, "");
	fakecommands_assert("");
	g_assert_cmpint(desk_count_mails(&desk), ==, 0);
}

static void
a_letter_to_the_owner_goes_to_the_owner(void)
{
	desk_auto desk;
	pb_auto(letter) letter =
	    letters_new(EVA, "hello\r\nBcc: x@y.example", "A question.");
	g_autofree char *mail = NULL;
	struct front_report report;

	desk_init(&desk);
	report = desk_hand_in(&desk, letter, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, FRONT_PASSED_ON);
	lab_assert_text(desk.lab, "SELECT kind, recipient, sender FROM outbox",
	    "notice|owner@example.org|");
	mail = desk_get_mail(&desk);
	g_assert_nonnull(strstr(mail, "\r\nReply-To: Eva@example.com\r\n"));
	g_assert_nonnull(strstr(mail, "A question."));
	g_assert_null(strstr(mail, "\nBcc:"));
	desk.settings->limit_owner_day = 1;
	report = desk_hand_in(&desk, letter, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, FRONT_LIMITED);
}

static bool
call_front(struct lab *lab, void *data, GError **error)
{
	struct desk *desk = data;
	pb_auto(letter) letter = letters_new(EVA, "subscribe", "");
	const struct front_envelope envelope = {1, EVA, DESK_HOME, false};
	struct front_report report;
	pb_transaction transaction = {0};

	return store_begin(lab->store, &transaction, error) &&
	       front_handle(
	           lab->store, &desk->options, letter, &envelope, &report, error) &&
	       store_commit(&transaction, error);
}

static void
a_store_that_fails_leaves_nothing_half_done(void)
{
	desk_auto desk;

	desk_init(&desk);
	g_assert_cmpuint(lab_fail_everywhere(desk.lab, call_front, &desk, true), >, 5);
	g_assert_cmpint(desk_count_mails(&desk), ==, 1);
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "1");
}

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
    {"4.5 a stranger is nobody until the confirmation",
        row_4_5_a_stranger_is_nobody_until_the_confirmation},
    {"4.6 a thousand requests are one confirmation",
        row_4_6_a_thousand_requests_are_one_confirmation},
    {"4.6 three in thirty days, and a new one kills the old",
        row_4_6_three_in_thirty_days_and_a_new_one_kills_the_old},
    {"4.7 confirmations are limited for a domain and for all",
        row_4_7_confirmations_are_limited_for_a_domain_and_for_all},
    {"forged requests leave a share to authenticated senders",
        forged_requests_leave_a_share_to_authenticated_senders},
    {"4.8 a stranger cannot tell who is a subscriber",
        row_4_8_a_stranger_cannot_tell_who_is_a_subscriber},
    {"4.9 nothing goes out to who is never answered",
        row_4_9_nothing_goes_out_to_who_is_never_answered},
    {"4.11 a stranger gets three answers a day",
        row_4_11_a_stranger_gets_three_answers_a_day},
    {"the last answer of a day says so", the_last_answer_of_a_day_says_so},
    {"4.11 ten answers a day, and one help", row_4_11_ten_answers_a_day_and_one_help},
    {"4.12 answers have the null sender, and confirmations a token",
        row_4_12_answers_have_the_null_sender_and_confirmations_a_token},
    {"4.13 no word of a letter becomes a header",
        row_4_13_no_word_of_a_letter_becomes_a_header},
    {"4.21 a sender that our server vouches for is proven",
        row_4_21_a_sender_that_our_server_vouches_for_is_proven},
    {"6.8 an export goes to its own address only",
        row_6_8_an_export_goes_to_its_own_address_only},
    {"6.8 the last answer goes out, and then all is erased",
        row_6_8_the_last_answer_goes_out_and_then_all_is_erased},
    {"6.8 who is no subscriber is forgotten too",
        row_6_8_who_is_no_subscriber_is_forgotten_too},
    {"a suppressed address gets nothing, ever", a_suppressed_address_gets_nothing_ever},
    {"a letter to the owner goes to the owner",
        a_letter_to_the_owner_goes_to_the_owner},
    {"a store that fails leaves nothing half done",
        a_store_that_fails_leaves_nothing_half_done},
};

int
main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	fakecommands_done = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/front/", tests[i].name, NULL);

		g_test_add_func(path, tests[i].test);
	}
	result = g_test_run();
	g_string_free(fakecommands_done, TRUE);
	return result;
}
