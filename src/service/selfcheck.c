/*
 * selfcheck.c - tries everything that paperboy needs, as it will be used.
 */
#include "service/selfcheck.h"

#include <string.h>

#include "base/day.h"
#include "base/token.h"
#include "mail/message.h"
#include "mailbox/mailbox.h"
#include "net/http.h"
#include "service/assembly.h"
#include "service/house.h"
#include "service/selfmail.h"
#include "sources/source.h"
#include "store/letters.h"
#include "store/papers.h"

/* The mail is looked for so often, and among so many of the newest letters. */
#define LOOK_US (G_USEC_PER_SEC / 5)
#define NEWEST  50

struct work {
	const struct selfcheck *check;
	GPtrArray *findings;
	bool is_relay_ok, is_mailbox_ok;
};

/* @param text    taken; @param advice  NULL: it is as it should be */
static void
add(struct work *work, const char *name, char *text, const char *advice)
{
	struct doctor_finding *finding = g_new0(struct doctor_finding, 1);

	finding->name = g_strdup(name);
	finding->is_ok = !advice;
	finding->text = text;
	finding->advice = g_strdup(advice);
	g_ptr_array_add(work->findings, finding);
}

static void
check_configuration(struct work *work)
{
	const struct settings *settings = work->check->settings;
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);

	assembly_check(settings, NULL, problems);
	for (unsigned i = 0; i < problems->len; i++)
		add(work, "configuration", g_strdup(problems->pdata[i]),
		    "change that line: paperboy.conf(5), then paperboyd --check");
	if (settings_is_untouched(settings))
		add(work, "configuration",
		    g_strdup("mail.from or mail.owner is as it was shipped"),
		    "put your own addresses there, and your relay into smtp.host");
	else if (!problems->len)
		add(work, "configuration",
		    g_strdup(settings->path ? settings->path : "defaults"), NULL);
}

static void
check_store(struct work *work)
{
	g_autoptr(GError) error = NULL;
	int64_t count;

	if (papers_count(work->check->store, &count, &error))
		add(work, "store",
		    g_strdup_printf("%" G_GINT64_FORMAT " papers", count), NULL);
	else
		add(work, "store", g_strdup(error->message),
		    "paperboyctl doctor looks at all of it");
	if (!work->check->is_daemon_running)
		add(work, "daemon", g_strdup("paperboyd does not run"),
		    "systemctl start paperboyd");
}

static void
check_source(struct work *work, struct http *http, struct source *source)
{
	g_autofree char *name = g_strconcat("source ", source->name, NULL);
	g_autoptr(GDateTime) now =
	    g_date_time_new_from_unix_utc(clock_get_now(work->check->clock));
	g_autofree char *day = g_date_time_format(now, "%Y-%m-%d");
	struct source_answer answer;
	g_autoptr(GError) error = NULL;

	source_answer_init(&answer);
	if (source_fetch_day(source, http, day, NULL, &answer, &error))
		add(work, name,
		    g_strdup_printf("answers: %zu papers for %s", answer.count, day),
		    NULL);
	else
		add(work, name, g_strdup(error->message),
		    "is this machine on the network, and the address right? "
		    "paperboyctl source list");
	source_answer_clear(&answer);
}

static void
check_sources(struct work *work)
{
	const struct settings *settings = work->check->settings;
	g_autoptr(GPtrArray) sources = assembly_new_sources(settings);
	pb_auto(http) http = assembly_new_http(settings, NULL);

	for (unsigned i = 0; i < sources->len; i++)
		check_source(work, http, sources->pdata[i]);
	if (!sources->len)
		add(work, "sources", g_strdup("none is switched on"),
		    "huggingface.enabled, in paperboy.conf(5)");
}

static void
check_relay(struct work *work, const struct assembly_outlet *outlet)
{
	g_autoptr(GError) error = NULL;
	char *told;

	work->is_relay_ok = assembly_probe_outlet(outlet, &told, &error);
	if (work->is_relay_ok)
		add(work, "relay", told, NULL);
	else
		add(work, "relay", g_strdup(error->message),
		    "smtp.host, port, tls, ca_file, user and password_file in "
		    "paperboy.conf(5); does the relay run, and let this machine in?");
}

