/*
 * test_tickets.c - what tokens and tickets prove, confirm, undo and take away.
 *
 * As test_front.c, with commands that are made up.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "lib/desk.h"
#include "lib/fakecommands.h"
#include "service/forget.h"
#include "service/subscribe.h"
#include "store/people.h"

#define DAY  86400
#define HOUR 3600
#define EVA  "Eva@example.com"

#define SUBJECT "Please confirm your request to paperboy@example.org"

static void
subscribe(struct desk *desk, const char *address)
{
	lab_subscribe(desk->lab, address, "UTC", NULL, desk->options.now - DAY);
	g_string_truncate(fakecommands_done, 0);
}

static void
row_6_7_the_consent_says_when_and_how(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *consent = NULL;

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	reply_to = desk_find_reply_to(&desk);
	desk.options.now += HOUR;
	desk_write_to(&desk, EVA, reply_to, "Re: ok");
	consent = lab_text(desk.lab, "SELECT consent_text FROM subscriber");
	g_assert_true(g_pattern_match_simple(
	    "asked by mail 2026-11-20 09:00:00 UTC; text of the confirmation "
	    "sha256:????????????????????????????????????????????????????????????????; "
	    "confirmed by mail 2026-11-20 10:00:00 UTC (ticket 1)",
	    consent));
	lab_assert_text(desk.lab,
	    "SELECT what, detail FROM change WHERE who = 'mail' ORDER BY id",
	    "confirmation asked|confirm subscriber added|by mail"
	    " confirmation used|confirm");
}

static void
row_6_1_a_token_is_good_once_for_its_purpose_and_its_time(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *token = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "change");
	reply_to = desk_find_reply_to(&desk);
	token = g_strndup(reply_to + strlen("paperboy+c-"), TOKEN_DRAWN_LENGTH);
	/* None of it is in the store, but in the mail that waits. */
	lab_assert_text(
	    desk.lab, "SELECT count(*), max(length(hash)) FROM ticket", "1|64");
	{
		g_autofree char *sql = g_strdup_printf(
		    "SELECT count(*) FROM ticket WHERE hash || action || details"
		    " LIKE '%%%s%%'",
		    token);

		lab_assert_text(desk.lab, sql, "0");
	}
	/* Of another purpose it is nothing. */
	{
		g_autofree char *undo = g_strdup_printf("undo %s", token);
		g_autofree char *leave =
		    g_strdup_printf("paperboy+u-%s@example.org", token);
		g_autofree char *reply =
		    g_strdup_printf("paperboy+r-%s@example.org", token);

		desk_write_to(&desk, EVA, DESK_HOME, undo);
		desk_write_to(&desk, EVA, reply, "list");
		desk_write_to(&desk, "adam@example.com", leave, "");
		fakecommands_assert(
		    "run Eva@example.com change;run Eva@example.com undo;"
		    "run Eva@example.com list;"
		    "run adam@example.com unsubscribe;");
	}
	desk.options.now += FRONT_CONFIRM_S;
	desk_write_to(&desk, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
	desk.options.now -= 1;
	desk_write_to(&desk, EVA, reply_to, "ok");
	fakecommands_assert("pending Eva@example.com proven change;");
	desk_write_to(&desk, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
	lab_assert_text(
	    desk.lab, "SELECT action, used_at IS NOT NULL FROM ticket", "|1");
}

static void
row_6_1_forgetting_is_for_an_hour(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "forget");
	reply_to = desk_find_reply_to(&desk);
	desk.options.now += FRONT_FORGET_S;
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
}

/* The token of a digest's reply address. */
static char *
format_reply_to(struct desk *desk, int64_t digest_id, int64_t made_at)
{
	g_autofree char *token =
	    token_sign(desk->lab->key, EXTENSION_TOKEN_REPLY, digest_id, made_at);

	return extension_format(&desk->house->commands, EXTENSION_REPLY, token);
}

