/*
 * test_autoreply_policy.c - reasons not to reply, recipients, and authentication
 * results.
 */
#include "service/inbound/autoreply_policy.h"

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"

#define TOKEN "abcdefghijklmnopqrstuvwxyz"

static struct subaddress_base base, bounces, bare;

static const struct autoreply_settings settings = {
    .base = &base,
    .bounces = &bounces,
    .from = "digest@example.org",
    .message_domain = "example.org",
    .authserv_id = "mx.example.org",
};

static const struct autoreply_settings without = {
    .base = &bare,
    .bounces = &bare,
    .from = "digest@example.org",
    .message_domain = "example.org",
    .authserv_id = "",
};

#define autoreply_verdict_auto \
	__attribute__((cleanup(autoreply_clear))) struct autoreply_verdict

static struct inmail *
new_mail(void)
{
	return conversation_new_mail("Eva@example.com", "subscribe", "");
}

static const char *
check(const struct inmail *mail, const char *sender, const char *recipient,
    struct autoreply_verdict *verdict)
{
	const struct receive_mail envelope = {.sender = sender, .recipient = recipient};

	autoreply_clear(verdict);
	autoreply_check(&settings, mail, &envelope, verdict);
	return verdict->reason;
}

TEST(personal_mail_gets_a_reply)
{
	pb_auto(inmail) mail = new_mail();
	autoreply_verdict_auto verdict = {0};

	conversation_add_field(mail, "Auto-Submitted: no");
	conversation_add_field(mail, "Precedence: first-class");
	conversation_add_field(mail, "X-Auto-Response-Suppress: None");
	conversation_add_field(mail, "X-Loop: somebody-else@example.net");
	mail->received = BOUNDS_MAIL_HOPS;
	g_assert_null(check(mail, "eva@example.com", "paperboy@example.org", &verdict));
	g_assert_cmpint(verdict.kind, ==, SUBADDRESS_COMMANDS);
	g_assert_cmpstr(verdict.address, ==, "Eva@example.com");
	g_assert_cmpstr(verdict.key, ==, "eva@example.com");
}

TEST(automatic_mail_gets_no_reply)
{
	CASES_FOREACH(row, "autoreply_policy_automatic", *field, *why) {
		pb_auto(inmail) mail = new_mail();
		autoreply_verdict_auto verdict = {0};

		conversation_add_field(mail, row->field);
		g_assert_cmpstr(
		    check(mail, NULL, "paperboy@example.org", &verdict), ==, row->why);
	}
}

TEST(robots_and_our_own_addresses_get_no_reply)
{
	CASES_FOREACH(row, "autoreply_policy_robots", *from, *why) {
		pb_auto(inmail) mail = conversation_new_mail(row->from, "help", "");
		pb_auto(inmail) other = new_mail();
		autoreply_verdict_auto verdict = {0};

		g_assert_cmpstr(
		    check(mail, NULL, "paperboy@example.org", &verdict), ==, row->why);
		/* The same as envelope sender. */
		g_assert_cmpstr(
		    check(other, row->from, "paperboy@example.org", &verdict), ==,
		    row->why);
	}
}

TEST(null_senders_reports_and_loops_get_no_reply)
{
	pb_auto(inmail) mail = new_mail();
	autoreply_verdict_auto verdict = {0};

	g_assert_cmpstr(
	    check(mail, "", "paperboy@example.org", &verdict), ==, "null-sender");
	mail->return_path = g_strdup("");
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "null-sender");
	/* The envelope takes precedence. */
	g_assert_null(check(mail, "eva@example.com", NULL, &verdict));
	mail->received = BOUNDS_MAIL_HOPS + 1;
	g_assert_cmpstr(check(mail, "eva@example.com", NULL, &verdict), ==, "loop");
	for (int kind = INMAIL_REPORT_DELIVERY; kind <= INMAIL_REPORT_OTHER; kind++) {
		mail->report = (enum inmail_report)kind;
		g_assert_cmpstr(
		    check(mail, "eva@example.com", NULL, &verdict), ==, "report");
	}
}

TEST(our_own_mail_is_recognised_by_its_message_id)
{
	pb_auto(inmail) mail = new_mail();
	autoreply_verdict_auto verdict = {0};

	g_free(mail->message_id);
	mail->message_id = g_strdup("letter.abc@example.org");
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "own-mail");
	g_free(mail->message_id);
	mail->message_id = g_strdup("digest.4.abc@EXAMPLE.org");
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "own-mail");
	/* Users may have addresses in our domain. */
	g_free(mail->message_id);
	mail->message_id = g_strdup("4711@example.org");
	g_assert_null(check(mail, NULL, NULL, &verdict));
}

