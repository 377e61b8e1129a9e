/*
 * test_front.c - from a letter to its one answer: tickets, tokens, limits, silence.
 *
 * The commands are made up here, so that what the front itself lets through shows.
 */
#include "service/front.h"

#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "lib/lab.h"
#include "lib/letters.h"
#include "service/command.h"
#include "service/forget.h"
#include "service/subscribe.h"
#include "store/people.h"

#define NOW  "2026-11-20T09:00:00Z"
#define DAY  86400
#define HOUR 3600
#define HOME "paperboy@example.org"
#define EVA  "Eva@example.com"

/* What the made-up commands were asked to do: "run eva@example.com proven". */
static GString *done;

void
command_reply_clear(struct command_reply *reply)
{
	g_free(reply->subject);
	g_free(reply->text);
	g_free(reply->pending);
	g_free(reply->new_address);
	g_free(reply->new_text);
	g_free(reply->old_address);
	g_free(reply->old_subject);
	g_free(reply->old_text);
	g_free(reply->undo);
	g_free(reply->confirm_token);
	g_free(reply->undo_token);
	g_free(reply->attachment);
	g_free(reply->attachment_name);
	g_free(reply->attachment_type);
	*reply = (struct command_reply){0};
}

static char *
fill(const char *text, const char *mark, const char *token)
{
	g_auto(GStrv) parts = g_strsplit(text ? text : "", mark, -1);

	return g_strjoinv(token ? token : "", parts);
}

void
command_reply_fill(struct command_reply *reply, const char *confirm, const char *undo)
{
	g_autofree char *once = fill(reply->text, COMMAND_CONFIRM_MARK, confirm);

	g_free(reply->text);
	reply->text = fill(once, COMMAND_UNDO_MARK, undo);
}

static const struct {
	const char *word;
	enum command_purpose purpose;
} waiting[] = {
    {"change", COMMAND_CONFIRM_CHANGE},
    {"export", COMMAND_CONFIRM_EXPORT},
    {"address", COMMAND_CONFIRM_ADDRESS},
    {"forget", COMMAND_CONFIRM_FORGET},
};

static bool
unsubscribe(const struct command_context *context,
    const struct command_visitor *visitor, struct command_reply *reply, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	reply->text = g_strdup("gone; undo " COMMAND_UNDO_MARK "\n");
	if (!visitor->subscriber_id)
		return true;
	reply->undo = g_strdup("restore");
	subscriber = people_load(context->store, visitor->subscriber_id, error);
	return subscriber &&
	       subscribe_let_go(context->store, subscriber, context->now, error);
}

bool
command_run(const struct command_context *context,
    const struct command_visitor *visitor, const struct letter *letter,
    struct command_reply *reply, GError **error)
{
	const char *said = visitor->verb ? visitor->verb : letter->subject;
	g_auto(GStrv) words = g_strsplit(said, " ", -1);
	const char *word = words[0] ? words[0] : "";

	g_string_append_printf(done, "run %s%s %s;", visitor->address,
	    visitor->is_proven ? " proven" : "", word);
	if (g_str_equal(word, "unsubscribe"))
		return unsubscribe(context, visitor, reply, error);
	reply->text = g_strdup("an answer\n");
	if (g_str_equal(word, "confirm"))
		reply->confirm_token = g_strdup(words[1] ? words[1] : "");
	else if (g_str_equal(word, "undo"))
		reply->undo_token = g_strdup(words[1]);
	else if (g_str_equal(word, ""))
		reply->is_help = true;
	else if (g_str_equal(word, "subscribe") && !visitor->subscriber_id) {
		reply->pending = g_strdup("subscribe\nadd diffusion");
		reply->purpose = COMMAND_CONFIRM_SUBSCRIBE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++)
		if (g_str_equal(word, waiting[i].word) &&
		    (visitor->subscriber_id ||
		        waiting[i].purpose == COMMAND_CONFIRM_FORGET) &&
		    (i > 0 || !visitor->is_proven)) {
			reply->pending = g_strdup(said);
			reply->purpose = waiting[i].purpose;
		}
	if (reply->purpose == COMMAND_CONFIRM_ADDRESS) {
		reply->new_address = g_strdup(words[1]);
		reply->new_text = g_strdup("new " COMMAND_CONFIRM_MARK "\n");
	}
	if (reply->pending) {
		g_free(reply->text);
		reply->text = g_strdup("confirm " COMMAND_CONFIRM_MARK "\n");
	}
	return true;
}

bool
command_say(const struct command_context *context,
    const struct command_visitor *visitor, const char *phrase,
    struct command_reply *reply, GError **error)
{
	(void)context;
	(void)error;
	g_string_append_printf(done, "say %s %s;", visitor->address, phrase);
	reply->text = g_strconcat(phrase, "; undo " COMMAND_UNDO_MARK "\n", NULL);
	return true;
}

bool
command_run_pending(const struct command_context *context,
    const struct command_visitor *visitor, const char *pending,
    struct command_reply *reply, GError **error)
{
	const struct subscribe_request request = {.address = visitor->address,
	    .consent = "by mail",
	    .zone = "UTC",
	    .max_full = 20,
	    .who = context->who,
	    .key = context->key};
	pb_auto(subscriber) added = NULL;

	if (g_str_has_prefix(pending, "address ") && visitor->subscriber_id) {
		added = subscribe_change_address(context->store, visitor->address,
		    pending + strlen("address "), context->key, context->who,
		    context->now, error);
		reply->old_address = g_strdup(visitor->address);
		reply->old_subject = g_strdup("moved");
		reply->old_text = g_strdup("it moved\n");
		if (!added)
			return false;
	}
	g_string_append_printf(done, "pending %s%s %.9s;", visitor->address,
	    visitor->is_proven ? " proven" : "", pending);
	reply->text = g_strdup("welcome\n");
	if (g_str_equal(pending, "forget"))
		reply->is_forgotten = true;
	if (g_str_equal(pending, "export")) {
		reply->attachment = g_strdup("{}\n");
		reply->attachment_name = g_strdup("paperboy-export.json");
		reply->attachment_type = g_strdup("application/json");
	}
	if (!g_str_has_prefix(pending, "subscribe") && !g_str_equal(pending, "restore"))
		return true;
	reply->is_changed = true;
	added =
	    subscribe_add(context->store, &request, context->now, NULL, NULL, error);
	return added != NULL;
}