static void
row_4_4_a_reply_token_proves_its_own_reader_for_thirty_days(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *other = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	subscribe(&desk, "adam@example.com");
	lab_run(desk.lab,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token) VALUES (1, 'x', '2026-11-20', 1795000000, 'sent',"
	    " 'abcdefghijklmnopq')");
	reply_to = format_reply_to(&desk, 1, 1795000000);
	other = format_reply_to(&desk, 1, 1795000001);
	desk.options.now = 1795000000 + 30 * DAY;
	desk_write_to(&desk, "EVA@example.com", reply_to, "change");
	fakecommands_assert("run Eva@example.com proven change;");
	/* In somebody else's name, or with another token, it proves nothing. */
	desk_write_to(&desk, "adam@example.com", reply_to, "change");
	desk_write_to(&desk, EVA, other, "change");
	desk_write_to(&desk, EVA, DESK_HOME, "change");
	desk.options.now += 1;
	desk_write_to(&desk, EVA, reply_to, "change");
	fakecommands_assert("run adam@example.com change;run Eva@example.com change;"
	                    "run Eva@example.com change;run Eva@example.com change;");
}

static void
row_4_15_an_answer_can_be_answered(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "list");
	reply_to = desk_find_reply_to(&desk);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+r-"));
	g_string_truncate(fakecommands_done, 0);
	desk.options.now += 30 * DAY;
	desk_write_to(&desk, EVA, reply_to, "change");
	fakecommands_assert("run Eva@example.com proven change;");
	desk.options.now += DAY;
	desk_write_to(&desk, EVA, reply_to, "change");
	fakecommands_assert("run Eva@example.com change;");
}

static void
row_4_10_a_token_unsubscribes_in_silence_even_for_a_robot(void)
{
	desk_auto desk;
	g_autofree char *leave = NULL;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;
	pb_auto(letter) letter = letters_new("mailer-daemon@example.net", "", "");
	struct front_report report;

	desk_init(&desk);
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	letters_mark(letter, "Auto-Submitted", "auto-generated");
	report = desk_hand_in(&desk, letter, "", leave);
	g_assert_cmpint(report.outcome, ==, FRONT_LEFT);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
	g_assert_cmpint(desk_count_mails(&desk), ==, 0);
	lab_assert_text(desk.lab, "SELECT purpose FROM ticket", "undo");
	report = desk_hand_in(&desk, letter, "", leave);
	g_assert_cmpint(report.outcome, ==, FRONT_IGNORED);

	/* Whoever comes later to see what happened is told how to come back. */
	g_string_truncate(fakecommands_done, 0);
	g_assert_cmpint(desk_write_to(&desk, EVA, leave, "stop"), ==, FRONT_ANSWERED);
	fakecommands_assert("say Eva@example.com left_before;");
	mail = desk_get_mail(&desk);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_DRAWN_LENGTH] = '\0';
	desk_write_to(&desk, EVA, DESK_HOME, undo);
	fakecommands_assert(
	    "run Eva@example.com undo;pending Eva@example.com proven restore;");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "active");
}

static char *
find_undo(struct desk *desk)
{
	g_autofree char *mail = desk_get_mail(desk);
	const char *at = strstr(mail, "undo ");

	g_assert_nonnull(at);
	return g_strndup(at, strlen("undo ") + TOKEN_DRAWN_LENGTH);
}

static void
an_unsubscribe_token_is_not_a_mail_bomb(void)
{
	desk_auto desk;
	g_autofree char *leave = NULL;
	g_autofree char *first = NULL;
	g_autofree char *second = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	for (int i = 0; i < 200; i++) {
		desk.options.now += 60;
		desk_write_to(&desk, i % 2 ? EVA : "adam@example.com", leave, "");
		if (i == 0)
			first = find_undo(&desk);
	}
	lab_assert_text(desk.lab,
	    "SELECT count(*), subscriber.state FROM outbox, subscriber", "1|gone");
	/* The next day has one reply, with another token beside the first one. */
	desk.options.now += DAY;
	for (int i = 0; i < 200; i++)
		desk_write_to(&desk, "adam@example.com", leave, "");
	g_assert_cmpint(desk_count_mails(&desk), ==, 2);
	lab_assert_text(desk.lab, "SELECT DISTINCT recipient FROM outbox", EVA);
	second = find_undo(&desk);
	g_assert_cmpstr(first, !=, second);
	lab_assert_text(
	    desk.lab, "SELECT count(*), count(DISTINCT expires_at) FROM ticket", "2|1");

	g_assert_cmpint(
	    desk_write_to(&desk, EVA, DESK_HOME, first), ==, FRONT_ANSWERED);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "active");
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, DESK_HOME, second);
	fakecommands_assert("run Eva@example.com undo;");

	/* It unsubscribes again, and that is reported whatever came before. */
	g_assert_cmpint(desk_write_to(&desk, EVA, leave, ""), ==, FRONT_ANSWERED);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
	lab_run(desk.lab, "DELETE FROM outbox");
	desk.options.now += 8 * DAY;
	for (int i = 0; i < 200; i++)
		desk_write_to(&desk, EVA, leave, "");
	g_assert_cmpint(desk_count_mails(&desk), ==, 1);
}

