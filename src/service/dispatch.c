/*
 * dispatch.c - one of our answers becomes a message in the outbox.
 */
#include "service/dispatch.h"

#include <string.h>

#include "base/bounds.h"
#include "base/token.h"
#include "mail/address.h"
#include "mail/encoding.h"
#include "mail/inert.h"
#include "mail/message.h"

/* So many ids of a conversation are repeated in References. */
#define REFERENCES 10

char *
dispatch_draw_token(const struct dispatch *dispatch)
{
	uint8_t octets[TOKEN_DRAWN_BYTES];
	char *token;

	dispatch->draw(dispatch->data, octets, sizeof(octets));
	token = token_format_drawn(octets);
	explicit_bzero(octets, sizeof(octets));
	return token;
}

char *
dispatch_format_message_id(const struct dispatch *dispatch, const char *id)
{
	return g_strdup_printf("letter.%s@%s", id, dispatch->house->domain);
}

char *
dispatch_format_subject(const struct letter *letter)
{
	const char *subject = letter->subject;
	g_autofree char *line = NULL;

	while (g_ascii_strncasecmp(subject, "re:", 3) == 0)
		for (subject += 3; *subject == ' ';)
			subject++;
	line = inert_format_line(subject, BOUNDS_SUBJECT_CHARS - strlen("Re: "));
	return *line ? g_strconcat("Re: ", line, NULL) : g_strdup("Re: your letter");
}

static void
append_id(GString *out, const char *id)
{
	if (header_is_message_id(id))
		g_string_append_printf(out, "%s<%s>", out->len ? " " : "", id);
}

/* RFC 5322 section 3.6.4. @return NULL where nothing can be referred to */
static char *
format_references(const struct letter *letter)
{
	GString *out = g_string_new(NULL);
	const GPtrArray *ids = letter->references;
	unsigned first = 0;

	if (ids->len > REFERENCES)
		first = ids->len - REFERENCES;
	for (unsigned i = first; i < ids->len; i++)
		append_id(out, ids->pdata[i]);
	if (letter->message_id)
		append_id(out, letter->message_id);
	return g_string_free(out, out->len == 0);
}

static char *
format_in_reply_to(const struct letter *letter)
{
	GString *out = g_string_new(NULL);

	if (letter->message_id)
		append_id(out, letter->message_id);
	return g_string_free(out, out->len == 0);
}

/* Whole lines, encoded. @param text may be NULL */
static struct message_part
encode(GString *buffer, const char *text, struct message_run *run)
{
	struct message_part part = {.runs = run, .run_count = 1};

	if (!text)
		return (struct message_part){0};
	part.encoding = encoding_append_text(buffer, text, strlen(text));
	if (!g_str_has_suffix(buffer->str, "\r\n"))
		g_string_append(buffer, "\r\n");
	*run = (struct message_run){buffer->str, buffer->len};
	return part;
}

static GBytes *
build(const struct dispatch *dispatch, const struct dispatch_letter *letter,
    GError **error)
{
	const struct letter *answered = letter->answered;
	const char *from = dispatch->house->has_commands
	                       ? dispatch->house->commands.address.text
	                       : dispatch->settings->mail_from;
	g_autofree char *token = dispatch_draw_token(dispatch);
	const char *unique = letter->id ? letter->id : token;
	g_autofree char *seam = dispatch_draw_token(dispatch);
	g_autofree char *boundary = g_strconcat("=_", seam, NULL);
	g_autofree char *id = dispatch_format_message_id(dispatch, unique);
	g_autofree char *in_reply_to = answered ? format_in_reply_to(answered) : NULL;
	g_autofree char *references = answered ? format_references(answered) : NULL;
	g_autofree char *subject =
	    inert_format_line(letter->subject, BOUNDS_SUBJECT_CHARS);
	const char *name = *dispatch->settings->mail_from_name
	                       ? dispatch->settings->mail_from_name
	                       : NULL;
	const struct message_field extra[] = {
	    {"Reply-To", letter->reply_to},
	    {"In-Reply-To", in_reply_to},
	    {"References", references},
	    {"Auto-Submitted", answered ? "auto-replied" : "auto-generated"},
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	    {"X-Loop", from},
	};
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) file = g_string_new(NULL);
	struct message_run runs[2];
	const struct message_fields fields = {
	    .date = dispatch->now,
	    .from = {name, from},
	    .to = {NULL, letter->recipient},
	    .subject = subject,
	    .message_id = id,
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	    .boundary = boundary,
	    .text = encode(text, letter->text, &runs[0]),
	    .file = {letter->file_name, letter->file_type,
	        encode(file, letter->file_text, &runs[1])},
	};

	return message_build(&fields, error);
}

bool
dispatch_send(const struct dispatch *dispatch, const struct dispatch_letter *letter,
    int64_t *id, GError **error)
{
	struct address recipient = {0};
	g_autofree char *key = NULL;
	g_autoptr(GBytes) message = NULL;
	struct outbox_letter row = {
	    .kind = letter->kind,
	    .subscriber_id = letter->subscriber_id,
	    .recipient = letter->recipient,
	    .sender = letter->sender,
	    .now = dispatch->now,
	};

	if (!address_parse(letter->recipient, &recipient, error))
		return false;
	key = address_format_key(&recipient);
	address_clear(&recipient);
	message = build(dispatch, letter, error);
	if (!message)
		return false;
	row.address_key = key;
	row.message = message;
	return outbox_add_letter(dispatch->store, &row, id, error);
}