/* A house with a door. */
struct bench {
	struct lab *lab;
	struct settings *settings;
	struct house *house;
	struct front_options options;
	uint8_t drawn;
};

static void
draw(void *data, uint8_t *octets, size_t size)
{
	struct bench *bench = data;

	memset(octets, 0, size);
	octets[0] = ++bench->drawn;
	octets[1] = (uint8_t)(bench->options.now & 0xff);
	octets[2] = (uint8_t)(bench->options.now >> 8 & 0xff);
	octets[3] = (uint8_t)(bench->options.now >> 16 & 0xff);
}

static void
set_text(char **setting, const char *text)
{
	g_free(*setting);
	*setting = g_strdup(text);
}

static void
bench_init(struct bench *bench)
{
	GError *error = NULL;

	*bench = (struct bench){.lab = lab_new(), .settings = settings_new()};
	set_text(&bench->settings->mail_from, HOME);
	set_text(&bench->settings->mail_owner, "owner@example.org");
	set_text(&bench->settings->commands_address, HOME);
	bench->house = house_new(bench->settings, &error);
	g_assert_no_error(error);
	bench->options = (struct front_options){
	    .settings = bench->settings,
	    .house = bench->house,
	    .key = bench->lab->key,
	    .draw = draw,
	    .data = bench,
	    .now = lab_time(NOW),
	};
	g_string_truncate(done, 0);
}

static void
bench_clear(struct bench *bench)
{
	lab_assert_idle(bench->lab);
	house_free(bench->house);
	settings_free(bench->settings);
	lab_free(bench->lab);
}

#define bench_auto __attribute__((cleanup(bench_clear))) struct bench

static struct front_report
hand_in(struct bench *bench, const struct letter *letter, const char *sender,
    const char *recipient)
{
	const struct front_envelope envelope = {1, sender, recipient};
	struct front_report report = {0};
	pb_transaction transaction = {0};
	GError *error = NULL;

	g_assert_true(store_begin(bench->lab->store, &transaction, &error));
	front_handle(
	    bench->lab->store, &bench->options, letter, &envelope, &report, &error);
	g_assert_no_error(error);
	g_assert_true(store_commit(&transaction, &error));
	return report;
}

/* A plain letter. @return what came of it */
static enum front_outcome
write_to(
    struct bench *bench, const char *from, const char *recipient, const char *subject)
{
	pb_auto(letter) letter = letters_new(from, subject, "");

	return hand_in(bench, letter, from, recipient).outcome;
}

static int64_t
count_mails(struct bench *bench)
{
	return lab_number(bench->lab, "SELECT count(*) FROM outbox");
}

/* The newest mail. @return a new string */
static char *
get_mail(struct bench *bench)
{
	return lab_text(bench->lab,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
}

/* An address of ours in the newest mail. @return a new string */
static char *
find_address(struct bench *bench, const char *field)
{
	g_autofree char *mail = get_mail(bench);
	const char *at = strstr(mail, field);
	const char *end;

	g_assert_nonnull(at);
	at += strlen(field);
	end = strstr(at, "\r\n");
	return g_strndup(at, (gsize)(end - at));
}

static char *
find_reply_to(struct bench *bench)
{
	return find_address(bench, "Reply-To: ");
}

static void
subscribe(struct bench *bench, const char *address)
{
	lab_subscribe(bench->lab, address, "UTC", NULL, bench->options.now - DAY);
	g_string_truncate(done, 0);
}

static void
assert_done(const char *wanted)
{
	g_assert_cmpstr(done->str, ==, wanted);
	g_string_truncate(done, 0);
}

static void
row_4_5_a_stranger_is_nobody_until_the_confirmation(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	bench_init(&bench);
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
	lab_assert_text(bench.lab, "SELECT count(*) FROM subscriber", "0");
	lab_assert_text(bench.lab,
	    "SELECT kind, recipient, sender GLOB 'paperboy+b-*@example.org' FROM "
	    "outbox",
	    "confirmation|Eva@example.com|1");
	mail = get_mail(&bench);
	g_assert_nonnull(strstr(mail, "\r\nAuto-Submitted: auto-replied\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nIn-Reply-To: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nReferences: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(strstr(mail, "\r\nX-Loop: paperboy@example.org\r\n"));
	g_assert_null(strstr(mail, "subscribe"));
	reply_to = find_reply_to(&bench);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+c-"));
	assert_done("run Eva@example.com subscribe;");

	/* Capitals, another From, any words: the token is the proof. */
	bench.options.now += HOUR;
	g_free(mail);
	mail = g_ascii_strup(reply_to, -1);
	g_assert_cmpint(write_to(&bench, "eva.private@example.net", mail, "Re: ok"), ==,
	    FRONT_ANSWERED);
	assert_done("pending Eva@example.com proven subscribe;");
	lab_assert_text(bench.lab, "SELECT address, state, next_due_at FROM subscriber",
	    "Eva@example.com|active|1795168800");
	lab_assert_text(bench.lab,
	    "SELECT kind, recipient, sender FROM outbox ORDER BY id DESC LIMIT 1",
	    "answer|Eva@example.com|");
}

static void
row_6_7_the_consent_says_when_and_how(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *consent = NULL;

	bench_init(&bench);
	write_to(&bench, EVA, HOME, "subscribe");
	reply_to = find_reply_to(&bench);
	bench.options.now += HOUR;
	write_to(&bench, EVA, reply_to, "Re: ok");
	consent = lab_text(bench.lab, "SELECT consent_text FROM subscriber");
	g_assert_true(g_pattern_match_simple(
	    "asked by mail 2026-11-20 09:00:00 UTC; text of the confirmation "
	    "sha256:????????????????????????????????????????????????????????????????; "
	    "confirmed by mail 2026-11-20 10:00:00 UTC (ticket 1)",
	    consent));
	lab_assert_text(bench.lab,
	    "SELECT what, detail FROM change WHERE who = 'mail' ORDER BY id",
	    "confirmation asked|confirm subscriber added|by mail"
	    " confirmation used|confirm");
}

static void
row_4_6_a_thousand_requests_are_one_confirmation(void)
{
	bench_auto bench;

	bench_init(&bench);
	for (int i = 0; i < 1000; i++) {
		g_autofree char *from = i % 2
		                            ? g_strdup_printf("e.va+%d@example.com", i)
		                            : g_strdup("Eva@example.com");

		bench.options.now += 60;
		g_assert_cmpint(
		    write_to(&bench, from,
		        i % 3 ? HOME : "paperboy+subscribe@example.org", "subscribe"),
		    ==, i ? FRONT_LIMITED : FRONT_ASKED);
	}
	g_assert_cmpint(count_mails(&bench), ==, 1);
	lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "1");
}

static void
row_4_6_three_in_thirty_days_and_a_new_one_kills_the_old(void)
{
	bench_auto bench;
	g_autofree char *first = NULL;

	bench_init(&bench);
	write_to(&bench, EVA, HOME, "subscribe");
	first = find_reply_to(&bench);
	bench.options.now += DAY - 1;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_LIMITED);
	bench.options.now += 1;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
	g_string_truncate(done, 0);
	g_assert_cmpint(write_to(&bench, EVA, first, "ok"), ==, FRONT_ANSWERED);
	assert_done("run Eva@example.com confirm;");
	bench.options.now += DAY;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
	for (int day = 3; day < 30; day++) {
		bench.options.now += DAY;
		g_assert_cmpint(
		    write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_LIMITED);
	}
	bench.options.now += DAY;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
}

static void
row_4_7_confirmations_are_limited_for_a_domain_and_for_all(void)
{
	bench_auto bench;
	int asked = 0;

	bench_init(&bench);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p%d@example.com", i);

		asked += write_to(&bench, from, HOME, "subscribe") == FRONT_ASKED;
	}
	g_assert_cmpint(asked, ==, bench.settings->limit_confirmations_domain_hour);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p@d%d.example.com", i);

		asked += write_to(&bench, from, HOME, "subscribe") == FRONT_ASKED;
	}
	g_assert_cmpint(asked, ==, bench.settings->limit_confirmations_hour);
	bench.options.now += HOUR;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
}