TEST(the_only_from_names_the_requester)
{
	pb_auto(inmail) mail = new_mail();
	autoreply_verdict_auto verdict = {0};

	conversation_add_address(mail->reply_to, "victim@example.net");
	conversation_add_address(mail->sender, "victim@example.net");
	conversation_add_address(mail->cc, "victim@example.net");
	g_assert_null(
	    check(mail, "victim@example.net", "paperboy@example.org", &verdict));
	g_assert_cmpstr(verdict.address, ==, "Eva@example.com");

	mail->from_fields = 2;
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "multiple-from");
	g_assert_null(verdict.address);
	mail->from_fields = 1;
	conversation_add_address(mail->from, "adam@example.com");
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "multiple-from");
	g_assert_null(verdict.address);
	g_ptr_array_set_size(mail->from, 0);
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "no-from");
	mail->from_fields = 0;
	g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "no-from");
}

TEST(invalid_from_addresses_get_no_reply)
{
	static const char *const addresses[] = {"\"\"@example.com",
	    "\"a b\"@example.com", "eva@[127.0.0.1]", "eva@localhost",
	    "@relay.example:eva@example.com", "eva%example.com@example.org",
	    "eva!host@example.com", "eva", "@example.com", "eva@example..com",
	    "e va@example.com", "eva\r\nBcc: x@example.com"};

	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		pb_auto(inmail) mail =
		    conversation_new_mail(addresses[i], "subscribe", "");
		autoreply_verdict_auto verdict = {0};

		g_assert_cmpstr(check(mail, NULL, NULL, &verdict), ==, "no-from");
		g_assert_null(verdict.address);
	}
}

