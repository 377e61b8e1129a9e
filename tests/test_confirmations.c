/*
 * test_confirmations.c - tokens and confirmations: proof, consent, undo, unsubscribing.
 *
 * With fake commands, as test_handler.c.
 */
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

/* A change of Eva's address to THIEF or EVA_NET waits for $old and $new. */

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
	pb_auto(inmail) mail = conversation_new_mail(
	    EVA, "Re: Confirm: papers about diffusion by mail", "");
	g_autofree char *confirmation = conversation_get_mail(c);
	const char *id =
	    strstr(confirmation, "Message-ID: <") + strlen("Message-ID: <");

	g_ptr_array_add(mail->in_reply_to, g_strndup(id, strcspn(id, ">")));
	conversation_hand_in(c, mail, EVA, g_hash_table_lookup(c->saved, "confirm"));
	conversation_assert_calls(
	    "run " EVA " subscribe;pending " EVA " proven subscribe;");
}

static const struct conversation_call calls[] = {
    {"subscribe_eva", subscribe_eva},
    {"token_is_not_stored", token_is_not_stored},
    {"subscribe_adam", subscribe_adam},
    {"add_digest", add_digest},
    {"let_digest_age_30_days", let_digest_age_30_days},
    {"undo_tokens_differ", undo_tokens_differ},
    {"save_other_leaves", save_other_leaves},
    {"add_older_key", add_older_key},
    {"message_without_sender_unsubscribes", message_without_sender_unsubscribes},
    {"change_the_address", change_the_address},
    {"reply_to_the_message_id", reply_to_the_message_id},
    {NULL, NULL},
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

		subscribe_eva(c);
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
	conversation_add_script("confirmations", calls);
	unit_add_all();
	return g_test_run();
}