static void
row_6_1_a_token_is_good_once_for_its_purpose_and_its_time(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *token = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "change");
	reply_to = find_reply_to(&bench);
	token = g_strndup(reply_to + strlen("paperboy+c-"), TOKEN_DRAWN_LENGTH);
	/* None of it is in the store, but in the mail that waits. */
	lab_assert_text(
	    bench.lab, "SELECT count(*), max(length(hash)) FROM ticket", "1|64");
	{
		g_autofree char *sql = g_strdup_printf(
		    "SELECT count(*) FROM ticket WHERE hash || action || details"
		    " LIKE '%%%s%%'",
		    token);

		lab_assert_text(bench.lab, sql, "0");
	}
	/* Of another purpose it is nothing. */
	{
		g_autofree char *undo = g_strdup_printf("undo %s", token);
		g_autofree char *leave =
		    g_strdup_printf("paperboy+u-%s@example.org", token);
		g_autofree char *reply =
		    g_strdup_printf("paperboy+r-%s@example.org", token);

		write_to(&bench, EVA, HOME, undo);
		write_to(&bench, EVA, reply, "list");
		write_to(&bench, "adam@example.com", leave, "");
		assert_done("run Eva@example.com change;run Eva@example.com undo;"
		            "run Eva@example.com list;"
		            "run adam@example.com unsubscribe;");
	}
	bench.options.now += FRONT_CONFIRM_S;
	write_to(&bench, EVA, reply_to, "ok");
	assert_done("run Eva@example.com confirm;");
	bench.options.now -= 1;
	write_to(&bench, EVA, reply_to, "ok");
	assert_done("pending Eva@example.com proven change;");
	write_to(&bench, EVA, reply_to, "ok");
	assert_done("run Eva@example.com confirm;");
	lab_assert_text(
	    bench.lab, "SELECT action, used_at IS NOT NULL FROM ticket", "|1");
}

static void
row_6_1_forgetting_is_for_an_hour(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "forget");
	reply_to = find_reply_to(&bench);
	bench.options.now += FRONT_FORGET_S;
	g_string_truncate(done, 0);
	write_to(&bench, EVA, reply_to, "ok");
	assert_done("run Eva@example.com confirm;");
}

/* The token of a digest's reply address. */
static char *
format_reply_to(struct bench *bench, int64_t digest_id, int64_t made_at)
{
	g_autofree char *token =
	    token_sign(bench->lab->key, EXTENSION_TOKEN_REPLY, digest_id, made_at);

	return extension_format(&bench->house->commands, EXTENSION_REPLY, token);
}

static void
row_4_4_a_reply_token_proves_its_own_reader_for_thirty_days(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *other = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	subscribe(&bench, "adam@example.com");
	lab_run(bench.lab,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state)"
	    " VALUES (1, 'x', '2026-11-20', 1795000000, 'sent')");
	reply_to = format_reply_to(&bench, 1, 1795000000);
	other = format_reply_to(&bench, 1, 1795000001);
	bench.options.now = 1795000000 + 30 * DAY;
	write_to(&bench, "EVA@example.com", reply_to, "change");
	assert_done("run Eva@example.com proven change;");
	/* In somebody else's name, or with another token, it proves nothing. */
	write_to(&bench, "adam@example.com", reply_to, "change");
	write_to(&bench, EVA, other, "change");
	write_to(&bench, EVA, HOME, "change");
	bench.options.now += 1;
	write_to(&bench, EVA, reply_to, "change");
	assert_done("run adam@example.com change;run Eva@example.com change;"
	            "run Eva@example.com change;run Eva@example.com change;");
}

static void
row_4_15_an_answer_can_be_answered(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "list");
	reply_to = find_reply_to(&bench);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+r-"));
	g_string_truncate(done, 0);
	bench.options.now += 30 * DAY;
	write_to(&bench, EVA, reply_to, "change");
	assert_done("run Eva@example.com proven change;");
	bench.options.now += DAY;
	write_to(&bench, EVA, reply_to, "change");
	assert_done("run Eva@example.com change;");
}

static void
row_4_21_a_sender_that_our_server_vouches_for_is_proven(void)
{
	bench_auto bench;
	pb_auto(letter) letter = letters_new(EVA, "change", "");

	bench_init(&bench);
	subscribe(&bench, EVA);
	letters_vouch(
	    letter, "mx.example.org", "dmarc", "pass", "header.from=example.com");
	hand_in(&bench, letter, EVA, HOME);
	assert_done("run Eva@example.com change;");
	set_text(&bench.settings->commands_authserv_id, "mx.example.org");
	hand_in(&bench, letter, EVA, HOME);
	assert_done("run Eva@example.com proven change;");
}