static void
row_4_4_unsubscribing_acts_at_once_tells_the_address_and_can_be_undone(void)
{
	desk_auto desk;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	/* Whoever writes it: the answer goes to the address. */
	g_assert_cmpint(
	    desk_write_to(&desk, EVA, "paperboy+unsubscribe@example.org", "list"), ==,
	    FRONT_ANSWERED);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
	lab_assert_text(desk.lab,
	    "SELECT purpose, recipient, expires_at - made_at FROM ticket",
	    "undo|Eva@example.com|604800");
	mail = desk_get_mail(&desk);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_DRAWN_LENGTH] = '\0';
	g_string_truncate(fakecommands_done, 0);
	desk.options.now += FRONT_UNDO_S - 1;
	g_assert_cmpint(desk_write_to(&desk, "eva@example.net", DESK_HOME, undo), ==,
	    FRONT_ANSWERED);
	fakecommands_assert(
	    "run eva@example.net undo;pending Eva@example.com proven restore;");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "active");
	lab_assert_text(desk.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	desk_write_to(&desk, "eva@example.net", DESK_HOME, undo);
	fakecommands_assert("run eva@example.net undo;");
}

static void
row_6_2_an_unsubscribe_token_never_expires_and_outlives_its_key(void)
{
	desk_auto desk;
	char both[2 * TOKEN_KEY_BYTES + 1] = LAB_KEY "an older key of this directory..";
	g_autoptr(GBytes) keys = g_bytes_new(both, 2 * TOKEN_KEY_BYTES);
	g_autoptr(GBytes) older = token_get_key(keys, 1);
	g_autofree char *leave = NULL;
	g_autofree char *forged = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, older, 1);
	forged = desk_format_leave(&desk, desk.lab->key, 2);
	desk.options.now += 365 * (int64_t)DAY;
	desk_write_to(&desk, "adam@example.com", forged, "");
	desk_write_to(&desk, "adam@example.com", leave, "");
	fakecommands_assert(
	    "run adam@example.com unsubscribe;run adam@example.com unsubscribe;");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "active");
	desk.options.key = keys;
	desk_write_to(&desk, "adam@example.com", leave, "");
	fakecommands_assert("run Eva@example.com proven unsubscribe;");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
	/* Again is fine, and tells nobody else. */
	desk_write_to(&desk, "adam@example.com", leave, "");
	lab_assert_text(desk.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
}

static void
row_6_3_to_unsubscribe_is_all_that_an_unsubscribe_token_can(void)
{
	desk_auto desk;
	g_autofree char *leave = NULL;
	g_autofree char *as_reply = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	as_reply = g_strdup(leave);
	as_reply[strlen("paperboy+")] = 'r';
	desk_write_to(&desk, EVA, as_reply, "change");
	desk_write_to(&desk, EVA, leave, "export");
	fakecommands_assert(
	    "run Eva@example.com change;run Eva@example.com proven unsubscribe;");
}

static void
row_6_4_a_token_that_was_only_seen_is_not_used(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	pb_auto(letter) scanner = letters_new("scanner@example.net", "seen", "");

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	reply_to = desk_find_reply_to(&desk);
	g_string_truncate(fakecommands_done, 0);
	/* An automatic answer to it confirms nothing. */
	letters_mark(scanner, "Auto-Submitted", "auto-replied");
	g_assert_cmpint(
	    desk_hand_in(&desk, scanner, NULL, reply_to).outcome, ==, FRONT_IGNORED);
	g_assert_cmpint(
	    desk_hand_in(&desk, scanner, "", reply_to).outcome, ==, FRONT_IGNORED);
	fakecommands_assert("");
	lab_assert_text(desk.lab, "SELECT count(*) FROM subscriber", "0");
	desk_write_to(&desk, EVA, reply_to, "yes");
	lab_assert_text(desk.lab, "SELECT count(*) FROM subscriber", "1");
}