static void
check_road(struct work *work, enum assembly_road road, unsigned *count)
{
	static const char *const advice[] = {
	    [ASSEMBLY_ROAD_LMTP] =
	        "does paperboyd run with this configuration? Its log tells why not",
	    [ASSEMBLY_ROAD_MAILDIR] =
	        "the folder has to be there, and writable for the "
	        "user paperboy: paperboyd(8), Letters",
	    [ASSEMBLY_ROAD_IMAP] = "mailbox.imap_host, port, tls, user, password_file "
	                           "and folder in paperboy.conf(5)",
	};
	g_autofree char *name =
	    g_strconcat("mailbox ", assembly_get_road_name(road), NULL);
	struct store *store = work->check->store;
	pb_auto(mailbox) mailbox = NULL;
	g_autoptr(GError) error = NULL;
	char *told;

	if (!assembly_new_mailbox(
	        work->check->settings, NULL, road, &store, &mailbox, &error)) {
		add(work, name, g_strdup(error->message), advice[road]);
		(*count)++;
		return;
	}
	if (!mailbox)
		return;
	(*count)++;
	if (!mailbox_probe(mailbox, &told, &error)) {
		add(work, name, g_strdup(error->message), advice[road]);
		return;
	}
	work->is_mailbox_ok = true;
	add(work, name, told, NULL);
}

static void
check_mailboxes(struct work *work)
{
	unsigned count = 0;

	for (int road = 0; road < ASSEMBLY_ROADS; road++)
		check_road(work, (enum assembly_road)road, &count);
	if (!count)
		add(work, "mailbox",
		    g_strdup("none: people cannot write to paperboy, only read"), NULL);
}

/* ---- the mail to itself ---- */

/* What digests have, so that it is signed as they are. */
static GBytes *
compose(const struct work *work, const struct house *house, const char *address,
    const char *id, GError **error)
{
	static const char text[] =
	    "paperboyctl check has sent this to paperboy itself.\r\n";
	const struct message_run run = {text, strlen(text)};
	const struct settings *settings = work->check->settings;
	const char *list_id = *settings->mail_list_id ? settings->mail_list_id : NULL;
	g_autofree char *list = list_id ? g_strdup_printf("<%s>", list_id)
	                                : g_strdup_printf("<digest.%s>", house->domain);
	g_autofree char *leave = g_strdup_printf("<mailto:%s>", address);
	const struct message_field extra[] = {
	    {"Auto-Submitted", "auto-generated"},
	    {"List-Id", list},
	    {"List-Unsubscribe", leave},
	    {"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
	};
	const struct message_fields fields = {
	    .date = clock_get_now(work->check->clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, address},
	    .subject = "paperboyctl check",
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return message_build(&fields, error);
}

/* @return whether the relay has taken it; else a finding says why */
static bool
send_mail(struct work *work, const struct assembly_outlet *outlet,
    const struct house *house, const char *address, const char *token)
{
	pb_auto(transport) transport = assembly_new_transport(outlet);
	g_autofree char *id = g_strdup_printf("check.%s@%s", token, house->domain);
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) message = compose(work, house, address, id, &error);
	const struct envelope envelope = {
	    .id = id,
	    .sender = assembly_get_envelope_from(work->check->settings),
	    .recipient = address,
	    .message = message,
	};
	struct delivery result = {0};
	bool is_sent;

	if (!message) {
		add(work, "mail to itself", g_strdup(error->message),
		    "mail.from and mail.domain in paperboy.conf(5)");
		return false;
	}
	transport_deliver(transport, &envelope, &result);
	is_sent = result.outcome == DELIVERY_SENT;
	if (!is_sent)
		add(work, "mail to itself",
		    g_strdup_printf("the relay does not take it: %s", result.text),
		    "the relay has to know commands.address and all its +addresses: "
		    "paperboyd(8), Letters");
	delivery_clear(&result);
	return is_sent;
}

/* @return whether it has come back */
static bool
find_mail(struct work *work, const char *token, struct selfmail *mail)
{
	g_autoptr(GPtrArray) rows =
	    letters_load_page(work->check->store, "done", INT64_MAX, NEWEST, NULL);

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct letters_row *row = rows->pdata[i];

		if (row->verdict && selfmail_parse(row->verdict, token, mail))
			return true;
	}
	return false;
}

static bool
await_mail(struct work *work, const char *token, struct selfmail *mail)
{
	int64_t end = g_get_monotonic_time() + work->check->wait_s * G_USEC_PER_SEC;

	while (!find_mail(work, token, mail)) {
		if (g_get_monotonic_time() >= end)
			return false;
		g_usleep(LOOK_US);
	}
	return true;
}