static char *
format_leave(struct bench *bench, GBytes *key, int64_t id)
{
	int64_t since = lab_number(
	    bench->lab, "SELECT created_at FROM subscriber ORDER BY id LIMIT 1");
	g_autofree char *token = token_sign(key, EXTENSION_TOKEN_LEAVE, id, since);

	return extension_format(&bench->house->commands, EXTENSION_LEAVE, token);
}

static void
row_4_10_a_token_unsubscribes_in_silence_even_for_a_robot(void)
{
	bench_auto bench;
	g_autofree char *leave = NULL;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;
	pb_auto(letter) letter = letters_new("mailer-daemon@example.net", "", "");
	struct front_report report;

	bench_init(&bench);
	subscribe(&bench, EVA);
	leave = format_leave(&bench, bench.lab->key, 1);
	letters_mark(letter, "Auto-Submitted", "auto-generated");
	report = hand_in(&bench, letter, "", leave);
	g_assert_cmpint(report.outcome, ==, FRONT_LEFT);
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
	g_assert_cmpint(count_mails(&bench), ==, 0);
	lab_assert_text(bench.lab, "SELECT purpose FROM ticket", "undo");
	report = hand_in(&bench, letter, "", leave);
	g_assert_cmpint(report.outcome, ==, FRONT_IGNORED);

	/* Whoever comes later to see what happened is told how to come back. */
	g_string_truncate(done, 0);
	g_assert_cmpint(write_to(&bench, EVA, leave, "stop"), ==, FRONT_ANSWERED);
	assert_done("say Eva@example.com left_before;");
	mail = get_mail(&bench);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_DRAWN_LENGTH] = '\0';
	write_to(&bench, EVA, HOME, undo);
	assert_done("run Eva@example.com undo;pending Eva@example.com proven restore;");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "active");
}

static void
row_4_4_unsubscribing_acts_at_once_tells_the_address_and_can_be_undone(void)
{
	bench_auto bench;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	/* Whoever writes it: the answer goes to the address. */
	g_assert_cmpint(
	    write_to(&bench, EVA, "paperboy+unsubscribe@example.org", "list"), ==,
	    FRONT_ANSWERED);
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
	lab_assert_text(bench.lab,
	    "SELECT purpose, recipient, expires_at - made_at FROM ticket",
	    "undo|Eva@example.com|604800");
	mail = get_mail(&bench);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_DRAWN_LENGTH] = '\0';
	g_string_truncate(done, 0);
	bench.options.now += FRONT_UNDO_S - 1;
	g_assert_cmpint(
	    write_to(&bench, "eva@example.net", HOME, undo), ==, FRONT_ANSWERED);
	assert_done("run eva@example.net undo;pending Eva@example.com proven restore;");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "active");
	lab_assert_text(bench.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	write_to(&bench, "eva@example.net", HOME, undo);
	assert_done("run eva@example.net undo;");
}

static void
row_6_2_an_unsubscribe_token_never_expires_and_outlives_its_key(void)
{
	bench_auto bench;
	char octets[32] = "an older key of the same folder";
	g_autoptr(GBytes) older = g_bytes_new(octets, sizeof(octets));
	g_autoptr(GPtrArray) keys = g_ptr_array_new();
	g_autofree char *leave = NULL;
	g_autofree char *forged = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	leave = format_leave(&bench, older, 1);
	forged = format_leave(&bench, bench.lab->key, 2);
	bench.options.now += 365 * (int64_t)DAY;
	write_to(&bench, "adam@example.com", forged, "");
	write_to(&bench, "adam@example.com", leave, "");
	assert_done(
	    "run adam@example.com unsubscribe;run adam@example.com unsubscribe;");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "active");
	g_ptr_array_add(keys, older);
	bench.options.old_keys = keys;
	write_to(&bench, "adam@example.com", leave, "");
	assert_done("run Eva@example.com proven unsubscribe;");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
	/* Again is fine, and tells nobody else. */
	write_to(&bench, "adam@example.com", leave, "");
	lab_assert_text(bench.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
}

static void
row_6_3_to_unsubscribe_is_all_that_an_unsubscribe_token_can(void)
{
	bench_auto bench;
	g_autofree char *leave = NULL;
	g_autofree char *as_reply = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	leave = format_leave(&bench, bench.lab->key, 1);
	as_reply = g_strdup(leave);
	as_reply[strlen("paperboy+")] = 'r';
	write_to(&bench, EVA, as_reply, "change");
	write_to(&bench, EVA, leave, "export");
	assert_done(
	    "run Eva@example.com change;run Eva@example.com proven unsubscribe;");
}

static void
row_6_4_a_token_that_was_only_seen_is_not_used(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	pb_auto(letter) scanner = letters_new("scanner@example.net", "seen", "");

	bench_init(&bench);
	write_to(&bench, EVA, HOME, "subscribe");
	reply_to = find_reply_to(&bench);
	g_string_truncate(done, 0);
	/* An automatic answer to it confirms nothing. */
	letters_mark(scanner, "Auto-Submitted", "auto-replied");
	g_assert_cmpint(
	    hand_in(&bench, scanner, NULL, reply_to).outcome, ==, FRONT_IGNORED);
	g_assert_cmpint(
	    hand_in(&bench, scanner, "", reply_to).outcome, ==, FRONT_IGNORED);
	assert_done("");
	lab_assert_text(bench.lab, "SELECT count(*) FROM subscriber", "0");
	write_to(&bench, EVA, reply_to, "yes");
	lab_assert_text(bench.lab, "SELECT count(*) FROM subscriber", "1");
}

static void
row_6_5_unsubscribing_needs_nothing_but_the_address(void)
{
	bench_auto bench;
	g_autofree char *leave = NULL;
	pb_auto(letter) empty = letters_new("x@example.net", "", "");

	bench_init(&bench);
	subscribe(&bench, EVA);
	leave = format_leave(&bench, bench.lab->key, 1);
	empty->from_fields = 0;
	g_ptr_array_set_size(empty->from, 0);
	g_clear_pointer(&empty->message_id, g_free);
	g_assert_cmpint(hand_in(&bench, empty, NULL, leave).outcome, ==, FRONT_LEFT);
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
}

