/*
 * stream_imap.c - what an IMAP server answers to libcurl while it connects.
 */
#include <string.h>

#include "base/bounds.h"
#include "net/stream_private.h"

/* A refusal that says of itself that it may pass (RFC 5530 section 3). */
static bool
is_passing(const char *text, size_t size)
{
	static const char *const codes[] = {
	    "[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]", "[CONTACTADMIN]"};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
		if (size >= strlen(codes[i]) &&
		    g_ascii_strncasecmp(text, codes[i], strlen(codes[i])) == 0)
			return true;
	return false;
}

/* Whether a word stands there, alone, in any case. */
static bool
has_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size >= length && g_ascii_strncasecmp(text, word, length) == 0 &&
	       (size == length || text[length] == ' ');
}

/* @return 200, 400 or 500 for what is a result, 0 for what is none */
static unsigned
code_from_text(const char *text, size_t size)
{
	static const struct {
		const char *word;
		unsigned code;
	} rows[] = {{"OK", 200}, {"NO", 500}, {"BAD", 500}, {"BYE", 400}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		size_t skip = strlen(rows[i].word) + 1;

		if (!has_word(text, size, rows[i].word))
			continue;
		if (size > skip && is_passing(text + skip, size - skip))
			return 400;
		return rows[i].code;
	}
	return 0;
}

/* A result has come: libcurl now takes its next step. */
static void
note_result(struct connecting *connecting)
{
	bool is_good = connecting->code == 200;

	connecting->is_reply_whole = true;
	switch (connecting->step) {
	case STREAM_STEP_CONNECT:
		if (is_good)
			connecting->step = STREAM_STEP_HELLO;
		break;
	case STREAM_STEP_HELLO:
		if (connecting->options->tls == STREAM_TLS_STARTTLS &&
		    !connecting->is_secured)
			connecting->step = STREAM_STEP_STARTTLS;
		else
			connecting->step = STREAM_STEP_LOGIN;
		break;
	case STREAM_STEP_STARTTLS:
		connecting->is_secured = is_good;
		break;
	case STREAM_STEP_LOGIN:
		connecting->is_logged_in = is_good;
		break;
	}
}

static void
begin_answer(struct connecting *connecting)
{
	g_string_truncate(connecting->reply, 0);
	connecting->n_lines = 0;
	connecting->is_reply_whole = false;
	/* The handshake has succeeded, since the host answers again. */
	if (connecting->step == STREAM_STEP_STARTTLS && connecting->is_secured)
		connecting->step = STREAM_STEP_HELLO;
}

bool
stream_imap_note_line(struct connecting *connecting, const char *line, size_t size)
{
	const char *text;
	unsigned code;
	bool is_untagged;

	if (connecting->is_reply_whole)
		begin_answer(connecting);
	while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
		size--;
	if (size == 0 || size > BOUNDS_IMAP_HELLO_BYTES || memchr(line, '\0', size) ||
	    ++connecting->n_lines > BOUNDS_IMAP_HELLO_LINES)
		return false;
	if (line[0] == '+')
		return true;
	text = memchr(line, ' ', size);
	if (!text || text == line)
		return false;
	text++;
	is_untagged = text == line + 2 && line[0] == '*';
	code = code_from_text(text, size - (size_t)(text - line));

	if (is_untagged && connecting->step != STREAM_STEP_CONNECT && code != 400)
		return true;
	/* A host that takes us as somebody already is not asked who we are. */
	if (is_untagged && has_word(text, size - 2, "PREAUTH"))
		return !connecting->options->user;
	if (code == 0)
		return false;
	connecting->code = code;
	g_string_append_len(connecting->reply, line, (gssize)size);
	g_string_append_c(connecting->reply, '\n');
	note_result(connecting);
	return true;
}