static void
row_6_5_unsubscribing_needs_nothing_but_the_address(void)
{
	desk_auto desk;
	g_autofree char *leave = NULL;
	pb_auto(letter) empty = letters_new("x@example.net", "", "");

	desk_init(&desk);
	subscribe(&desk, EVA);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	empty->from_fields = 0;
	g_ptr_array_set_size(empty->from, 0);
	g_clear_pointer(&empty->message_id, g_free);
	g_assert_cmpint(
	    desk_hand_in(&desk, empty, NULL, leave).outcome, ==, FRONT_LEFT);
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
}

static void
row_6_6_whoever_was_confirmed_by_a_robot_can_leave_in_one_step(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *answer = NULL;

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	reply_to = desk_find_reply_to(&desk);
	desk_write_to(&desk, "scanner@example.net", reply_to, "yes");
	/* The welcome went to the address, and its answer is the person's own. */
	lab_assert_text(desk.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	answer = desk_find_reply_to(&desk);
	desk_write_to(&desk, EVA, answer, "unsubscribe");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "gone");
}

static void
row_4_4_a_change_of_address_is_confirmed_at_both(void)
{
	static const char newest[] = "SELECT hash FROM ticket WHERE recipient = ";
	desk_auto desk;
	g_autofree char *old = NULL;
	g_autofree char *fresh = NULL;
	g_autofree char *mail = NULL;

	(void)newest;
	desk_init(&desk);
	subscribe(&desk, EVA);
	g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, "address eva@example.net"),
	    ==, FRONT_ASKED);
	lab_assert_text(desk.lab, "SELECT recipient FROM outbox ORDER BY id",
	    "eva@example.net Eva@example.com");
	old = desk_find_reply_to(&desk);
	lab_run(desk.lab, "DELETE FROM outbox WHERE id = 2");
	fresh = desk_find_reply_to(&desk);
	g_assert_cmpstr(old, !=, fresh);
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, old, "ok");
	desk_write_to(&desk, EVA, old, "ok");
	fakecommands_assert("say Eva@example.com half_confirmed_old eva@example.net;"
	                    "run Eva@example.com confirm;");
	desk_write_to(&desk, "eva@example.net", fresh, "ok");
	fakecommands_assert("pending Eva@example.com proven address e;");

	/* One alone is not enough, even when the other one came back. */
	desk_write_to(&desk, "eva@example.net", DESK_HOME, "address wrong@example.net");
	g_free(old);
	old = desk_find_reply_to(&desk);
	lab_run(desk.lab, "DELETE FROM ticket WHERE recipient = 'wrong@example.net'");
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, "eva@example.net", old, "ok");
	fakecommands_assert(
	    "say eva@example.net half_confirmed_old wrong@example.net;");
}

static void
the_old_address_is_told_of_a_move_whoever_confirms_last(void)
{
	for (int is_old_last = 0; is_old_last < 2; is_old_last++) {
		desk_auto desk;
		g_autofree char *old = NULL;
		g_autofree char *fresh = NULL;

		desk_init(&desk);
		subscribe(&desk, EVA);
		desk_write_to(&desk, EVA, DESK_HOME, "address thief@example.net");
		old = desk_find_reply_to(&desk);
		lab_run(desk.lab, "DELETE FROM outbox WHERE id = 2");
		fresh = desk_find_reply_to(&desk);
		lab_run(desk.lab, "DELETE FROM outbox");
		g_string_truncate(fakecommands_done, 0);
		desk_write_to(&desk, EVA, is_old_last ? fresh : old, "yes");
		fakecommands_assert(is_old_last
		                        ? "say thief@example.net half_confirmed_new;"
		                        : "say Eva@example.com half_confirmed_old "
		                          "thief@example.net;");
		lab_assert_text(desk.lab, "SELECT recipient FROM outbox",
		    is_old_last ? "thief@example.net" : EVA);
		lab_run(desk.lab, "DELETE FROM outbox");
		desk_write_to(&desk, EVA, is_old_last ? old : fresh, "yes");
		lab_assert_text(
		    desk.lab, "SELECT address FROM subscriber", "thief@example.net");
		lab_assert_text(desk.lab,
		    "SELECT kind, recipient FROM outbox ORDER BY id",
		    "notice|Eva@example.com answer|thief@example.net");
	}
}

