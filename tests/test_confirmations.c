/*
 * test_confirmations.c - tokens and confirmations: proof, consent, undo, unsubscribing.
 *
 * With fake commands, as test_handler.c.
 */
#include <glib.h>
#include <string.h>

#include "base/token.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

#define SUBJECT "Please confirm your request to paperboy@example.org"

#define EVA_NET "eva@example.net"
#define THIEF   "thief@example.net"

/* Time of the digest of add_digest(), seconds since the epoch. */
#define DIGEST_AT 1795000000

/* Subscribers in the order of their ids, confirmations, the last recipient. */
#define STATES        "SELECT state FROM subscriber ORDER BY id"
#define ADDRESSES     "SELECT address FROM subscriber"
#define CONFIRMATIONS "SELECT count(*) FROM confirmation"
#define RECIPIENT     "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1"

/* Verdict on a reply, calls, confirmations that are left. */
#define DECLINED  "no reply: declined", "", "0"
#define AUTOMATIC "no reply: automatic", "", "1"
#define UNCLEAR   "replied", "say " EVA " Nothing was done yet.;", "1"
#define CONSENT   "replied", "pending " EVA " proven subscribe;", "0"

static void
save(struct conversation *c, const char *name, char *address)
{
	g_hash_table_insert(c->saved, g_strdup(name), address);
}

/* $leave: the unsubscribe address of the subscriber. */
static void
subscribe_eva(struct conversation *c)
{
	conversation_subscribe(c, EVA);
	save(c, "leave", conversation_format_leave(c, c->fixture->key, 1));
}

static void
subscribe_adam(struct conversation *c)
{
	conversation_subscribe(c, ADAM);
	save(c, "leaveadam", conversation_format_leave(c, c->fixture->key, 2));
}

static char *
format_digest_address(struct conversation *c, int64_t made_at)
{
	g_autofree char *token =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_REPLY, 1, made_at);

	return subaddress_format(&c->own_addresses->commands, SUBADDRESS_REPLY, token);
}

/* @param token  of a digest of Eva @return as in In-Reply-To */
static char *
format_message_id(const char *token)
{
	g_autofree char *id = token_format_with_id(token, 1);

	return g_strdup_printf("<digest.%s@example.org>", id);
}

/* $digest: the address for replies to a digest of Eva; $forged: of another time. */
static void
add_digest(struct conversation *c)
{
	store_fixture_run(c->fixture,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token, papers, newest_day, contents) VALUES (1, 'x',"
	    " '2026-11-20', " G_STRINGIFY(
	        DIGEST_AT) ", 'sent', 'abcdefghijklmnopq', 0, '2026-11-20', x'01')");
	if (c->own_addresses->commands.delimiter) {
		save(c, "digest", format_digest_address(c, DIGEST_AT));
		save(c, "forged", format_digest_address(c, DIGEST_AT + 1));
	} else {
		save(c, "digest", format_message_id("abcdefghijklmnopq"));
		save(c, "forged", format_message_id("abcdefghijklmnopr"));
	}
}

static void
let_digest_age_30_days(struct conversation *c)
{
	c->options.now = DIGEST_AT + 30 * DAY;
}

/* The newest mail but one becomes the newest. */
#define DROP_NEWEST RUN("DELETE FROM outbox WHERE id = (SELECT max(id) FROM outbox)")

/* A change of Eva's address to THIEF or EVA_NET waits for $old and $new. */
#define CHANGE_ADDRESS(address)                                                  \
	CALL(subscribe_eva),                                                     \
	    MAIL(EVA, HOME, "address " address, "confirmation requested", NULL), \
	    ROWS("SELECT recipient FROM outbox ORDER BY id", address " " EVA),   \
	    SAVE("old"), DROP_NEWEST, SAVE("new")

static void
token_is_not_stored(struct conversation *c)
{
	const char *address = g_hash_table_lookup(c->saved, "confirm");
	g_autofree char *sql = g_strdup_printf(
	    "SELECT count(*) FROM confirmation WHERE hash || action || details"
	    " LIKE '%%%.*s%%'",
	    TOKEN_RANDOM_LENGTH, address + strlen("paperboy+c-"));

	assert_rows(c->fixture, sql, "0");
}