static void
row_6_6_whoever_was_confirmed_by_a_robot_can_leave_in_one_step(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *answer = NULL;

	bench_init(&bench);
	write_to(&bench, EVA, HOME, "subscribe");
	reply_to = find_reply_to(&bench);
	write_to(&bench, "scanner@example.net", reply_to, "click");
	/* The welcome went to the address, and its answer is the person's own. */
	lab_assert_text(bench.lab,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	answer = find_reply_to(&bench);
	write_to(&bench, EVA, answer, "unsubscribe");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
}

static void
row_6_8_an_export_goes_to_its_own_address_only(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "export");
	reply_to = find_reply_to(&bench);
	write_to(&bench, "thief@example.net", reply_to, "ok");
	lab_assert_text(bench.lab, "SELECT DISTINCT recipient FROM outbox", EVA);
	mail = get_mail(&bench);
	g_assert_nonnull(strstr(mail, "multipart/mixed"));
	g_assert_nonnull(strstr(mail, "filename=\"paperboy-export.json\""));
}

static void
row_6_8_the_last_answer_goes_out_and_then_all_is_erased(void)
{
	bench_auto bench;
	g_autofree char *reply_to = NULL;
	unsigned count = 0;
	GError *error = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "forget");
	reply_to = find_reply_to(&bench);
	g_assert_cmpint(write_to(&bench, EVA, reply_to, "ok"), ==, FRONT_ANSWERED);
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "gone");
	g_assert_true(forget_finish(
	    bench.lab->store, bench.lab->key, bench.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 0);
	lab_assert_text(bench.lab,
	    "SELECT count(*) FROM outbox WHERE state = 'NEW'"
	    " AND kind = 'answer'",
	    "1");
	lab_run(bench.lab, "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
	                   " next_try_at = NULL, message = NULL");
	g_assert_true(forget_finish(
	    bench.lab->store, bench.lab->key, bench.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 1);
	lab_assert_text(bench.lab,
	    "SELECT (SELECT count(*) FROM subscriber), (SELECT count(*) FROM ticket),"
	    " (SELECT count(*) FROM outbox), (SELECT count(*) FROM farewell)",
	    "0|0|0|0");
}

/* Who has left, and who was only ever asked whether to come. */
static void
row_6_8_who_is_no_subscriber_is_forgotten_too(void)
{
	for (int has_left = 0; has_left < 2; has_left++) {
		bench_auto bench;
		g_autofree char *reply_to = NULL;
		unsigned count = 0;
		GError *error = NULL;

		bench_init(&bench);
		if (has_left) {
			subscribe(&bench, EVA);
			write_to(&bench, EVA, HOME, "unsubscribe");
		} else {
			write_to(&bench, EVA, HOME, "subscribe");
			bench.options.now += DAY;
		}
		g_assert_cmpint(write_to(&bench, EVA, HOME, "forget"), ==, FRONT_ASKED);
		reply_to = find_reply_to(&bench);
		g_assert_cmpint(
		    write_to(&bench, EVA, reply_to, "yes"), ==, FRONT_ANSWERED);
		lab_run(bench.lab, "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
		                   " next_try_at = NULL, message = NULL");
		g_assert_true(forget_finish(bench.lab->store, bench.lab->key,
		    bench.options.now, &count, &error));
		g_assert_cmpuint(count, ==, 1);
		lab_assert_text(bench.lab,
		    "SELECT (SELECT count(*) FROM subscriber),"
		    " (SELECT count(*) FROM ticket), (SELECT count(*) FROM outbox),"
		    " (SELECT count(*) FROM farewell)",
		    "0|0|0|0");
	}
}

static void
row_4_4_a_change_of_address_is_confirmed_at_both(void)
{
	static const char newest[] = "SELECT hash FROM ticket WHERE recipient = ";
	bench_auto bench;
	g_autofree char *old = NULL;
	g_autofree char *fresh = NULL;
	g_autofree char *mail = NULL;

	(void)newest;
	bench_init(&bench);
	subscribe(&bench, EVA);
	g_assert_cmpint(
	    write_to(&bench, EVA, HOME, "address eva@example.net"), ==, FRONT_ASKED);
	lab_assert_text(bench.lab, "SELECT recipient FROM outbox ORDER BY id",
	    "eva@example.net Eva@example.com");
	old = find_reply_to(&bench);
	lab_run(bench.lab, "DELETE FROM outbox WHERE id = 2");
	fresh = find_reply_to(&bench);
	g_assert_cmpstr(old, !=, fresh);
	g_string_truncate(done, 0);
	write_to(&bench, EVA, old, "ok");
	write_to(&bench, EVA, old, "ok");
	assert_done("run Eva@example.com confirm;");
	write_to(&bench, "eva@example.net", fresh, "ok");
	assert_done("pending Eva@example.com proven address e;");

	/* One alone is not enough, even when the other one came back. */
	write_to(&bench, "eva@example.net", HOME, "address wrong@example.net");
	g_free(old);
	old = find_reply_to(&bench);
	lab_run(bench.lab, "DELETE FROM ticket WHERE recipient = 'wrong@example.net'");
	g_string_truncate(done, 0);
	write_to(&bench, "eva@example.net", old, "ok");
	assert_done("");
}

static void
the_old_address_is_told_of_a_move_whoever_confirms_last(void)
{
	for (int is_old_last = 0; is_old_last < 2; is_old_last++) {
		bench_auto bench;
		g_autofree char *old = NULL;
		g_autofree char *fresh = NULL;

		bench_init(&bench);
		subscribe(&bench, EVA);
		write_to(&bench, EVA, HOME, "address thief@example.net");
		old = find_reply_to(&bench);
		lab_run(bench.lab, "DELETE FROM outbox WHERE id = 2");
		fresh = find_reply_to(&bench);
		lab_run(bench.lab, "DELETE FROM outbox");
		write_to(&bench, EVA, is_old_last ? fresh : old, "yes");
		g_assert_cmpint(count_mails(&bench), ==, 0);
		write_to(&bench, EVA, is_old_last ? old : fresh, "yes");
		lab_assert_text(
		    bench.lab, "SELECT address FROM subscriber", "thief@example.net");
		lab_assert_text(bench.lab,
		    "SELECT kind, recipient FROM outbox ORDER BY id",
		    "notice|Eva@example.com answer|thief@example.net");
	}
}

static void
a_token_of_before_a_move_proves_nothing_after_it(void)
{
	bench_auto bench;
	g_autofree char *answer = NULL;
	g_autofree char *digest = NULL;
	g_autofree char *leave = NULL;
	g_autofree char *change = NULL;
	g_autofree char *fresh = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	lab_run(bench.lab,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state)"
	    " VALUES (1, 'x', '2026-11-20', 1795160000, 'sent')");
	digest = format_reply_to(&bench, 1, 1795160000);
	leave = format_leave(&bench, bench.lab->key, 1);
	write_to(&bench, EVA, HOME, "change");
	change = find_reply_to(&bench);
	write_to(&bench, EVA, HOME, "list");
	answer = find_reply_to(&bench);
	g_string_truncate(done, 0);
	write_to(&bench, EVA, answer, "list");
	write_to(&bench, EVA, digest, "list");
	assert_done("run Eva@example.com proven list;run Eva@example.com proven list;");

	bench.options.now += HOUR;
	{
		pb_auto(subscriber) moved =
		    subscribe_change_address(bench.lab->store, EVA, "eva@example.net",
		        bench.lab->key, "test", bench.options.now, NULL);

		g_assert_nonnull(moved);
	}
	write_to(&bench, "eva@example.net", answer, "list");
	write_to(&bench, "eva@example.net", digest, "list");
	write_to(&bench, EVA, leave, "");
	write_to(&bench, EVA, change, "yes");
	assert_done("run eva@example.net list;run eva@example.net list;"
	            "run Eva@example.com unsubscribe;run Eva@example.com confirm;");
	lab_assert_text(bench.lab, "SELECT state FROM subscriber", "active");

	/* Those of after it do. */
	write_to(&bench, "eva@example.net", HOME, "list");
	fresh = find_reply_to(&bench);
	g_string_truncate(done, 0);
	write_to(&bench, "eva@example.net", fresh, "list");
	assert_done("run eva@example.net proven list;");
}