static void
a_token_of_before_a_move_proves_nothing_after_it(void)
{
	desk_auto desk;
	g_autofree char *answer = NULL;
	g_autofree char *digest = NULL;
	g_autofree char *leave = NULL;
	g_autofree char *change = NULL;
	g_autofree char *fresh = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	lab_run(desk.lab,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token) VALUES (1, 'x', '2026-11-20', 1795160000, 'sent',"
	    " 'abcdefghijklmnopq')");
	digest = format_reply_to(&desk, 1, 1795160000);
	leave = desk_format_leave(&desk, desk.lab->key, 1);
	desk_write_to(&desk, EVA, DESK_HOME, "change");
	change = desk_find_reply_to(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "list");
	answer = desk_find_reply_to(&desk);
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, answer, "list");
	desk_write_to(&desk, EVA, digest, "list");
	fakecommands_assert(
	    "run Eva@example.com proven list;run Eva@example.com proven list;");

	desk.options.now += HOUR;
	{
		pb_auto(subscriber) moved =
		    subscribe_change_address(desk.lab->store, EVA, "eva@example.net",
		        desk.lab->key, "test", desk.options.now, NULL);

		g_assert_nonnull(moved);
	}
	desk_write_to(&desk, "eva@example.net", answer, "list");
	desk_write_to(&desk, "eva@example.net", digest, "list");
	desk_write_to(&desk, EVA, leave, "");
	desk_write_to(&desk, EVA, change, "yes");
	fakecommands_assert(
	    "run eva@example.net list;run eva@example.net list;"
	    "run Eva@example.com unsubscribe;run Eva@example.com confirm;");
	lab_assert_text(desk.lab, "SELECT state FROM subscriber", "active");

	/* Those of after it do. */
	desk_write_to(&desk, "eva@example.net", DESK_HOME, "list");
	fresh = desk_find_reply_to(&desk);
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, "eva@example.net", fresh, "list");
	fakecommands_assert("run eva@example.net proven list;");
}

static void
only_a_yes_carries_a_request_out(void)
{
	static const struct {
		const char *subject, *text, *wanted;
	} rows[] = {
	    {"Re: " SUBJECT, "No, I did not ask for this.\n", "declined"},
	    {"Re: " SUBJECT, "nein danke\n", "declined"},
	    {"Re: " SUBJECT, "I never asked for this, leave me alone!", "declined"},
	    {"Re: " SUBJECT, "Please remove me from your list", "declined"},
	    {"Re: " SUBJECT, "\u4e0d\u8981", "declined"},
	    {"no", "", "declined"},
	    {"Undeliverable: " SUBJECT, "Yes", "automatic"},
	    {"[Ticket #123] " SUBJECT, "Yes, I am away.", "automatic"},
	    {"Out of Office: " SUBJECT, "I am away.", "automatic"},
	    {"Re: " SUBJECT, "What is this??", "unclear"},
	    {"Re: " SUBJECT, "Thanks", "unclear"},
	    {"Re: " SUBJECT, "", "unclear"},
	    {"Re: " SUBJECT, "Yes, no problem", "yes"},
	    {"Re: " SUBJECT, "OK", "yes"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		desk_auto desk;
		g_autofree char *reply_to = NULL;
		pb_auto(letter) letter =
		    letters_new(EVA, rows[i].subject, rows[i].text);
		struct front_report report;

		desk_init(&desk);
		desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
		reply_to = desk_find_reply_to(&desk);
		g_string_truncate(fakecommands_done, 0);
		report = desk_hand_in(&desk, letter, EVA, reply_to);
		if (g_str_equal(rows[i].wanted, "yes")) {
			fakecommands_assert(
			    "pending Eva@example.com proven subscribe;");
			continue;
		}
		lab_assert_text(desk.lab, "SELECT count(*) FROM subscriber", "0");
		if (g_str_equal(rows[i].wanted, "unclear")) {
			fakecommands_assert("say Eva@example.com unclear;");
			continue;
		}
		fakecommands_assert("");
		g_assert_cmpstr(report.why, ==, rows[i].wanted);
		g_assert_cmpint(desk_count_mails(&desk), ==, 1);
		/* The person behind the program can still agree. */
		lab_assert_text(desk.lab, "SELECT count(*) FROM ticket",
		    g_str_equal(rows[i].wanted, "automatic") ? "1" : "0");
	}
}

static void
tokens_in_any_of_several_recipients_count(void)
{
	desk_auto desk;
	g_autofree char *old = NULL;
	g_autofree char *fresh = NULL;
	g_autofree char *leave = NULL;
	g_autofree char *recipients = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "address eva@example.net");
	old = desk_find_reply_to(&desk);
	lab_run(desk.lab, "DELETE FROM outbox WHERE id = 2");
	fresh = desk_find_reply_to(&desk);
	recipients = g_strjoin("\n", DESK_HOME, old, "paperboy+help@example.org",
	    "paperboy+nothing-that-is-known@example.org", fresh, NULL);
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, recipients, "yes");
	fakecommands_assert("say Eva@example.com half_confirmed_old eva@example.net;"
	                    "pending Eva@example.com proven address e;");
	lab_assert_text(desk.lab, "SELECT address FROM subscriber", "eva@example.net");

	/* Of a person who has not moved. */
	subscribe(&desk, "adam@example.com");
	g_free(recipients);
	leave = desk_format_leave(&desk, desk.lab->key, 2);
	recipients = g_strjoin("\n", DESK_HOME, leave, NULL);
	desk_write_to(&desk, "adam@example.com", recipients, "list");
	lab_assert_text(
	    desk.lab, "SELECT state FROM subscriber ORDER BY id", "active gone");
	g_string_truncate(fakecommands_done, 0);
	desk_write_to(&desk, EVA, "paperboy+nothing@example.org", "list");
	fakecommands_assert("");
}

