/*
 * setup_try.c - try what the answers of paperboyctl setup name.
 */
#include "ctl/setup_try.h"

#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "base/token.h"
#include "message/compose.h"
#include "service/setup/factory.h"
#include "service/state/own_addresses.h"
#include "sources/source.h"

bool
setup_try_relay(const struct settings *settings, const struct clock *clock, char **note,
    GError **error)
{
	struct factory_transport *transport =
	    factory_new_transport_options(settings, NULL, clock, error);
	bool is_ok;

	if (!transport)
		return false;
	is_ok = factory_probe_transport(transport, note, error);
	factory_free_transport(transport);
	if (!is_ok)
		g_prefix_error(error, "sending: ");
	else if (*note)
		(*note)[strcspn(*note, ";")] = '\0'; /* the extensions of ESMTP */
	return is_ok;
}

bool
setup_try_mailbox(const struct settings *settings, const struct clock *clock,
    char **note, GError **error)
{
	struct store *none = NULL;
	pb_auto(receiver) mailbox = NULL;
	g_autofree char *relay = NULL;
	g_autofree char *reported = NULL;

	if (!setup_try_relay(settings, clock, &relay, error))
		return false;
	if (!factory_new_receiver(
	        settings, NULL, FACTORY_RECEIVER_IMAP, clock, &none, &mailbox, error))
		return false;
	if (!receiver_probe(mailbox, &reported, error)) {
		g_prefix_error(error, "receiving: ");
		return false;
	}
	*note = g_strconcat(relay, "; ", reported, NULL);
	return true;
}

/* ---- Sources ---- */

/* @return false unless it may work later: then that is noted */
static bool
try_source(struct source *source, struct http *http, const char *day, GString *found,
    GError **error)
{
	pb_local(source_answer) answer = {0};
	g_autoptr(GError) problem = NULL;
	bool is_ok;

	source_answer_init(&answer);
	is_ok = source->poll
	            ? source_poll(source, http, day, NULL, &answer, &problem)
	            : source_fetch_day(source, http, day, NULL, &answer, &problem);
	if (!is_ok && !g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY)) {
		g_prefix_error(&problem, "source %s: ", source->name);
		return pb_error_forward(error, &problem);
	}
	g_string_append_printf(found, "%s%s: ", found->len ? ", " : "", source->label);
	if (is_ok)
		g_string_append_printf(found, "%zu papers", answer.count);
	else
		g_string_append_printf(found, "not tested (%s)", problem->message);
	return true;
}

bool
setup_try_sources(const struct settings *settings, const struct clock *clock,
    char **note, GError **error)
{
	g_autoptr(GPtrArray) sources = factory_new_sources(settings);
	pb_auto(http) http = factory_new_http(settings, NULL);
	g_autoptr(GDateTime) now = g_date_time_new_from_unix_utc(clock_get_now(clock));
	g_autofree char *day = g_date_time_format(now, "%Y-%m-%d");
	g_autoptr(GString) found = g_string_new(NULL);

	for (unsigned i = 0; i < sources->len; i++)
		if (!try_source(sources->pdata[i], http, day, found, error))
			return false;
	*note = g_strdup(found->str);
	return true;
}

/* ---- Mail ---- */

static GBytes *
compose(const struct settings *settings, const struct clock *clock, const char *path,
    const char *id, GError **error)
{
	g_autofree char *text = g_strdup_printf(
	    "paperboy can send mail: its configuration is %s.\r\n", path);
	const struct compose_span run = {text, strlen(text)};
	const struct compose_header extra[] = {{"Auto-Submitted", "auto-generated"}};
	const struct compose_headers fields = {
	    .date = clock_get_now(clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, settings->mail_owner},
	    .subject = "paperboyctl setup",
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return compose_message(&fields, error);
}

bool
setup_try_mail(const struct settings *settings, const struct clock *clock,
    const char *path, GError **error)
{
	struct factory_transport *options =
	    factory_new_transport_options(settings, NULL, clock, error);
	g_autofree char *domain = own_addresses_format_domain(settings);
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	g_autofree char *token = NULL;
	g_autofree char *id = NULL;
	g_autoptr(GBytes) message = NULL;
	struct transport *transport;
	struct envelope envelope = {.sender = factory_get_envelope_from(settings),
	    .recipient = settings->mail_owner};
	pb_local(delivery) result = {0};

	if (!options)
		return false;
	random_system.fill(random_system.data, bytes, sizeof(bytes));
	token = token_format_random(bytes);
	id = g_strdup_printf("setup.%s@%s", token, domain);
	message = compose(settings, clock, path, id, error);
	envelope.id = id;
	envelope.message = message;
	transport = factory_new_transport(options);
	if (message)
		transport_deliver(transport, &envelope, &result);
	transport_free(transport);
	factory_free_transport(options);
	if (!message || result.outcome == DELIVERY_SENT)
		return message;
	return pb_fail(error, PB_ERROR_TEMPORARY,
	    "the test mail to %s was not accepted: %s", settings->mail_owner,
	    result.text);
}