static void
a_no_or_an_absence_is_no_consent(void)
{
	static const struct {
		const char *subject, *text, *wanted;
	} rows[] = {
	    {"Re: Please confirm", "No, I did not ask for this.\n", "declined"},
	    {"Re: Please confirm", "nein danke\n", "declined"},
	    {"Re: Please confirm", "STOP", "declined"},
	    {"Re: Please confirm", "Hello,\n\nthis was not me!\n", "declined"},
	    {"Re: Please confirm", "> quoted\n\nUnsubscribe", "declined"},
	    {"Re: Please confirm", "Cancel this, yes?", "declined"},
	    {"Re: Please confirm", "I did not do this.", "declined"},
	    {"Re: Please confirm", "I didn\u2019t ask for it", "declined"},
	    {"AW: Bitte best\u00e4tigen", "Das war ich nicht.", "declined"},
	    {"no", "", "declined"},
	    {"Automatic reply: Please confirm", "Yes, I am away.", "silent"},
	    {"Out of Office: Please confirm", "I am away.", "silent"},
	    {"Abwesenheitsnotiz: Bitte best\u00e4tigen", "Ich bin im Urlaub.",
	        "silent"},
	    {"Re: Please confirm", "Thanks", "run"},
	    {"Re: Please confirm", "", "run"},
	    {"Re: Please confirm", "Yes, no problem", "run"},
	    {"Re: Please confirm", "Now!", "run"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		bench_auto bench;
		g_autofree char *reply_to = NULL;
		pb_auto(letter) letter =
		    letters_new(EVA, rows[i].subject, rows[i].text);

		bench_init(&bench);
		write_to(&bench, EVA, HOME, "subscribe");
		reply_to = find_reply_to(&bench);
		g_string_truncate(done, 0);
		hand_in(&bench, letter, EVA, reply_to);
		if (g_str_equal(rows[i].wanted, "run")) {
			assert_done("pending Eva@example.com proven subscribe;");
			continue;
		}
		lab_assert_text(bench.lab, "SELECT count(*) FROM subscriber", "0");
		if (g_str_equal(rows[i].wanted, "silent")) {
			assert_done("");
			g_assert_cmpint(count_mails(&bench), ==, 1);
			write_to(&bench, EVA, reply_to, "ok");
			assert_done("pending Eva@example.com proven subscribe;");
		} else {
			assert_done("say Eva@example.com declined;");
			g_assert_cmpint(count_mails(&bench), ==, 2);
			lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "0");
		}
	}
}

static void
what_cannot_be_undone_wants_a_clear_yes(void)
{
	static const char *const asked[] = {
	    "address eva@example.net", "forget", "export"};

	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		bench_auto bench;
		g_autofree char *reply_to = NULL;
		g_autofree char *again = NULL;
		g_autofree char *line = NULL;
		pb_auto(letter) typed = NULL;
		struct front_report report;

		bench_init(&bench);
		subscribe(&bench, EVA);
		write_to(&bench, EVA, HOME, asked[i]);
		reply_to = find_reply_to(&bench);
		g_string_truncate(done, 0);
		write_to(&bench, EVA, reply_to, "Re: Please confirm");
		write_to(&bench, EVA, reply_to, "What is this?");
		assert_done("say Eva@example.com wants_clear_yes;"
		            "say Eva@example.com wants_clear_yes;");
		/* That can be answered as the first one could. */
		again = find_reply_to(&bench);
		g_assert_cmpstr(again, ==, reply_to);
		line = g_strdup_printf("Dear paperboy\n\nconfirm %.*s\n",
		    TOKEN_DRAWN_LENGTH, reply_to + strlen("paperboy+c-"));
		typed = letters_new(EVA, "Re: Please confirm", line);
		report = hand_in(&bench, typed, EVA, reply_to);
		g_assert_true(report.outcome == FRONT_ANSWERED ||
		              g_str_equal(report.why, "half-confirmed"));
	}
}

static void
a_no_to_one_half_of_a_move_ends_both(void)
{
	bench_auto bench;
	g_autofree char *old = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	write_to(&bench, EVA, HOME, "address thief@example.net");
	old = find_reply_to(&bench);
	write_to(&bench, EVA, old, "No");
	lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "0");
}

static void
row_4_9_nothing_goes_out_to_who_is_never_answered(void)
{
	static const struct {
		const char *name, *value;
	} marks[] = {{"Auto-Submitted", "auto-replied"}, {"Precedence", "bulk"},
	    {"List-Id", "<x.example>"}, {"X-Auto-Response-Suppress", "OOF"},
	    {"X-Loop", HOME}};
	static const char *const robots[] = {
	    "mailer-daemon@example.com", "cats-request@example.com", HOME};
	bench_auto bench;

	bench_init(&bench);
	subscribe(&bench, EVA);
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		pb_auto(letter) letter = letters_new(EVA, "list", "");

		letters_mark(letter, marks[i].name, marks[i].value);
		hand_in(&bench, letter, EVA, HOME);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(robots); i++)
		write_to(&bench, robots[i], HOME, "help");
	{
		pb_auto(letter) letter = letters_new(EVA, "list", "");

		hand_in(&bench, letter, "", HOME);
		letter->report = LETTER_REPORT_DELIVERY;
		hand_in(&bench, letter, EVA, HOME);
	}
	g_assert_cmpint(count_mails(&bench), ==, 0);
	assert_done("");
}