TEST(recipient_address_selects_the_purpose)
{
	static const struct {
		const char *recipient;
		enum subaddress_kind kind;
		const char *token;
	} rows[] = {
	    {"paperboy@example.org", SUBADDRESS_COMMANDS, ""},
	    {"PAPERBOY@EXAMPLE.ORG", SUBADDRESS_COMMANDS, ""},
	    {"paperboy+subscribe@example.org", SUBADDRESS_SUBSCRIBE, ""},
	    {"paperboy+unsubscribe@example.org", SUBADDRESS_UNSUBSCRIBE, ""},
	    {"paperboy+help@example.org", SUBADDRESS_HELP, ""},
	    {"paperboy+owner@example.org", SUBADDRESS_OWNER, ""},
	    {"paperboy+c-" TOKEN "@example.org", SUBADDRESS_CONFIRM, TOKEN},
	    {"PAPERBOY+C-ABC@example.org", SUBADDRESS_CONFIRM, "abc"},
	    {"paperboy+r-abc@example.org", SUBADDRESS_REPLY, "abc"},
	    {"paperboy+u-abc@example.org", SUBADDRESS_LEAVE, "abc"},
	    {"paperboy+p-abc@example.org", SUBADDRESS_PAUSE, "abc"},
	    {"paperboy+w-abc@example.org", SUBADDRESS_WEEKLY, "abc"},
	    {"paperboy+f-abc@example.org", SUBADDRESS_FEWER, "abc"},
	    {"paperboy+b-abc@example.org", SUBADDRESS_BOUNCE, "abc"},
	    {"bounces+b-abc@back.example.org", SUBADDRESS_BOUNCE, "abc"},
	    {"paperboy+c-@example.org", SUBADDRESS_UNKNOWN, ""},
	    {"paperboy+c-" TOKEN "a@example.org", SUBADDRESS_UNKNOWN, ""},
	    {"paperboy+subscribed@example.org", SUBADDRESS_UNKNOWN, ""},
	    {"paperboy+@example.org", SUBADDRESS_UNKNOWN, ""},
	    {"root@mail.example.org", SUBADDRESS_COMMANDS, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(inmail) mail = new_mail();
		autoreply_verdict_auto verdict = {0};

		check(mail, NULL, rows[i].recipient, &verdict);
		g_assert_cmpint(verdict.kind, ==, rows[i].kind);
		g_assert_cmpstr(verdict.token, ==, rows[i].token);
	}
}

#define TAGGED(kind_) "[" kind_ "-" TOKEN "]"

/* With subaddresses, too: links of older digests stay valid. */
TEST(tag_in_the_subject_selects_the_purpose)
{
	static const struct {
		const char *subject;
		enum subaddress_kind kind;
		const char *rest; /* of the subject; NULL: no tag */
	} rows[] = {
	    {"Re: Please confirm " TAGGED("c"), SUBADDRESS_CONFIRM,
	        "Re: Please confirm"},
	    {"RE: PLEASE CONFIRM " TAGGED("C"), SUBADDRESS_CONFIRM,
	        "RE: PLEASE CONFIRM"},
	    {TAGGED("u") " unsubscribe", SUBADDRESS_LEAVE, "unsubscribe"},
	    {"Re: [list] " TAGGED("p") " pause", SUBADDRESS_PAUSE, "Re: [list] pause"},
	    {TAGGED("w"), SUBADDRESS_WEEKLY, ""},
	    {"[" TAGGED("f") "]", SUBADDRESS_FEWER, "[ ]"},
	    {TAGGED("check"), SUBADDRESS_CHECK, ""},
	    /* These have another place. */
	    {TAGGED("r"), SUBADDRESS_COMMANDS, NULL},
	    {TAGGED("b"), SUBADDRESS_COMMANDS, NULL},
	    {"[c-users] subscribe", SUBADDRESS_COMMANDS, NULL},
	    {"[c-" TOKEN "a]", SUBADDRESS_COMMANDS, NULL},
	    {"[c-abcdefghijklmnopqrstuvwxy8]", SUBADDRESS_COMMANDS, NULL},
	    {"[c-]", SUBADDRESS_COMMANDS, NULL},
	    {"[c-" TOKEN, SUBADDRESS_COMMANDS, NULL},
	    {"", SUBADDRESS_COMMANDS, NULL},
	};
	const struct autoreply_settings *modes[] = {&settings, &without};

	for (size_t i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
		static const struct receive_mail envelope = {.recipient = HOME};
		pb_auto(inmail) mail =
		    conversation_new_mail("eva@example.com", rows[i / 2].subject, "");
		autoreply_verdict_auto verdict = {0};

		autoreply_check(modes[i % 2], mail, &envelope, &verdict);
		g_test_message("%s", rows[i / 2].subject);
		g_assert_cmpint(verdict.kind, ==, rows[i / 2].kind);
		g_assert_cmpstr(verdict.subject, ==, rows[i / 2].rest);
		g_assert_cmpstr(verdict.token, ==, rows[i / 2].rest ? TOKEN : "");
	}
}

/* A Message-ID is known to everybody who sees a reply: Reply-To has better tokens. */
TEST(message_id_identifies_replies_only_without_subaddresses)
{
	static const struct receive_mail envelope = {.recipient = HOME};

	CASES_FOREACH(row, "autoreply_policy_message_ids", *in_reply_to, *references,
	    *token, *is_message_id) {
		pb_auto(inmail) mail = new_mail();
		autoreply_verdict_auto verdict = {0};

		if (row->in_reply_to)
			g_ptr_array_add(mail->in_reply_to, g_strdup(row->in_reply_to));
		if (row->references) {
			g_ptr_array_add(
			    mail->references, g_strdup("first@example.net"));
			g_ptr_array_add(mail->references, g_strdup(row->references));
		}
		autoreply_check(&without, mail, &envelope, &verdict);
		g_test_message("%s", row->in_reply_to ? row->in_reply_to : "-");
		g_assert_cmpint(verdict.kind, ==,
		    *row->token ? SUBADDRESS_REPLY : SUBADDRESS_COMMANDS);
		g_assert_cmpstr(verdict.token, ==, row->token);
		g_assert_true(
		    verdict.is_message_id == cases_is_yes(row->is_message_id));
		check(mail, NULL, HOME, &verdict);
		g_assert_cmpint(verdict.kind, ==, SUBADDRESS_COMMANDS);
	}
}

TEST(every_envelope_recipient_is_a_target)
{
	CASES_FOREACH(row, "autoreply_policy_targets", *recipients, *targets) {
		pb_auto(inmail) mail = new_mail();
		autoreply_verdict_auto verdict = {0};
		g_autoptr(GString) found = g_string_new(NULL);

		check(mail, NULL, row->recipients, &verdict);
		for (unsigned k = 0; k < verdict.targets->len; k++) {
			autoreply_select(&verdict, k);
			g_string_append_printf(
			    found, "%s%d%s", k ? " " : "", verdict.kind, verdict.token);
		}
		g_assert_cmpstr(found->str, ==, row->targets);
	}
}

TEST(header_is_used_if_the_envelope_was_rewritten)
{
	pb_auto(inmail) mail = new_mail();
	autoreply_verdict_auto verdict = {0};

	conversation_add_address(mail->to, "eva@example.net");
	conversation_add_address(mail->to, "paperboy+u-abc@example.org");
	check(mail, NULL, "robot@mail.example.org", &verdict);
	g_assert_cmpint(verdict.kind, ==, SUBADDRESS_LEAVE);
	mail->delivered_to = g_strdup("paperboy+help@example.org");
	check(mail, NULL, "robot@mail.example.org", &verdict);
	g_assert_cmpint(verdict.kind, ==, SUBADDRESS_HELP);
	mail->original_to = g_strdup("paperboy+c-xyz@example.org");
	check(mail, NULL, NULL, &verdict);
	g_assert_cmpint(verdict.kind, ==, SUBADDRESS_CONFIRM);
	/* The envelope has one of our addresses. */
	check(mail, NULL, "paperboy@example.org", &verdict);
	g_assert_cmpint(verdict.kind, ==, SUBADDRESS_COMMANDS);
}

static struct inmail *
vouched(
    const char *server, const char *method, const char *result, const char *properties)
{
	struct inmail *mail = new_mail();

	conversation_add_result(mail, server, method, result, properties);
	return mail;
}

TEST(only_the_topmost_result_of_our_own_server_is_trusted)
{
	struct autoreply_settings off = settings;
	autoreply_verdict_auto verdict = {0};

	CASES_FOREACH(row, "autoreply_policy_topmost", *server, *method, *result,
	    *properties, *is_verified) {
		pb_auto(inmail) mail =
		    vouched(row->server, row->method, row->result, row->properties);

		check(mail, NULL, NULL, &verdict);
		g_assert_cmpint(
		    verdict.is_verified, ==, cases_is_yes(row->is_verified));
	}
	{
		/* One below that of another server, and a contradictory one. */
		pb_auto(inmail) below = vouched(
		    "mx.evil.example", "dmarc", "pass", "header.from=x.example");
		pb_auto(inmail) both = vouched(
		    "mx.example.org", "dmarc", "pass", "header.from=example.com");
		const struct receive_mail none = {0};
		struct auth_results *top = both->authentications->pdata[0];

		conversation_add_result(below, "mx.example.org", "dmarc", "pass",
		    "header.from=example.com");
		check(below, NULL, NULL, &verdict);
		g_assert_false(verdict.is_verified);
		/* Off unless configured. */
		off.authserv_id = "";
		autoreply_clear(&verdict);
		autoreply_check(&off, both, &none, &verdict);
		g_assert_false(verdict.is_verified);
		g_ptr_array_add(top->results, auth_result_new("dmarc", "fail", ""));
		check(both, NULL, NULL, &verdict);
		g_assert_false(verdict.is_verified);
	}
}

TEST(results_are_aligned_with_the_domain_of_from)
{
	autoreply_verdict_auto verdict = {0};

	CASES_FOREACH(row, "autoreply_policy_domains", *method, *result, *properties,
	    *is_aligned, *is_failed) {
		pb_auto(inmail) mail = vouched(
		    "mx.example.org", row->method, row->result, row->properties);
		struct inmail_address *from = mail->from->pdata[0];

		conversation_set(&from->address, "eva@sub.example.com");
		check(mail, NULL, NULL, &verdict);
		g_test_message("%s=%s %s", row->method, row->result, row->properties);
		g_assert_true(verdict.is_aligned == cases_is_yes(row->is_aligned));
		g_assert_true(verdict.is_failed == cases_is_yes(row->is_failed));
		/* A pass of DMARC below one of another server does not count, a failure
		 * does; DKIM does not make up for it. */
		conversation_add_result(mail, "mx.example.org", "dmarc", "fail", "");
		check(mail, NULL, NULL, &verdict);
		g_assert_true(!verdict.is_aligned && !verdict.is_verified);
		g_assert_true(verdict.is_failed);
	}
}

TEST(rate_key_ignores_subaddress_and_dots)
{
	CASES_FOREACH(row, "autoreply_policy_rate_keys", *address, *limit_key) {
		g_autofree char *limit_key = autoreply_format_rate_key(row->address);

		g_assert_cmpstr(limit_key, ==, row->limit_key);
	}
	for (size_t i = 0; i < 2; i++) {
		static const char *const addresses[] = {
		    "a+1@example.com", "a.b@example.com"};
		pb_auto(inmail) mail = conversation_new_mail(addresses[i], "help", "");
		autoreply_verdict_auto verdict = {0};

		check(mail, NULL, NULL, &verdict);
		g_assert_cmpstr(verdict.key, ==, addresses[i]);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_true(subaddress_base_parse("paperboy@example.org", "+", &base, NULL));
	g_assert_true(
	    subaddress_base_parse("bounces@back.example.org", "+", &bounces, NULL));
	g_assert_true(subaddress_base_parse(HOME, "", &bare, NULL));
	unit_add_all();
	return g_test_run();
}