static void
a_reply_without_text_is_known_by_the_message_id(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *id = NULL;
	pb_auto(letter) letter = letters_new(EVA, "Re: " SUBJECT, "");

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	reply_to = desk_find_reply_to(&desk);
	id = desk_find_address(&desk, "Message-ID: <");
	*strchr(id, '>') = '\0';
	g_ptr_array_add(letter->in_reply_to, g_strdup(id));
	g_string_truncate(fakecommands_done, 0);
	desk_hand_in(&desk, letter, EVA, reply_to);
	fakecommands_assert("pending Eva@example.com proven subscribe;");
}

static void
a_confirmation_is_followed_by_one_question_at_most(void)
{
	static const char *const asked[] = {
	    "change", "address eva@example.net", "forget", "export"};

	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		desk_auto desk;
		g_autofree char *reply_to = NULL;
		g_autofree char *again = NULL;
		g_autofree char *line = NULL;
		pb_auto(letter) typed = NULL;
		struct front_report report;

		desk_init(&desk);
		subscribe(&desk, EVA);
		desk_write_to(&desk, EVA, DESK_HOME, asked[i]);
		reply_to = desk_find_reply_to(&desk);
		g_string_truncate(fakecommands_done, 0);
		for (int k = 0; k < 20; k++)
			g_assert_cmpint(
			    desk_write_to(&desk, EVA, reply_to, "What is this?"), ==,
			    k ? FRONT_IGNORED : FRONT_ANSWERED);
		fakecommands_assert("say Eva@example.com unclear;");
		/* That can be answered as the first one could. */
		again = desk_find_reply_to(&desk);
		g_assert_cmpstr(again, ==, reply_to);
		line = g_strdup_printf("Dear paperboy\n\nconfirm %.*s\n",
		    TOKEN_DRAWN_LENGTH, reply_to + strlen("paperboy+c-"));
		typed = letters_new(EVA, "Re: " SUBJECT, line);
		report = desk_hand_in(&desk, typed, EVA, reply_to);
		g_assert_cmpint(report.outcome, ==, FRONT_ANSWERED);
	}
}

static void
a_line_with_a_token_does_not_outweigh_a_refusal(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;
	g_autofree char *subject = NULL;
	pb_auto(letter) letter = NULL;

	desk_init(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "subscribe");
	reply_to = desk_find_reply_to(&desk);
	subject = g_strdup_printf(
	    "confirm %.*s", TOKEN_DRAWN_LENGTH, reply_to + strlen("paperboy+c-"));
	letter = letters_new(EVA, subject, "I never asked for this!");
	g_string_truncate(fakecommands_done, 0);
	desk_hand_in(&desk, letter, EVA, DESK_HOME);
	fakecommands_assert("run Eva@example.com confirm;");
	lab_assert_text(desk.lab, "SELECT count(*) FROM subscriber", "0");
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "0");
}

