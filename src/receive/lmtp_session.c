/*
 * lmtp_session.c - protocol state of one LMTP client (RFC 2033): bytes in, bytes out.
 */
#include "receive/lmtp_session.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* Maximum length of an error message in a reply. */
#define REASON_BYTES 200

enum stage {
	STAGE_NEW,   /* before LHLO */
	STAGE_READY, /* before MAIL */
	STAGE_MAIL,  /* before DATA */
	STAGE_DATA,
	STAGE_CLOSED,
};

/* Position in a line of the message; a CR or dot is held back until the next byte. */
enum place { PLACE_START, PLACE_DOT, PLACE_DOT_CR, PLACE_CR, PLACE_MIDDLE };

struct lmtp_session {
	const struct receiver_sink *sink;
	GString *out;
	enum stage stage;
	GString *line;  /* incomplete command */
	size_t skipped; /* of a command that is too long, bytes dropped */
	unsigned errors;
	unsigned commands; /* since the last message */
	unsigned messages;
	char *sender;
	bool is_utf8;          /* SMTPUTF8 was requested */
	GPtrArray *recipients; /* char * */
	unsigned unknown;      /* unknown recipients */
	enum place place;
	GString *mail;
	size_t more_bytes; /* beyond the size limit, dropped */
};

struct lmtp_session *
lmtp_session_new(const struct receiver_sink *sink)
{
	struct lmtp_session *session = g_new0(struct lmtp_session, 1);

	session->sink = sink;
	session->out = g_string_new("220 paperboy LMTP\r\n");
	session->line = g_string_new(NULL);
	session->mail = g_string_new(NULL);
	session->recipients = g_ptr_array_new_with_free_func(g_free);
	return session;
}

void
lmtp_session_free(struct lmtp_session *session)
{
	if (!session)
		return;
	g_string_free(session->out, TRUE);
	g_string_free(session->line, TRUE);
	g_string_free(session->mail, TRUE);
	g_ptr_array_unref(session->recipients);
	g_free(session->sender);
	g_free(session);
}

static void
add_reply(struct lmtp_session *session, const char *reply)
{
	g_string_append(session->out, reply);
	g_string_append(session->out, "\r\n");
}

void
lmtp_session_end(struct lmtp_session *session, const char *reply)
{
	if (session->stage == STAGE_CLOSED)
		return;
	add_reply(session, reply);
	session->stage = STAGE_CLOSED;
}

static void
reject(struct lmtp_session *session, const char *reply)
{
	if (++session->errors >= BOUNDS_LMTP_ERRORS)
		lmtp_session_end(session, "421 4.7.0 Too many errors");
	else
		add_reply(session, reply);
}

/* End the transaction. */
static void
reset(struct lmtp_session *session)
{
	g_clear_pointer(&session->sender, g_free);
	g_ptr_array_set_size(session->recipients, 0);
	session->unknown = 0;
	session->is_utf8 = false;
	session->more_bytes = 0;
	/* Release the memory as well: there may be many clients. */
	g_string_free(session->mail, TRUE);
	session->mail = g_string_new(NULL);
	if (session->stage > STAGE_READY && session->stage != STAGE_CLOSED)
		session->stage = STAGE_READY;
}

/* ---- Message ---- */

/* @return all recipients, one per line */
static char *
format_recipients(GPtrArray *recipients)
{
	char *text;

	g_ptr_array_add(recipients, NULL);
	text = g_strjoinv("\n", (char **)recipients->pdata);
	g_ptr_array_set_size(recipients, (int)recipients->len - 1);
	return text;
}

/* Reply for an error. Its text may quote the client. */
static char *
format_failure(const GError *problem)
{
	const char *code = "451 4.3.0";
	char *reply;

	if (g_error_matches(problem, PB_ERROR, PB_ERROR_LIMIT))
		code = "552 5.3.4";
	else if (g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT))
		code = "554 5.6.0";
	reply = g_strdup_printf("%s %.*s", code, REASON_BYTES, problem->message);
	for (char *at = reply; *at; at++)
		if (!g_ascii_isprint(*at))
			*at = '?';
	return reply;
}

