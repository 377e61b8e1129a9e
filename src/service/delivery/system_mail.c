/*
 * system_mail.c - transactional mail: replies, confirmations and notices.
 */
#include "service/delivery/system_mail.h"

#include <string.h>

#include "base/bounds.h"
#include "base/token.h"
#include "message/address.h"
#include "message/compose.h"
#include "message/encoding.h"
#include "message/sanitize.h"
#include "render/sender.h"

/* Maximum number of message ids in References. */
#define REFERENCES 10

char *
system_mail_new_token(const struct system_mailer *system_mailer)
{
	uint8_t bytes[TOKEN_RANDOM_BYTES];
	char *token;

	system_mailer->random->fill(system_mailer->random->data, bytes, sizeof(bytes));
	token = token_format_random(bytes);
	explicit_bzero(bytes, sizeof(bytes));
	return token;
}

char *
system_mail_format_message_id(const struct system_mailer *system_mailer, const char *id)
{
	return g_strdup_printf(
	    "letter.%s@%s", id, system_mailer->own_addresses->domain);
}

char *
system_mail_format_subject(const struct inmail *mail)
{
	const char *subject = mail->subject;
	g_autofree char *line = NULL;

	while (g_ascii_strncasecmp(subject, "re:", 3) == 0)
		for (subject += 3; *subject == ' ';)
			subject++;
	line = sanitize_line(subject, BOUNDS_SUBJECT_CHARS - strlen("Re: "));
	return *line ? g_strconcat("Re: ", line, NULL) : NULL;
}

static void
append_id(GString *out, const char *id)
{
	if (header_is_message_id(id))
		g_string_append_printf(out, "%s<%s>", out->len ? " " : "", id);
}

/* RFC 5322 section 3.6.4. @return NULL without valid ids */
static char *
format_references(const struct inmail *mail)
{
	GString *out = g_string_new(NULL);
	const GPtrArray *ids = mail->references;
	unsigned first = 0;

	if (ids->len > REFERENCES)
		first = ids->len - REFERENCES;
	for (unsigned i = first; i < ids->len; i++)
		append_id(out, ids->pdata[i]);
	if (mail->message_id)
		append_id(out, mail->message_id);
	return g_string_free(out, out->len == 0);
}

static char *
format_in_reply_to(const struct inmail *mail)
{
	GString *out = g_string_new(NULL);

	if (mail->message_id)
		append_id(out, mail->message_id);
	return g_string_free(out, out->len == 0);
}

/* Whole lines, encoded. @param text may be NULL */
static struct compose_part
encode(GString *buffer, const char *text, struct compose_span *run)
{
	struct compose_part part = {.spans = run, .span_count = 1};

	if (!text)
		return (struct compose_part){0};
	part.encoding = encoding_append_text(buffer, text, strlen(text));
	if (!g_str_has_suffix(buffer->str, "\r\n"))
		g_string_append(buffer, "\r\n");
	*run = (struct compose_span){buffer->str, buffer->len};
	return part;
}

/* ---- fields that have a token ---- */

static const struct subaddress_base *
get_base(const struct system_mailer *system_mailer)
{
	return &system_mailer->own_addresses->commands;
}

/* Without subaddresses the token of a reply is in the Message-ID, and that of a
 * confirmation in the subject. */
static bool
has_tag(const struct system_mailer *system_mailer, const struct system_mail *mail,
    enum subaddress_kind kind)
{
	return mail->reply_token && mail->reply_kind == kind &&
	       !get_base(system_mailer)->delimiter;
}

static char *
format_reply_to(
    const struct system_mailer *system_mailer, const struct system_mail *mail)
{
	return mail->reply_token ? subaddress_format(get_base(system_mailer),
	                               mail->reply_kind, mail->reply_token)
	                         : g_strdup(mail->reply_to);
}

static char *
format_id(const struct system_mailer *system_mailer, const struct system_mail *mail,
    const char *random)
{
	bool is_tagged = has_tag(system_mailer, mail, SUBADDRESS_REPLY);
	g_autofree char *id = g_strconcat(mail->id ? mail->id : random,
	    is_tagged ? "." : NULL, mail->reply_token, NULL);

	return system_mail_format_message_id(system_mailer, id);
}

