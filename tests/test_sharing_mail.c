/*
 * test_sharing_mail.c - two people share and follow a filter by mail.
 */
#include <glib.h>

#include "base/token.h"
#include "lib/conversation.h"
#include "message/subaddress.h"
#include "service/jobs/share_news.h"

static void
set_up(struct conversation *conversation)
{
	conversation_load_templates(conversation);
	conversation_subscribe(conversation, EVA);
	conversation_subscribe(conversation, ADAM);
	store_fixture_list(
	    conversation->fixture, "2026-11-19", "2611.00001", "Agents for all", 3);
	store_fixture_list(
	    conversation->fixture, "2026-11-19", "2611.00002", "Robots at home", 3);
}

/* New versions are offered to Adam, in no mail. */
static void
offer(struct conversation *conversation)
{
	unsigned count;

	g_assert_true(share_news_run(
	    conversation->fixture->store, conversation->options.now, &count, NULL));
}

/* The same, and shown by the newest mail to him. */
static void
report(struct conversation *conversation)
{
	g_autofree char *message = conversation_get_message(conversation, ADAM);
	g_autofree char *sql = g_strdup_printf(
	    "UPDATE proposal SET shown_in = '%s' WHERE state = 'open'", message);

	offer(conversation);
	store_fixture_run(conversation->fixture, sql);
}

/* First digests. */
static void
build_digests(struct conversation *conversation)
{
	store_fixture_run(
	    conversation->fixture, "UPDATE subscriber SET next_due_at = 0");
	g_assert_cmpuint(store_fixture_build_digests(
	                     conversation->fixture, conversation->options.now),
	    ==, 2);
}

/* Adam answers his digest, at the address in its Reply-To. */
static void
answer_digest(struct conversation *conversation)
{
	struct store_fixture *fixture = conversation->fixture;
	g_autofree char *stored =
	    store_fixture_text(fixture, "SELECT message_token FROM digest"
	                                " WHERE subscriber_id = 2");
	g_autofree char *id = token_format_with_id(stored, 2);
	g_autofree char *token = token_sign(fixture->key, SUBADDRESS_TOKEN_REPLY,
	    store_fixture_number(
	        fixture, "SELECT id FROM digest WHERE subscriber_id = 2"),
	    store_fixture_number(
	        fixture, "SELECT created_at FROM digest WHERE subscriber_id = 2"));
	bool has_address = *conversation_delimiter;
	g_autofree char *recipient =
	    has_address ? g_strdup_printf("paperboy+r-%s@example.org", token)
	                : g_strdup_printf("<digest.%s@example.org>", id);
	pb_auto(inmail) mail = conversation_new_mail(ADAM, "Re: papers", "Ja bitte");

	if (has_address)
		g_ptr_array_add(
		    mail->in_reply_to, g_strdup_printf("digest.%s@example.org", id));
	g_assert_cmpint(
	    conversation_hand_in(conversation, mail, ADAM, recipient).outcome, ==,
	    HANDLER_REPLIED);
}

/* The filters of Adam. */

/* Eva shares her first filter; both have addresses for commands. */

/* Adam follows it. */

static void
trust_our_server(struct conversation *conversation)
{
	conversation_set(
	    &conversation->settings->commands_authserv_id, "mx.example.org");
}

static const struct conversation_call calls[] = {
    {"set_up", set_up},
    {"report", report},
    {"offer", offer},
    {"build_digests", build_digests},
    {"answer_digest", answer_digest},
    {"trust_our_server", trust_our_server},
    {NULL, NULL},
};

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	conversation_add_script("sharing_mail", calls);
	return g_test_run();
}