/* @return a new string */
static char *
join(const GPtrArray *words)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < words->len; i++)
		g_string_append_printf(
		    text, "%s%s", i ? ", " : "", (const char *)words->pdata[i]);
	return g_string_free(text, FALSE);
}

static void
judge_signature(struct work *work, const struct selfmail *mail)
{
	g_autofree char *signers = join(mail->signers);
	g_autofree char *missing = join(mail->missing);

	if (!mail->signers->len) {
		add(work, "signature", g_strdup("it came back without DKIM-Signature"),
		    "let the mail server sign what comes from this machine (opendkim, "
		    "rspamd); large providers refuse or hide what is not signed. Where "
		    "a host behind the relay signs, look at a mail that went there");
		return;
	}
	add(work, "signature", g_strdup_printf("signed by %s", signers), NULL);
	if (mail->missing->len)
		add(work, "signed headers",
		    g_strdup_printf("the signature leaves out %s", missing),
		    "name them where it signs (opendkim: SignHeaders; rspamd: "
		    "sign_headers): one-click unsubscribing counts only when signed "
		    "(RFC 8058)");
	else
		add(work, "signed headers",
		    g_strdup("List-Id, List-Unsubscribe and List-Unsubscribe-Post"),
		    NULL);
}

static void
judge_results(struct work *work, const struct selfmail *mail)
{
	g_autofree char *results = join(mail->results);
	bool is_failed = false;

	for (unsigned i = 0; i < mail->results->len; i++)
		is_failed |= g_str_has_suffix(mail->results->pdata[i], "fail") ||
		             g_str_has_suffix(mail->results->pdata[i], "error");
	if (!mail->results->len)
		add(work, "authentication",
		    g_strdup("no Authentication-Results told by the mail server"),
		    NULL);
	else
		add(work, "authentication", g_steal_pointer(&results),
		    is_failed ? "look at the SPF, DKIM and DMARC records of the domain "
		                "of mail.from; they are not looked at here"
		              : NULL);
}

static void
check_mail(struct work *work, const struct assembly_outlet *outlet)
{
	const struct selfcheck *check = work->check;
	g_autoptr(GError) error = NULL;
	pb_auto(house) house = house_new(check->settings, &error);
	uint8_t octets[TOKEN_DRAWN_BYTES];
	g_autofree char *token = NULL;
	g_autofree char *address = NULL;
	struct selfmail mail = {0};

	if (!house || !house->has_commands || !work->is_relay_ok ||
	    !work->is_mailbox_ok || !check->is_daemon_running) {
		add(work, "mail to itself",
		    g_strdup("not tried: it wants commands.address, relay, mailbox and "
		             "daemon"),
		    NULL);
		return;
	}
	check->draw(check->data, octets, sizeof(octets));
	token = token_format_drawn(octets);
	address = extension_format(&house->commands, EXTENSION_CHECK, token);
	if (!send_mail(work, outlet, house, address, token))
		return;
	if (!await_mail(work, token, &mail)) {
		add(work, "mail to itself",
		    g_strdup_printf("the relay has taken it, and in %" G_GINT64_FORMAT
		                    " s it has not come back",
		        check->wait_s),
		    "the mail server's log tells where it went: what comes to "
		    "commands.address and its +addresses goes to a mailbox of ours "
		    "(paperboyd(8), Letters); slow servers want --wait 120");
		return;
	}
	add(work, "mail to itself", g_strdup("it came back"), NULL);
	judge_signature(work, &mail);
	judge_results(work, &mail);
	selfmail_clear(&mail);
}

GPtrArray *
selfcheck_run(const struct selfcheck *check)
{
	struct work work = {.check = check};
	struct assembly_outlet *outlet;
	g_autoptr(GError) error = NULL;

	work.findings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)doctor_finding_free);
	check_configuration(&work);
	check_store(&work);
	check_sources(&work);
	outlet = assembly_new_outlet(check->settings, NULL, &error);
	if (outlet)
		check_relay(&work, outlet);
	else
		add(&work, "relay", g_strdup(error->message),
		    "the smtp group of paperboy.conf(5)");
	check_mailboxes(&work);
	if (outlet && check->wait_s)
		check_mail(&work, outlet);
	if (outlet)
		assembly_free_outlet(outlet);
	return work.findings;
}