static char *
store_message(struct lmtp_session *session)
{
	g_autofree char *recipients = format_recipients(session->recipients);
	const struct receive_mail mail = {
	    .raw = session->mail->str,
	    .size = session->mail->len,
	    .sender = session->sender,
	    .recipient = recipients,
	};
	g_autoptr(GError) problem = NULL;

	if (session->more_bytes)
		return g_strdup("552 5.3.4 Message size exceeds fixed limit");
	session->messages++;
	session->commands = 0;
	if (session->sink->take(session->sink->data, &mail, &problem))
		return g_strdup("250 2.0.0 OK queued");
	return format_failure(problem);
}

/* One reply per recipient (RFC 2033 section 4.2). */
static void
end_message(struct lmtp_session *session)
{
	g_autofree char *reply = store_message(session);

	for (unsigned i = 0; i < session->recipients->len; i++)
		add_reply(session, reply);
	reset(session);
}

static void
add_to_message(struct lmtp_session *session, char byte)
{
	if (!session->more_bytes && session->mail->len < BOUNDS_MAIL_BYTES) {
		g_string_append_c(session->mail, byte);
		return;
	}
	session->more_bytes++;
	if (session->more_bytes > BOUNDS_LMTP_FLOOD_BYTES)
		lmtp_session_end(session, "421 4.7.0 Message size exceeds fixed limit");
}

/* @return whether this byte ends the message */
static bool
add_byte(struct lmtp_session *session, char byte)
{
	switch (session->place) {
	case PLACE_DOT_CR:
		if (byte == '\n')
			return true;
		/* fall through */
	case PLACE_CR:
		add_to_message(session, '\r');
		if (byte == '\n') {
			add_to_message(session, '\n');
			session->place = PLACE_START;
			return false;
		}
		break;
	case PLACE_DOT:
		/* Dot stuffing (RFC 5321 section 4.5.2). */
		session->place = PLACE_MIDDLE;
		if (byte == '\r') {
			session->place = PLACE_DOT_CR;
			return false;
		}
		break;
	case PLACE_START:
		if (byte == '.') {
			session->place = PLACE_DOT;
			return false;
		}
		break;
	case PLACE_MIDDLE:
		break;
	}
	session->place = byte == '\r' ? PLACE_CR : PLACE_MIDDLE;
	if (byte != '\r')
		add_to_message(session, byte);
	return false;
}

/* @return number of bytes consumed */
static size_t
feed_message(struct lmtp_session *session, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (add_byte(session, bytes[i])) {
			end_message(session);
			return i + 1;
		}
		if (session->stage == STAGE_CLOSED)
			return size;
	}
	return size;
}

/* ---- Parameters of MAIL and RCPT; errors are complete static replies ---- */

/*
 * Parse "<a@b> SIZE=1".
 *
 * @param rest  set on success: the parameters
 * @return a new string without the source route (RFC 5321 appendix C), or NULL
 */
static char *
parse_path(const char *text, const char **rest)
{
	bool is_quoted = false;
	const char *from;

	while (*text == ' ')
		text++;
	if (*text++ != '<')
		return NULL;
	if (*text == '@') {
		text = strchr(text, ':');
		if (!text)
			return NULL;
		text++;
	}
	for (from = text; *text && (is_quoted || *text != '>'); text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		else if (*text == '\\' && text[1])
			text++;
	}
	if (*text != '>' || (text[1] && text[1] != ' '))
		return NULL;
	*rest = text + 1;
	return g_strndup(from, (gsize)(text - from));
}

static const char *
check_address(const char *address, bool is_utf8)
{
	if (strlen(address) > BOUNDS_ADDRESS_BYTES || strpbrk(address, " <>,"))
		return "553 5.1.3 Bad address syntax";
	if (g_str_is_ascii(address))
		return NULL;
	if (!is_utf8)
		return "553 5.6.7 Address requires SMTPUTF8";
	return g_utf8_validate(address, -1, NULL)
	           ? NULL
	           : "553 5.6.7 Address is not valid UTF-8";
}