static void
row_4_11_ten_answers_a_day_and_one_help(void)
{
	bench_auto bench;

	bench_init(&bench);
	subscribe(&bench, EVA);
	g_assert_cmpint(write_to(&bench, EVA, HOME, ""), ==, FRONT_ANSWERED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, ""), ==, FRONT_LIMITED);
	for (int i = 1; i < 10; i++)
		g_assert_cmpint(
		    write_to(&bench, EVA, HOME, "list"), ==, FRONT_ANSWERED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, "list"), ==, FRONT_LIMITED);
	g_assert_cmpint(count_mails(&bench), ==, 10);
	/* A proof has ten of its own, so that nobody can use a person's up. */
	{
		g_autofree char *reply_to = find_reply_to(&bench);

		g_assert_cmpint(
		    write_to(&bench, EVA, reply_to, "list"), ==, FRONT_ANSWERED);
	}
	/* Unsubscribing never waits, and is told. */
	g_assert_cmpint(write_to(&bench, EVA, HOME, "unsubscribe"), ==, FRONT_ANSWERED);
	bench.options.now += DAY;
	g_assert_cmpint(write_to(&bench, EVA, HOME, "list"), ==, FRONT_ANSWERED);
}

static void
row_4_11_a_stranger_gets_three_answers_a_day(void)
{
	bench_auto bench;

	bench_init(&bench);
	g_assert_cmpint(write_to(&bench, EVA, HOME, ""), ==, FRONT_ANSWERED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, ""), ==, FRONT_LIMITED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, "help"), ==, FRONT_ANSWERED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, "help"), ==, FRONT_ANSWERED);
	g_assert_cmpint(write_to(&bench, EVA, HOME, "help"), ==, FRONT_LIMITED);
	/* It is no reason not to let somebody in. */
	g_assert_cmpint(write_to(&bench, EVA, HOME, "subscribe"), ==, FRONT_ASKED);
}

/* Only what tells that no answer follows has that in it. */
#define SILENCE "\"unsubscribe\""

/* Of all that comes only the last one says it. */
static void
write_until_limited(struct bench *bench, const char *recipient, const char *words)
{
	bool was_said = false;

	for (int i = 0; i < 11; i++) {
		g_autofree char *mail = NULL;
		enum front_outcome outcome = write_to(bench, EVA, recipient, "list");

		g_assert_cmpint(outcome, ==, was_said ? FRONT_LIMITED : FRONT_ANSWERED);
		if (was_said)
			return;
		mail = get_mail(bench);
		was_said = strstr(mail, words) != NULL;
		g_assert_true(was_said == (strstr(mail, SILENCE) != NULL));
	}
	g_assert_not_reached();
}

static void
the_last_answer_of_a_day_says_so(void)
{
	static const struct {
		const char *language; /* NULL: a stranger */
		const char *words, *proven;
	} rows[] = {
	    {"en", "name: 10 in 24 hours are all.",
	        "This is the last answer for now: 10 in 24 hours are all."},
	    {"de", "mehr als 10 gibt es in 24 Stunden nicht.",
	        "die letzte Antwort: mehr als 10"},
	    {NULL, "This is the last answer for now: 3 in 24 hours are all.", NULL},
	};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	g_autoptr(GError) error = NULL;
	pb_auto(phrasebook) book = phrasebook_load(templates, &error);

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		bench_auto bench;
		g_autofree char *mail = NULL, *reply_to = NULL;

		bench_init(&bench);
		bench.options.phrases = book;
		if (rows[i].language) {
			g_autofree char *sql = g_strdup_printf(
			    "UPDATE subscriber SET language = '%s'", rows[i].language);

			subscribe(&bench, EVA);
			lab_run(bench.lab, sql);
		}
		write_until_limited(&bench, HOME, rows[i].words);
		reply_to = rows[i].language ? find_reply_to(&bench) : NULL;
		if (reply_to)
			write_until_limited(&bench, reply_to, rows[i].proven);
		/* Who leaves is told of that in any case, and of nothing else. */
		g_assert_cmpint(write_to(&bench, EVA, HOME, "unsubscribe"), ==,
		    reply_to ? FRONT_ANSWERED : FRONT_LIMITED);
		mail = get_mail(&bench);
		g_assert_true(!strstr(mail, SILENCE) == !!reply_to);
		/* The one help of a day is no end of anything. */
		bench.options.now += DAY;
		write_to(&bench, EVA, HOME, "");
		g_free(mail);
		mail = get_mail(&bench);
		g_assert_null(strstr(mail, SILENCE));
	}
}

static void
row_4_13_no_word_of_a_letter_becomes_a_header(void)
{
	bench_auto bench;
	pb_auto(letter) letter =
	    letters_new(EVA, "list\r\nBcc: victim@example.net\nX: \xe2\x80\xae", "");
	g_autofree char *mail = NULL;

	bench_init(&bench);
	subscribe(&bench, EVA);
	g_free(letter->message_id);
	letter->message_id = g_strdup("a@b>\r\nBcc: victim@example.net");
	g_ptr_array_add(letter->references, g_strdup("x\r\nBcc: victim@example.net"));
	hand_in(&bench, letter, EVA, HOME);
	mail = get_mail(&bench);
	g_assert_null(strstr(mail, "\nBcc:"));
	g_assert_null(strstr(mail, "\r\nIn-Reply-To:"));
	g_assert_nonnull(
	    strstr(mail, "\r\nSubject: Re: list Bcc: victim@example.net X:\r\n"));
}

static void
row_4_12_answers_have_the_null_sender_and_confirmations_a_token(void)
{
	bench_auto bench;
	g_autofree char *sender = NULL;
	pb_auto(letter) back = letters_new("mailer-daemon@example.com", "failed", "");
	struct front_report report;

	bench_init(&bench);
	write_to(&bench, EVA, HOME, "help");
	write_to(&bench, EVA, HOME, "subscribe");
	lab_assert_text(bench.lab, "SELECT kind, sender = '' FROM outbox ORDER BY id",
	    "answer|1 confirmation|0");
	sender = lab_text(bench.lab, "SELECT sender FROM outbox WHERE id = 2");
	/* 5.6: what came back waits for nobody, and is never answered. */
	report = hand_in(&bench, back, "", sender);
	g_assert_cmpint(report.outcome, ==, FRONT_CAME_BACK);
	g_assert_cmpint(report.ticket_id, ==, 1);
	lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "1");
	back->report = LETTER_REPORT_DELIVERY;
	letter_add_group(back);
	g_ptr_array_add(letter_add_group(back), letter_field_new("Action", "failed"));
	report = hand_in(&bench, back, "", sender);
	lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "0");
	g_assert_cmpint(count_mails(&bench), ==, 2);
}

