/*
 * fuzz_lmtp.c - feed any bytes to the LMTP server.
 *
 * Input in pieces of any size gives the same replies and mails as the whole; each reply
 * is a line with a code, and mails contain only bytes from the client.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "fuzz.h"
#include "message/dedup_key.h"
#include "receive/lmtp_session.h"

/* Everything passed to the sink, as text. */
struct basket {
	GString *reported;
	unsigned failures; /* one bit per message: rejected */
};

static bool
take(void *data, const struct receive_mail *mail, GError **error)
{
	struct basket *basket = data;
	bool is_refused = basket->failures & 1;

	g_assert(mail->size <= BOUNDS_MAIL_BYTES);
	g_assert(strlen(mail->sender) <= BOUNDS_ADDRESS_BYTES);
	g_assert(*mail->recipient);
	g_assert(strlen(mail->recipient) <= BOUNDS_ADDRESS_BYTES);
	fuzz_check_line(mail->sender, BOUNDS_ADDRESS_BYTES * 4);
	g_string_append_printf(basket->reported, "<%s> <%s> %zu ", mail->sender,
	    mail->recipient, mail->size);
	g_string_append_len(basket->reported, mail->raw, (gssize)mail->size);
	basket->failures >>= 1;
	if (is_refused)
		g_set_error(error, PB_ERROR, (int)(mail->size % 5), "no\r\n%s",
		    mail->recipient);
	return !is_refused;
}

static void
note(void *data, const GError *problem)
{
	(void)data;
	(void)problem;
}

static void
check_answers(const GString *out)
{
	g_auto(GStrv) lines = g_strsplit(out->str, "\r\n", -1);
	guint count = g_strv_length(lines);

	g_assert(strlen(out->str) == out->len);
	g_assert(g_str_has_suffix(out->str, "\r\n"));
	for (guint i = 0; i + 1 < count; i++) {
		g_assert(strlen(lines[i]) <= BOUNDS_REPLY_LINE_BYTES);
		g_assert(strspn(lines[i], "0123456789") == 3);
		g_assert(
		    strchr("245", lines[i][0]) || g_str_has_prefix(lines[i], "354"));
		g_assert(lines[i][3] == ' ' || lines[i][3] == '-');
		g_assert(!strpbrk(lines[i], "\r\n"));
	}
}

static char *
talk(const char *bytes, size_t size, size_t piece, unsigned failures)
{
	struct basket basket = {.reported = g_string_new(NULL), .failures = failures};
	const struct receiver_sink sink = {
	    .take = take, .report = note, .data = &basket};
	struct lmtp_session *session = lmtp_session_new(&sink);

	for (size_t at = 0; at < size; at += piece) {
		size_t part = MIN(piece, size - at);
		/* Exact size, so that sanitizers detect reads beyond it. */
		g_autofree char *copy = g_memdup2(bytes + at, part);

		lmtp_session_feed(session, copy, part);
	}
	check_answers(lmtp_session_get_output(session));
	g_string_append(basket.reported, lmtp_session_get_output(session)->str);
	g_string_append_printf(basket.reported, "%d %u",
	    lmtp_session_is_closed(session), lmtp_session_get_accepted(session));
	lmtp_session_free(session);
	/* May contain NULs of messages. */
	for (size_t i = 0; i < basket.reported->len; i++)
		if (!basket.reported->str[i])
			basket.reported->str[i] = '0';
	return g_string_free(basket.reported, FALSE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	size_t piece = 1 + fuzz_take_byte(&input) % 64;
	unsigned failures = fuzz_take_byte(&input);
	const char *bytes = input.left ? (const char *)input.at : "";
	g_autofree char *whole = talk(bytes, input.left, G_MAXINT, failures);
	g_autofree char *pieces = talk(bytes, input.left, piece, failures);

	g_assert_cmpstr(whole, ==, pieces);
	return 0;
}