/* @return an error reply, or NULL */
static const char *
check_mail_parameter(const char *word, bool *is_utf8)
{
	if (g_ascii_strcasecmp(word, "SMTPUTF8") == 0) {
		*is_utf8 = true;
		return NULL;
	}
	if (g_ascii_strcasecmp(word, "BODY=7BIT") == 0 ||
	    g_ascii_strcasecmp(word, "BODY=8BITMIME") == 0)
		return NULL;
	if (g_ascii_strncasecmp(word, "SIZE=", 5) == 0) {
		guint64 size;

		/* RFC 1870 section 3: at most twenty digits. */
		if (!g_ascii_string_to_unsigned(
		        word + 5, 10, 0, G_MAXUINT64, &size, NULL))
			return "501 5.5.4 Bad message size syntax";
		return size > BOUNDS_MAIL_BYTES
		           ? "552 5.3.4 Message size exceeds fixed limit"
		           : NULL;
	}
	return "555 5.5.4 Unsupported option";
}

static const char *
check_mail_parameters(const char *text, bool *is_utf8)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **word = words; *word; word++) {
		const char *rejection =
		    **word ? check_mail_parameter(*word, is_utf8) : NULL;

		if (rejection)
			return rejection;
	}
	return NULL;
}

/* ---- Commands ---- */

static void
do_mail(struct lmtp_session *session, const char *text)
{
	const char *rest, *rejection;
	g_autofree char *path = NULL;
	bool is_utf8 = false;

	if (session->stage != STAGE_READY) {
		reject(session, session->stage == STAGE_NEW
		                    ? "503 5.5.1 Error: send LHLO first"
		                    : "503 5.5.1 Error: nested MAIL command");
		return;
	}
	path = g_ascii_strncasecmp(text, "FROM:", 5) == 0 ? parse_path(text + 5, &rest)
	                                                  : NULL;
	if (!path) {
		reject(session, "501 5.5.4 Syntax: MAIL FROM:<address>");
		return;
	}
	rejection = check_mail_parameters(rest, &is_utf8);
	if (!rejection)
		rejection = check_address(path, is_utf8);
	if (rejection) {
		reject(session, rejection);
		return;
	}
	session->sender = g_steal_pointer(&path);
	session->is_utf8 = is_utf8;
	session->stage = STAGE_MAIL;
	add_reply(session, "250 2.1.0 OK");
}

static void
do_rcpt(struct lmtp_session *session, const char *text)
{
	const char *rest, *rejection = NULL;
	g_autofree char *path = NULL;

	if (session->stage != STAGE_MAIL) {
		reject(session, "503 5.5.1 Error: need MAIL command");
		return;
	}
	path = g_ascii_strncasecmp(text, "TO:", 3) == 0 ? parse_path(text + 3, &rest)
	                                                : NULL;
	if (!path)
		rejection = "501 5.5.4 Syntax: RCPT TO:<address>";
	else if (!*path)
		rejection = "553 5.1.3 Bad recipient address syntax";
	else if (rest[strspn(rest, " ")])
		rejection = "555 5.5.4 Unsupported option";
	else
		rejection = check_address(path, session->is_utf8);
	if (!rejection &&
	    session->recipients->len + session->unknown >= BOUNDS_LMTP_RECIPIENTS)
		rejection = "452 4.5.3 Too many recipients";
	if (rejection) {
		reject(session, rejection);
		return;
	}
	if (session->sink->is_known &&
	    !session->sink->is_known(session->sink->data, path)) {
		/*
		 * Not counted as an error: servers probe addresses to verify senders.
		 */
		session->unknown++;
		add_reply(
		    session, "550 5.1.1 Recipient address rejected: User unknown");
		return;
	}
	g_ptr_array_add(session->recipients, g_steal_pointer(&path));
	add_reply(session, "250 2.1.5 OK");
}

static void
do_data(struct lmtp_session *session, const char *text)
{
	if (*text) {
		reject(session, "501 5.5.4 Syntax: DATA");
	} else if (session->stage != STAGE_MAIL || !session->recipients->len) {
		reject(session, "503 5.5.1 Error: no valid recipients");
	} else {
		session->stage = STAGE_DATA;
		session->place = PLACE_START;
		add_reply(session, "354 End data with <CR><LF>.<CR><LF>");
	}
}

static void
do_lhlo(struct lmtp_session *session, const char *text)
{
	if (!*text) {
		reject(session, "501 5.5.4 Syntax: LHLO hostname");
		return;
	}
	reset(session);
	session->stage = STAGE_READY;
	g_string_append_printf(session->out,
	    "250-paperboy\r\n250-SIZE %d\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n"
	    "250-PIPELINING\r\n250 ENHANCEDSTATUSCODES\r\n",
	    BOUNDS_MAIL_BYTES);
}