static void
undo_tokens_differ(struct conversation *c)
{
	g_assert_cmpstr(g_hash_table_lookup(c->saved, "first"), !=,
	    g_hash_table_lookup(c->saved, "second"));
}

/* $older: Eva's unsubscribe address of a key before the current one; $other: of no
 * subscriber. */
static void
save_other_leaves(struct conversation *c)
{
	g_autoptr(GBytes) older =
	    g_bytes_new("an older key of this directory..", TOKEN_KEY_BYTES);

	save(c, "older", conversation_format_leave(c, older, 1));
	save(c, "other", conversation_format_leave(c, c->fixture->key, 2));
}

static void
add_older_key(struct conversation *c)
{
	static const char both[] = STORE_FIXTURE_KEY "an older key of this directory..";

	g_bytes_unref(c->fixture->key);
	c->fixture->key = g_bytes_new_static(both, 2 * TOKEN_KEY_BYTES);
	c->options.key = c->fixture->key;
}

static void
message_without_sender_unsubscribes(struct conversation *c)
{
	pb_auto(inmail) empty = conversation_new_mail("x@example.net", "", "");

	empty->from_fields = 0;
	g_ptr_array_set_size(empty->from, 0);
	g_clear_pointer(&empty->message_id, g_free);
	g_assert_cmpint(
	    conversation_hand_in(c, empty, NULL, g_hash_table_lookup(c->saved, "leave"))
	        .outcome,
	    ==, HANDLER_REPLIED);
}

static void
change_the_address(struct conversation *c)
{
	pb_auto(subscriber) moved = subscribe_change_address(c->fixture->store, EVA,
	    EVA_NET, c->fixture->key, "test", c->options.now, NULL);

	g_assert_nonnull(moved);
}

static void
reply_to_the_message_id(struct conversation *c)
{
	pb_auto(inmail) mail = conversation_new_mail(EVA, "Re: " SUBJECT, "");
	g_autofree char *confirmation = conversation_get_mail(c);
	const char *id =
	    strstr(confirmation, "Message-ID: <") + strlen("Message-ID: <");

	g_ptr_array_add(mail->in_reply_to, g_strndup(id, strcspn(id, ">")));
	conversation_hand_in(c, mail, EVA, g_hash_table_lookup(c->saved, "confirm"));
	conversation_assert_calls(
	    "run " EVA " subscribe;pending " EVA " proven subscribe;");
}