static void
row_4_8_a_stranger_cannot_tell_who_is_a_subscriber(void)
{
	bench_auto bench;
	int64_t before;

	bench_init(&bench);
	subscribe(&bench, EVA);
	/* All that is told is told to the address itself. */
	write_to(&bench, EVA, HOME, "subscribe");
	write_to(&bench, "adam@example.com", HOME, "subscribe");
	before =
	    lab_number(bench.lab, "SELECT count(*) FROM outbox WHERE recipient NOT IN"
	                          " ('Eva@example.com', 'adam@example.com')");
	g_assert_cmpint(before, ==, 0);
}

static void
a_suppressed_address_gets_nothing_ever(void)
{
	bench_auto bench;
	const struct forget_request request = {.address = EVA, .who = "test"};
	struct forget_request keyed = request;
	g_autofree char *leave = NULL;

	bench_init(&bench);
	keyed.key = bench.lab->key;
	subscribe(&bench, EVA);
	leave = format_leave(&bench, bench.lab->key, 1);
	g_assert_true(forget_suppress(
	    bench.lab->store, &keyed, FORGET_OPERATOR, bench.options.now, NULL));
	write_to(&bench, EVA, HOME, "subscribe");
	write_to(&bench, EVA, HOME, "");
	write_to(&bench, EVA, leave, "");
	assert_done("");
	g_assert_cmpint(count_mails(&bench), ==, 0);
}

static void
a_letter_to_the_owner_goes_to_the_owner(void)
{
	bench_auto bench;
	pb_auto(letter) letter =
	    letters_new(EVA, "hello\r\nBcc: x@y.example", "A question.");
	g_autofree char *mail = NULL;
	struct front_report report;

	bench_init(&bench);
	report = hand_in(&bench, letter, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, FRONT_PASSED_ON);
	lab_assert_text(bench.lab, "SELECT kind, recipient, sender FROM outbox",
	    "notice|owner@example.org|");
	mail = get_mail(&bench);
	g_assert_nonnull(strstr(mail, "\r\nReply-To: Eva@example.com\r\n"));
	g_assert_nonnull(strstr(mail, "A question."));
	g_assert_null(strstr(mail, "\nBcc:"));
	bench.settings->limit_owner_day = 1;
	report = hand_in(&bench, letter, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, FRONT_LIMITED);
}

static bool
call_front(struct lab *lab, void *data, GError **error)
{
	struct bench *bench = data;
	pb_auto(letter) letter = letters_new(EVA, "subscribe", "");
	const struct front_envelope envelope = {1, EVA, HOME};
	struct front_report report;
	pb_transaction transaction = {0};

	return store_begin(lab->store, &transaction, error) &&
	       front_handle(
	           lab->store, &bench->options, letter, &envelope, &report, error) &&
	       store_commit(&transaction, error);
}

static void
a_store_that_fails_leaves_nothing_half_done(void)
{
	bench_auto bench;

	bench_init(&bench);
	g_assert_cmpuint(
	    lab_fail_everywhere(bench.lab, call_front, &bench, true), >, 5);
	g_assert_cmpint(count_mails(&bench), ==, 1);
	lab_assert_text(bench.lab, "SELECT count(*) FROM ticket", "1");
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
    {"4.5 a stranger is nobody until the confirmation",
        row_4_5_a_stranger_is_nobody_until_the_confirmation},
    {"4.6 a thousand requests are one confirmation",
        row_4_6_a_thousand_requests_are_one_confirmation},
    {"4.6 three in thirty days, and a new one kills the old",
        row_4_6_three_in_thirty_days_and_a_new_one_kills_the_old},
    {"4.7 confirmations are limited for a domain and for all",
        row_4_7_confirmations_are_limited_for_a_domain_and_for_all},
    {"4.8 a stranger cannot tell who is a subscriber",
        row_4_8_a_stranger_cannot_tell_who_is_a_subscriber},
    {"4.9 nothing goes out to who is never answered",
        row_4_9_nothing_goes_out_to_who_is_never_answered},
    {"4.10 a token unsubscribes in silence even for a robot",
        row_4_10_a_token_unsubscribes_in_silence_even_for_a_robot},
    {"4.11 a stranger gets three answers a day",
        row_4_11_a_stranger_gets_three_answers_a_day},
    {"the last answer of a day says so", the_last_answer_of_a_day_says_so},
    {"4.11 ten answers a day, and one help", row_4_11_ten_answers_a_day_and_one_help},
    {"4.12 answers have the null sender, and confirmations a token",
        row_4_12_answers_have_the_null_sender_and_confirmations_a_token},
    {"4.13 no word of a letter becomes a header",
        row_4_13_no_word_of_a_letter_becomes_a_header},
    {"4.15 an answer can be answered", row_4_15_an_answer_can_be_answered},
    {"4.21 a sender that our server vouches for is proven",
        row_4_21_a_sender_that_our_server_vouches_for_is_proven},
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
    {"6.8 an export goes to its own address only",
        row_6_8_an_export_goes_to_its_own_address_only},
    {"6.8 the last answer goes out, and then all is erased",
        row_6_8_the_last_answer_goes_out_and_then_all_is_erased},
    {"the old address is told of a move, whoever confirms last",
        the_old_address_is_told_of_a_move_whoever_confirms_last},
    {"a token of before a move proves nothing after it",
        a_token_of_before_a_move_proves_nothing_after_it},
    {"a no, or an absence, is no consent", a_no_or_an_absence_is_no_consent},
    {"what cannot be undone wants a clear yes",
        what_cannot_be_undone_wants_a_clear_yes},
    {"a no to one half of a move ends both", a_no_to_one_half_of_a_move_ends_both},
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
	done = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/front/", tests[i].name, NULL);

		g_test_add_func(path, tests[i].test);
	}
	result = g_test_run();
	g_string_free(done, TRUE);
	return result;
}
