/*
 * self_mail.c - send a mail to ourselves, and wait until it was received.
 */
#include "service/health/self_mail.h"

#include <string.h>

#include "base/token.h"
#include "message/compose.h"
#include "render/sender.h"
#include "service/state/own_addresses.h"
#include "store/mail/inbox.h"

/* Poll interval, and number of the newest inbox rows searched. */
#define POLL_US (G_USEC_PER_SEC / 5)
#define NEWEST  50

/* Address and tag of a probe. */
struct target {
	char *address;
	char *subject;
};

static void
target_clear(struct target *target)
{
	g_free(target->address);
	g_free(target->subject);
}

static void
target_init(const struct self_mail *self_mail,
    const struct own_addresses *own_addresses, const char *token, struct target *target)
{
	struct subaddress_base base = own_addresses->commands;
	g_autofree char *tag = subaddress_format_tag(SUBADDRESS_CHECK, token);

	if (self_mail->is_bare)
		base.delimiter = 0;
	target->address = subaddress_format(&base, SUBADDRESS_CHECK, token);
	target->subject = g_strconcat("paperboyctl check", base.delimiter ? NULL : " ",
	    base.delimiter ? NULL : tag, NULL);
}

static GBytes *
compose(const struct self_mail *self_mail, const struct own_addresses *own_addresses,
    const struct target *target, const char *id, GError **error)
{
	static const char text[] = "paperboy has sent this to itself, as a test.\r\n";
	const struct compose_span run = {text, strlen(text)};
	const struct settings *settings = self_mail->settings;
	const char *list_id = *settings->mail_list_id ? settings->mail_list_id : NULL;
	g_autofree char *list =
	    list_id ? g_strdup_printf("<%s>", list_id)
	            : g_strdup_printf("<digest.%s>", own_addresses->domain);
	g_autofree char *mail_link = g_strdup_printf("mailto:%s", target->address);
	g_autofree char *leave = sender_format_unsubscribe(self_mail->link, mail_link);
	g_autofree char *feedback = sender_format_feedback(&own_addresses->commands);
	const struct compose_header extra[] = {
	    {"Auto-Submitted", "auto-generated"},
	    {"List-Id", list},
	    {"List-Unsubscribe", leave},
	    {"List-Unsubscribe-Post", SENDER_ONE_CLICK},
	    {"CFBL-Address", feedback},
	};
	const struct compose_headers fields = {
	    .date = clock_get_now(self_mail->clock),
	    .from = {settings->mail_from_name, settings->mail_from},
	    .to = {NULL, target->address},
	    .subject = target->subject,
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};

	return compose_message(&fields, error);
}

/* @param reason  set on failure */
static bool
send_mail(const struct self_mail *self_mail, const struct own_addresses *own_addresses,
    const char *token, char **reason)
{
	pb_auto(transport) transport = factory_new_transport(self_mail->transport);
	pb_local(target) target = {0};
	g_autofree char *id =
	    g_strdup_printf("check.%s@%s", token, own_addresses->domain);
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) message = NULL;
	struct envelope envelope = {
	    .id = id,
	    .sender = factory_get_envelope_from(self_mail->settings),
	};
	pb_local(delivery) result = {0};

	target_init(self_mail, own_addresses, token, &target);
	message = compose(self_mail, own_addresses, &target, id, &error);
	envelope.recipient = target.address;
	envelope.message = message;
	if (!message) {
		*reason = g_strdup(error->message);
		return false;
	}
	transport->stop_fd = self_mail->stop_fd;
	transport_deliver(transport, &envelope, &result);
	if (result.outcome == DELIVERY_SENT)
		return true;
	*reason = g_strdup_printf("the relay does not accept it: %s", result.text);
	return false;
}

/* @return whether it was received */
static bool
find_mail(const struct self_mail *self_mail, const char *token, struct probe_mail *mail)
{
	g_autoptr(GPtrArray) rows =
	    inbox_load_page(self_mail->store, "done", INT64_MAX, NEWEST, NULL);

	for (unsigned i = 0; rows && i < rows->len; i++) {
		const struct inbox_row *row = rows->pdata[i];

		if (row->verdict && probe_mail_parse(row->verdict, token, mail))
			return true;
	}
	return false;
}

enum self_mail_result
self_mail_run(const struct self_mail *self_mail, struct probe_mail *mail, char **reason)
{
	pb_auto(own_addresses) own_addresses = NULL;
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	g_autofree char *token = NULL;
	g_autoptr(GError) error = NULL;
	int64_t end;

	own_addresses = own_addresses_new(self_mail->settings, &error);
	if (!own_addresses) {
		*reason = g_strdup(error->message);
		return SELF_MAIL_REJECTED;
	}
	self_mail->random->fill(self_mail->random->data, bytes, sizeof(bytes));
	token = token_format_random(bytes);
	if (!send_mail(self_mail, own_addresses, token, reason))
		return SELF_MAIL_REJECTED;
	end = g_get_monotonic_time() + self_mail->wait_s * G_USEC_PER_SEC;
	while (!find_mail(self_mail, token, mail)) {
		if (g_get_monotonic_time() >= end ||
		    (self_mail->stop && g_atomic_int_get(self_mail->stop)))
			return SELF_MAIL_LOST;
		g_usleep(POLL_US);
	}
	return SELF_MAIL_RECEIVED;
}