static const struct step conversations[] = {
    TITLE("consent records time and text"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("confirm"),
    LATER(HOUR),
    MAIL(EVA, "$confirm", "Re: ok", "replied", NULL),
    ROWS("SELECT consent_text GLOB 'asked by mail 2026-11-20 09:00:00 UTC; text of the"
         " confirmation sha256:????????????????????????????????????????????????????"
         "????????????; confirmed by mail 2026-11-20 10:00:00 UTC (confirmation 1)'"
         " FROM subscriber",
        "1"),
    ROWS("SELECT what, detail FROM audit_log WHERE who = 'mail' ORDER BY id",
        "confirmation asked|confirm subscriber added|by mail"
        " confirmation used|confirm"),

    TITLE("token is valid once for one purpose until it expires"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "change", "confirmation requested", "run " EVA " change;"),
    SAVE("confirm"),
    /* The token is stored only in queued mail. */
    ROWS("SELECT count(*), max(length(hash)) FROM confirmation", "1|64"),
    CALL(token_is_not_stored),
    /* It is not valid for another purpose. */
    MAIL(EVA, HOME, "undo #confirm", "replied", "run " EVA " undo;"),
    MAIL(
        EVA, "paperboy+r-#confirm@example.org", "list", "replied", "run " EVA " list;"),
    MAIL(ADAM, "paperboy+u-#confirm@example.org", "", "replied",
        "run " ADAM " unsubscribe;"),
    LATER(HANDLER_CONFIRM_S),
    MAIL(EVA, "$confirm", "ok", "replied", "run " EVA " confirm;"),
    LATER(-1),
    MAIL(EVA, "$confirm", "ok", "replied", "pending " EVA " proven change;"),
    MAIL(EVA, "$confirm", "ok", "replied", "run " EVA " confirm;"),
    ROWS("SELECT action, used_at IS NOT NULL FROM confirmation", "|1"),

    TITLE("erasure has to be confirmed within an hour"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "forget", "confirmation requested", NULL),
    SAVE("confirm"),
    LATER(HANDLER_ERASE_S),
    MAIL(EVA, "$confirm", "ok", "replied", "run " EVA " confirm;"),

    TITLE("reply token proves its subscriber for thirty days"),
    CALL(subscribe_eva),
    CALL(subscribe_adam),
    CALL(add_digest),
    CALL(let_digest_age_30_days),
    MAIL("EVA@example.com", "$digest", "change", "replied",
        "run " EVA " proven change;"),
    /* It proves nothing with another From or another token. */
    MAIL(ADAM, "$digest", "change", "confirmation requested", "run " ADAM " change;"),
    MAIL(EVA, "$forged", "change", "confirmation requested", "run " EVA " change;"),
    MAIL(EVA, HOME, "change", "confirmation requested", "run " EVA " change;"),
    LATER(1),
    MAIL(EVA, "$digest", "change", "confirmation requested", "run " EVA " change;"),

    TITLE("reply to a reply is proven"),
    CALL(subscribe_eva),
    MAIL(EVA, HOME, "list", "replied", "run " EVA " list;"),
    HAS("\r\nReply-To: paperboy+r-"),
    SAVE("reply"),
    LATER(30 * DAY),
    MAIL(EVA, "$reply", "change", "replied", "run " EVA " proven change;"),
    LATER(DAY),
    MAIL(EVA, "$reply", "change", "confirmation requested", "run " EVA " change;"),

    TITLE("unsubscribe token in automatic mail: only the subscriber gets a notice"),
    CALL(subscribe_eva),
    MAIL("mailer-daemon@example.net", "$leave", "", "replied",
        "run " EVA " proven unsubscribe;", .field = "Auto-Submitted: auto-generated",
        .envelope = ""),
    ROWS(STATES, "gone"),
    ROWS("SELECT recipient FROM outbox", EVA),
    HAS_NOT("In-Reply-To:"),
    ROWS("SELECT purpose FROM confirmation", "undo"),
    MAIL("mailer-daemon@example.net", "$leave", "", "no reply: null-sender", NULL,
        .field = "Auto-Submitted: auto-generated", .envelope = ""),
    /* A request by the user on another day gets a reply with an undo token. */
    LATER(DAY),
    MAIL(EVA, "$leave", "stop", "replied", "say " EVA " This address is already;"),
    SAVE_UNDO("undo"),
    MAIL(EVA, HOME, "$undo", "replied",
        "run " EVA " undo;pending " EVA " proven restore;"),
    ROWS(STATES, "active"),

    TITLE("repeated unsubscribe tokens get one reply per day"),
    CALL(subscribe_eva),
    MAIL(ADAM, "$leave", "", "replied", NULL, .seconds = 60),
    SAVE_UNDO("first"),
    MAIL(EVA, "$leave", "", "rate limited: unsubscribed-per-day", NULL, .times = 100,
        .seconds = 60),
    MAIL(ADAM, "$leave", "", "rate limited: unsubscribed-per-day", NULL, .times = 99,
        .seconds = 60),
    ROWS("SELECT (SELECT count(*) FROM outbox), state FROM subscriber", "1|gone"),
    /* One reply the next day, with a second token. */
    LATER(DAY),
    MAIL(ADAM, "$leave", "", "replied", NULL),
    MAIL(ADAM, "$leave", "", "rate limited: unsubscribed-per-day", NULL, .times = 199),
    ROWS("SELECT count(*) FROM outbox", "2"),
    ROWS("SELECT DISTINCT recipient FROM outbox", EVA),
    SAVE_UNDO("second"),
    CALL(undo_tokens_differ),
    ROWS("SELECT count(*), count(DISTINCT expires_at) FROM confirmation", "2|1"),
    MAIL(EVA, HOME, "$first", "replied", NULL),
    ROWS(STATES, "active"),
    MAIL(EVA, HOME, "$second", "replied", "run " EVA " undo;"),
    /* Unsubscribing again is reported in spite of the limit. */
    MAIL(EVA, "$leave", "", "replied", NULL),
    ROWS(STATES, "gone"),
    RUN("DELETE FROM outbox"),
    LATER(8 * DAY),
    MAIL(EVA, "$leave", "", "replied", NULL),
    MAIL(EVA, "$leave", "", "rate limited: unsubscribed-per-day", NULL, .times = 199),
    ROWS("SELECT count(*) FROM outbox", "1"),

    TITLE("unsubscribing is immediate reported and can be undone"),
    CALL(subscribe_eva),
    MAIL(EVA, "paperboy+unsubscribe@example.org", "list", "replied", NULL),
    ROWS(STATES, "gone"),
    ROWS("SELECT purpose, recipient, expires_at - made_at FROM confirmation",
        "undo|Eva@example.com|604800"),
    SAVE_UNDO("undo"),
    LATER(HANDLER_UNDO_S - 1),
    /* The reply goes to the subscriber, whoever the sender is. */
    MAIL(EVA_NET, HOME, "$undo", "replied",
        "run " EVA_NET " undo;pending " EVA " proven restore;"),
    ROWS(STATES, "active"),
    ROWS(RECIPIENT, EVA),
    MAIL(EVA_NET, HOME, "$undo", "replied", "run " EVA_NET " undo;"),

    TITLE("unsubscribe token never expires and survives key rotation"),
    CALL(subscribe_eva),
    CALL(save_other_leaves),
    LATER(365 * DAY),
    MAIL(ADAM, "$other", "", "replied", "run " ADAM " unsubscribe;"),
    MAIL(ADAM, "$older", "", "replied", "run " ADAM " unsubscribe;"),
    ROWS(STATES, "active"),
    CALL(add_older_key),
    MAIL(ADAM, "$older", "", "replied", "run " EVA " proven unsubscribe;"),
    ROWS(STATES, "gone"),
    /* Repeating it is harmless, and notifies nobody else. */
    MAIL(ADAM, "$older", "", "rate limited: unsubscribed-per-day", NULL),
    ROWS(RECIPIENT, EVA),

    TITLE("unsubscribe token allows nothing else"),
    CALL(subscribe_eva),
    MAIL(EVA, "paperboy+r-#leave@example.org", "change", "confirmation requested",
        "run " EVA " change;"),
    MAIL(EVA, "$leave", "export", "replied", "run " EVA " proven unsubscribe;"),

    TITLE("bounced or automatic mail does not use a token"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL("scanner@example.net", "$confirm", "seen", "no reply: automatic", "",
        .field = "Auto-Submitted: auto-replied"),
    MAIL("scanner@example.net", "$confirm", "seen", "no reply: null-sender", "",
        .field = "Auto-Submitted: auto-replied", .envelope = ""),
    ROWS("SELECT count(*) FROM subscriber", "0"),
    MAIL(EVA, "$confirm", "yes", "replied", NULL),
    ROWS("SELECT count(*) FROM subscriber", "1"),

    TITLE("unsubscribing needs only the address"),
    CALL(subscribe_eva),
    CALL(message_without_sender_unsubscribes),
    ROWS(STATES, "gone"),

    TITLE("subscription confirmed by a robot can be ended in one step"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL("scanner@example.net", "$confirm", "yes", "replied", NULL),
    /* The welcome went to the address, and a reply to it is proven. */
    ROWS(RECIPIENT, EVA),
    SAVE("reply"),
    MAIL(EVA, "$reply", "unsubscribe", "replied", NULL),
    ROWS(STATES, "gone"),

    TITLE("change of address is confirmed at both addresses"),
    CHANGE_ADDRESS(EVA_NET),
    MAIL(EVA, "$old", "ok", "replied",
        "say " EVA " Confirmed here. The new " EVA_NET ";"),
    MAIL(EVA, "$old", "ok", "replied", "run " EVA " confirm;"),
    MAIL(EVA_NET, "$new", "ok", "replied", "pending " EVA " proven address e;"),
    /* One alone is not enough, even if the other one bounced. */
    MAIL(EVA_NET, HOME, "address wrong@example.net", "confirmation requested", NULL),
    SAVE("old"),
    RUN("DELETE FROM confirmation WHERE recipient = 'wrong@example.net'"),
    MAIL(EVA_NET, "$old", "ok", "replied",
        "say " EVA_NET " Confirmed here. The new wrong@example.net;"),

    TITLE("old address that confirms first is notified of the change"),
    CHANGE_ADDRESS(THIEF),
    RUN("DELETE FROM outbox"),
    MAIL(EVA, "$old", "yes", "replied",
        "say " EVA " Confirmed here. The new " THIEF ";"),
    ROWS("SELECT recipient FROM outbox", EVA),
    RUN("DELETE FROM outbox"),
    MAIL(EVA, "$new", "yes", "replied", NULL),
    ROWS(ADDRESSES, THIEF),
    ROWS("SELECT kind, recipient FROM outbox ORDER BY id",
        "notice|Eva@example.com answer|thief@example.net"),

    TITLE("old address that confirms last is notified of the change"),
    CHANGE_ADDRESS(THIEF),
    RUN("DELETE FROM outbox"),
    MAIL(EVA, "$new", "yes", "replied", "say " THIEF " Confirmed here. The address;"),
    ROWS("SELECT recipient FROM outbox", THIEF),
    RUN("DELETE FROM outbox"),
    MAIL(EVA, "$old", "yes", "replied", NULL),
    ROWS(ADDRESSES, THIEF),
    ROWS("SELECT kind, recipient FROM outbox ORDER BY id",
        "notice|Eva@example.com answer|thief@example.net"),

    TITLE("tokens from before a change of address prove nothing"),
    CALL(subscribe_eva),
    CALL(add_digest),
    MAIL(EVA, HOME, "change", "confirmation requested", NULL),
    SAVE("change"),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("reply"),
    MAIL(EVA, "$reply", "list", "replied", "run " EVA " proven list;"),
    MAIL(EVA, "$digest", "list", "replied", "run " EVA " proven list;"),
    LATER(HOUR),
    CALL(change_the_address),
    MAIL(EVA_NET, "$reply", "list", "replied", "run " EVA_NET " list;"),
    MAIL(EVA_NET, "$digest", "list", "replied", "run " EVA_NET " list;"),
    MAIL(EVA, "$leave", "", "replied", "run " EVA " unsubscribe;"),
    MAIL(EVA, "$change", "yes", "replied", "run " EVA " confirm;"),
    ROWS(STATES, "active"),
    /* Tokens from after it are valid. */
    MAIL(EVA_NET, HOME, "list", "replied", NULL),
    SAVE("reply"),
    MAIL(EVA_NET, "$reply", "list", "replied", "run " EVA_NET " proven list;"),

    TITLE("tokens in any recipient are used"),
    CHANGE_ADDRESS(EVA_NET),
    MAIL(EVA,
        HOME "\n$old\npaperboy+help@example.org\n"
             "paperboy+nothing-that-is-known@example.org\n$new",
        "yes", "replied",
        "say " EVA " Confirmed here. The new " EVA_NET ";pending " EVA
        " proven address e;"),
    ROWS(ADDRESSES, EVA_NET),
    /* Of a subscriber whose address has not changed. */
    CALL(subscribe_adam),
    MAIL(ADAM, HOME "\n$leaveadam", "list", "replied", NULL),
    ROWS(STATES, "active gone"),
    MAIL(EVA, "paperboy+nothing@example.org", "list", "no reply: unknown-address", ""),

    TITLE("empty reply is recognised by message id"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("confirm"),
    CALL(reply_to_the_message_id),

    TITLE("refusal overrides a line with a token"),
    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
    SAVE("confirm"),
    MAIL(EVA, HOME, "confirm #confirm", "no reply: declined", "run " EVA " confirm;",
        .text = "I never asked for this!"),
    ROWS("SELECT count(*) FROM subscriber", "0"),
    ROWS(CONFIRMATIONS, "0"),

    TITLE("declining one half revokes a change of address"),
    CHANGE_ADDRESS(THIEF),
    MAIL(EVA, "$old", "No", "no reply: declined", NULL),
    ROWS(CONFIRMATIONS, "0"),
    {.kind = STEP_END},
};

TEST(only_consent_applies_a_request)
{
	static const struct {
		const char *subject, *text, *verdict, *calls, *confirmations;
	} rows[] = {
	    {"Re: " SUBJECT, "No, I did not ask for this.\n", DECLINED},
	    {"Re: " SUBJECT, "nein danke\n", DECLINED},
	    {"Re: " SUBJECT, "I never asked for this, leave me alone!", DECLINED},
	    {"Re: " SUBJECT, "Please remove me from your list", DECLINED},
	    {"Re: " SUBJECT, "\u4e0d\u8981", DECLINED},
	    {"no", "", DECLINED},
	    {"Undeliverable: " SUBJECT, "Yes", AUTOMATIC},
	    {"[Ticket #123] " SUBJECT, "Yes, I am away.", AUTOMATIC},
	    {"Out of Office: " SUBJECT, "I am away.", AUTOMATIC},
	    {"Re: " SUBJECT, "What is this??", UNCLEAR},
	    {"Re: " SUBJECT, "Thanks", UNCLEAR},
	    {"Re: " SUBJECT, "", UNCLEAR},
	    {"Re: " SUBJECT, "Yes, no problem", CONSENT},
	    {"Re: " SUBJECT, "OK", CONSENT},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		bool has_consented = strncmp(rows[i].calls, "pending", 7) == 0;
		const struct step steps[] = {
		    MAIL(EVA, HOME, "subscribe", "confirmation requested", NULL),
		    SAVE("confirm"),
		    MAIL(EVA, "$confirm", rows[i].subject, rows[i].verdict,
		        rows[i].calls, .text = rows[i].text),
		    ROWS("SELECT count(*) FROM subscriber", has_consented ? "1" : "0"),
		    ROWS("SELECT count(*) FROM outbox", *rows[i].calls ? "2" : "1"),
		    /* After an automatic or unclear reply the user can confirm. */
		    ROWS("SELECT count(*) FROM confirmation WHERE used_at IS NULL",
		        rows[i].confirmations),
		    {.kind = STEP_END},
		};
		pb_auto(conversation) c = conversation_new();

		conversation_play(c, steps);
	}
}

TEST(unclear_reply_is_questioned_once)
{
	static const char *const commands[] = {
	    "change", "address eva@example.net", "forget", "export"};

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		const struct step steps[] = {
		    CALL(subscribe_eva),
		    MAIL(EVA, HOME, commands[i], "confirmation requested", NULL),
		    SAVE("confirm"),
		    MAIL(EVA, "$confirm", "What is this?", "replied",
		        "say " EVA " Nothing was done yet.;"),
		    MAIL(EVA, "$confirm", "What is this?", "no reply: unclear", "",
		        .times = 19),
		    /* The question can be answered like the request. */
		    HAS("\r\nReply-To: $confirm\r\n"),
		    MAIL(EVA, "$confirm", "Re: " SUBJECT, "replied", NULL,
		        .text = "Dear paperboy\n\nconfirm #confirm\n"),
		    {.kind = STEP_END},
		};
		pb_auto(conversation) c = conversation_new();

		conversation_play(c, steps);
	}
}

TEST(declining_does_not_block_a_later_request)
{
	pb_auto(conversation) c = conversation_new();

	for (int i = 0; i < 5; i++) {
		const struct step steps[] = {
		    /* The limit per month still holds. */
		    MAIL(EVA, HOME, "subscribe",
		        i < 3 ? "confirmation requested"
		              : "rate limited: confirmations-per-month",
		        NULL),
		    SAVE("confirm"),
		    /* A further refusal gets no reply, either. */
		    MAIL(EVA, "$confirm", "no", "no reply: declined", NULL),
		    MAIL(EVA, "$confirm", "no", "no reply: declined", NULL),
		    {.kind = STEP_END},
		};

		conversation_play(c, steps);
	}
	g_assert_cmpint(conversation_count_mails(c), ==, 3);
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