static void
do_rset(struct lmtp_session *session, const char *text)
{
	(void)text;
	reset(session);
	add_reply(session, "250 2.0.0 OK");
}

static void
do_noop(struct lmtp_session *session, const char *text)
{
	(void)text;
	add_reply(session, "250 2.0.0 OK");
}

static void
do_vrfy(struct lmtp_session *session, const char *text)
{
	(void)text;
	add_reply(session, "252 2.5.0 Cannot VRFY user, but will accept message");
}

static void
do_quit(struct lmtp_session *session, const char *text)
{
	(void)text;
	lmtp_session_end(session, "221 2.0.0 Bye");
}

/* RFC 2033 section 4.1. */
static void
do_helo(struct lmtp_session *session, const char *text)
{
	(void)text;
	reject(session, "500 5.5.1 Error: this is LMTP, send LHLO");
}

static const struct {
	const char *verb;
	void (*run)(struct lmtp_session *session, const char *text);
} commands[] = {
    {"LHLO", do_lhlo},
    {"MAIL", do_mail},
    {"RCPT", do_rcpt},
    {"DATA", do_data},
    {"RSET", do_rset},
    {"NOOP", do_noop},
    {"VRFY", do_vrfy},
    {"QUIT", do_quit},
    {"HELO", do_helo},
    {"EHLO", do_helo},
};

static bool
has_control(const GString *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (g_ascii_iscntrl(line->str[i]))
			return true;
	return false;
}

static void
run_line(struct lmtp_session *session)
{
	GString *line = session->line;
	size_t size = strcspn(line->str, " ");
	const char *text = line->str + size + strspn(line->str + size, " ");

	if (has_control(line)) {
		reject(session, "500 5.5.2 Error: control characters in command");
		return;
	}
	while (line->len && line->str[line->len - 1] == ' ')
		g_string_truncate(line, line->len - 1);
	/* RCPT has its own limit. */
	if (g_ascii_strncasecmp(line->str, "RCPT", 4) != 0 &&
	    ++session->commands > BOUNDS_LMTP_COMMANDS) {
		lmtp_session_end(session, "421 4.7.0 Too many commands");
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strlen(commands[i].verb) == size &&
		    g_ascii_strncasecmp(line->str, commands[i].verb, size) == 0) {
			commands[i].run(session, text);
			return;
		}
	reject(session, "500 5.5.1 Error: command not recognized");
}

/* @return number of bytes consumed */
static size_t
feed_line(struct lmtp_session *session, const char *bytes, size_t size)
{
	GString *line = session->line;
	const char *end = memchr(bytes, '\n', size);
	size_t used = end ? (size_t)(end - bytes) + 1 : size;
	size_t part = end ? used - 1 : used;

	/* One more for the CR. */
	if (session->skipped || line->len + part > BOUNDS_LMTP_LINE_BYTES + 1)
		session->skipped += part;
	else
		g_string_append_len(line, bytes, (gssize)part);
	if (session->skipped > BOUNDS_LMTP_SKIP_BYTES) {
		lmtp_session_end(session, "421 4.7.0 Line too long");
		return size;
	}
	if (!end)
		return used;
	if (line->len && line->str[line->len - 1] == '\r')
		g_string_truncate(line, line->len - 1);
	if (session->skipped || line->len > BOUNDS_LMTP_LINE_BYTES)
		reject(session, "500 5.5.2 Error: line too long");
	else
		run_line(session);
	session->skipped = 0;
	g_string_truncate(line, 0);
	return used;
}

void
lmtp_session_feed(struct lmtp_session *session, const char *bytes, size_t size)
{
	while (size && session->stage != STAGE_CLOSED) {
		size_t used = session->stage == STAGE_DATA
		                  ? feed_message(session, bytes, size)
		                  : feed_line(session, bytes, size);

		bytes += used;
		size -= used;
	}
}

GString *
lmtp_session_get_output(struct lmtp_session *session)
{
	return session->out;
}

bool
lmtp_session_is_closed(const struct lmtp_session *session)
{
	return session->stage == STAGE_CLOSED;
}

unsigned
lmtp_session_get_accepted(const struct lmtp_session *session)
{
	return session->messages;
}