static void
a_refusal_does_not_block_a_later_request(void)
{
	desk_auto desk;

	desk_init(&desk);
	for (int i = 0; i < 5; i++) {
		g_autofree char *reply_to = NULL;

		/* The limit of a month holds: somebody else may be asking. */
		g_assert_cmpint(desk_write_to(&desk, EVA, DESK_HOME, "subscribe"), ==,
		    i < 3 ? FRONT_ASKED : FRONT_LIMITED);
		reply_to = desk_find_reply_to(&desk);
		/* Once more is not answered either. */
		for (int k = 0; k < 2; k++)
			g_assert_cmpint(desk_write_to(&desk, EVA, reply_to, "no"), ==,
			    FRONT_IGNORED);
	}
	g_assert_cmpint(desk_count_mails(&desk), ==, 3);
}

static void
a_no_to_one_half_of_a_move_ends_both(void)
{
	desk_auto desk;
	g_autofree char *old = NULL;

	desk_init(&desk);
	subscribe(&desk, EVA);
	desk_write_to(&desk, EVA, DESK_HOME, "address thief@example.net");
	old = desk_find_reply_to(&desk);
	desk_write_to(&desk, EVA, old, "No");
	lab_assert_text(desk.lab, "SELECT count(*) FROM ticket", "0");
}

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
    {"4.4 a change of address is confirmed at both",
        row_4_4_a_change_of_address_is_confirmed_at_both},
    {"4.4 a reply token proves its own reader for thirty days",
        row_4_4_a_reply_token_proves_its_own_reader_for_thirty_days},
    {"4.4 unsubscribing acts at once, tells the address, can be undone",
        row_4_4_unsubscribing_acts_at_once_tells_the_address_and_can_be_undone},
    {"an unsubscribe token is not a mail bomb",
        an_unsubscribe_token_is_not_a_mail_bomb},
    {"4.10 a token unsubscribes in silence even for a robot",
        row_4_10_a_token_unsubscribes_in_silence_even_for_a_robot},
    {"4.15 an answer can be answered", row_4_15_an_answer_can_be_answered},
    {"6.1 a token is good once, for its purpose and its time",
        row_6_1_a_token_is_good_once_for_its_purpose_and_its_time},
    {"6.1 forgetting is for an hour", row_6_1_forgetting_is_for_an_hour},
    {"6.2 an unsubscribe token never expires and outlives its key",
        row_6_2_an_unsubscribe_token_never_expires_and_outlives_its_key},
    {"6.3 to unsubscribe is all that an unsubscribe token can",
        row_6_3_to_unsubscribe_is_all_that_an_unsubscribe_token_can},
    {"6.4 a token that was only seen is not used",
        row_6_4_a_token_that_was_only_seen_is_not_used},
    {"6.5 unsubscribing needs nothing but the address",
        row_6_5_unsubscribing_needs_nothing_but_the_address},
    {"6.6 whoever was confirmed by a robot can leave in one step",
        row_6_6_whoever_was_confirmed_by_a_robot_can_leave_in_one_step},
    {"6.7 the consent says when and how", row_6_7_the_consent_says_when_and_how},
    {"the old address is told of a move, whoever confirms last",
        the_old_address_is_told_of_a_move_whoever_confirms_last},
    {"a token of before a move proves nothing after it",
        a_token_of_before_a_move_proves_nothing_after_it},
    {"only a yes carries a request out", only_a_yes_carries_a_request_out},
    {"tokens in any of several recipients count",
        tokens_in_any_of_several_recipients_count},
    {"a reply without text is known by the Message-ID",
        a_reply_without_text_is_known_by_the_message_id},
    {"a confirmation is followed by one question at most",
        a_confirmation_is_followed_by_one_question_at_most},
    {"a line with a token does not outweigh a refusal",
        a_line_with_a_token_does_not_outweigh_a_refusal},
    {"a refusal does not block a later request",
        a_refusal_does_not_block_a_later_request},
    {"a no to one half of a move ends both", a_no_to_one_half_of_a_move_ends_both},
};

int
main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	fakecommands_done = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/tickets/", tests[i].name, NULL);

		g_test_add_func(path, tests[i].test);
	}
	result = g_test_run();
	g_string_free(fakecommands_done, TRUE);
	return result;
}