static char *
format_subject(
    const struct system_mailer *system_mailer, const struct system_mail *mail)
{
	g_autofree char *tag =
	    has_tag(system_mailer, mail, SUBADDRESS_CONFIRM)
	        ? subaddress_format_tag(SUBADDRESS_CONFIRM, mail->reply_token)
	        : NULL;
	g_autofree char *line = sanitize_line(
	    mail->subject, BOUNDS_SUBJECT_CHARS - (tag ? strlen(tag) + 1 : 0));

	return g_strconcat(line, tag ? " " : NULL, tag, NULL);
}

static char *
format_sender(const struct system_mailer *system_mailer, const struct system_mail *mail)
{
	return mail->bounce_token
	           ? subaddress_format(&system_mailer->own_addresses->bounces,
	                 SUBADDRESS_BOUNCE, mail->bounce_token)
	           : g_strdup(mail->sender);
}

/* ---- the message ---- */

static char *
format_list_id(const struct system_mailer *system_mailer)
{
	const char *own = system_mailer->settings->mail_list_id;

	return *own ? g_strdup_printf("paperboy <%s>", own)
	            : g_strdup_printf(
	                  "paperboy <digest.%s>", system_mailer->own_addresses->domain);
}

static GBytes *
build(const struct system_mailer *system_mailer, const struct system_mail *mail,
    GError **error)
{
	const struct inmail *answered = mail->answered;
	const char *from = system_mailer->own_addresses->has_commands
	                       ? system_mailer->own_addresses->commands.address.text
	                       : system_mailer->settings->mail_from;
	g_autofree char *token = system_mail_new_token(system_mailer);
	g_autofree char *random = system_mail_new_token(system_mailer);
	g_autofree char *boundary = g_strconcat("=_", random, NULL);
	g_autofree char *id = format_id(system_mailer, mail, token);
	g_autofree char *reply_to = format_reply_to(system_mailer, mail);
	g_autofree char *in_reply_to = answered ? format_in_reply_to(answered) : NULL;
	g_autofree char *references = answered ? format_references(answered) : NULL;
	g_autofree char *subject = format_subject(system_mailer, mail);
	const char *name = *system_mailer->settings->mail_from_name
	                       ? system_mailer->settings->mail_from_name
	                       : NULL;
	bool is_bulk = mail->list_unsubscribe != NULL;
	g_autofree char *list_id = is_bulk ? format_list_id(system_mailer) : NULL;
	g_autofree char *owner = is_bulk ? g_strdup_printf("<mailto:%s>",
	                                       system_mailer->settings->mail_owner)
	                                 : NULL;
	const struct compose_header extra[] = {
	    {"Reply-To", reply_to},
	    {"List-Id", list_id},
	    {"List-Unsubscribe", mail->list_unsubscribe},
	    {"List-Unsubscribe-Post", mail->has_one_click ? SENDER_ONE_CLICK : NULL},
	    {"List-Owner", owner},
	    {"Precedence", is_bulk ? "bulk" : NULL},
	    {"In-Reply-To", in_reply_to},
	    {"References", references},
	    {"Auto-Submitted", answered ? "auto-replied" : "auto-generated"},
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	    {"X-Loop", from},
	    {SUBADDRESS_BOUNCE_FIELD,
	        get_base(system_mailer)->delimiter ? NULL : mail->bounce_token},
	};
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) file = g_string_new(NULL);
	g_autoptr(GString) html = g_string_new(NULL);
	struct compose_span runs[3];
	const struct compose_headers fields = {
	    .date = system_mailer->now,
	    .from = {name, from},
	    .to = {NULL, mail->recipient},
	    .subject = subject,
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .boundary = boundary,
	    .text = encode(text, mail->text, &runs[0]),
	    .html = encode(html, mail->html, &runs[2]),
	    .file = {mail->file_name, mail->file_type,
	        encode(file, mail->file_text, &runs[1])},
	};

	return compose_message(&fields, error);
}

bool
system_mail_send(const struct system_mailer *system_mailer,
    const struct system_mail *mail, int64_t *id, GError **error)
{
	pb_local(address) recipient = {0};
	g_autofree char *key = NULL;
	g_autofree char *sender = format_sender(system_mailer, mail);
	g_autoptr(GBytes) message = NULL;
	struct outbox_mail row = {
	    .kind = mail->kind,
	    .subscriber_id = mail->subscriber_id,
	    .recipient = mail->recipient,
	    .sender = sender,
	    .now = system_mailer->now,
	};

	if (!address_parse(mail->recipient, &recipient, error))
		return false;
	key = address_format_key(&recipient);
	message = build(system_mailer, mail, error);
	if (!message)
		return false;
	row.address_key = key;
	row.message = message;
	return outbox_add_mail(system_mailer->store, &row, id, error);
}
