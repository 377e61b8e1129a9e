/*
 * imap_line.c - check of one line from an IMAP server before libetpan sees it.
 */
#include "receive/imap_line.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

/* The unread part of a line. */
struct rest {
	const char *at;
	const char *end;
};

static bool
refuse(const char *what, GError **error)
{
	return pb_fail(error, PB_ERROR_TEMPORARY, "the IMAP server sent %s", what);
}

/* Read a number of at most 32 bits. */
static bool
read_number(struct rest *rest, uint32_t *number)
{
	uint64_t value = 0;
	const char *at = rest->at;

	while (at < rest->end && g_ascii_isdigit(*at)) {
		value = value * 10 + (uint64_t)(*at++ - '0');
		if (value > UINT32_MAX)
			return false;
	}
	if (at == rest->at)
		return false;
	rest->at = at;
	*number = (uint32_t)value;
	return true;
}

/* Read a word, case-insensitively, and the space after it. */
static bool
read_word(struct rest *rest, const char *word)
{
	size_t length = strlen(word);
	size_t left = (size_t)(rest->end - rest->at);

	if (left < length || g_ascii_strncasecmp(rest->at, word, length) != 0)
		return false;
	if (left > length && rest->at[length] != ' ')
		return false;
	rest->at += MIN(left, length + 1);
	return true;
}

static bool
read_any(struct rest *rest, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (read_word(rest, words[i]))
			return true;
	return false;
}

/* "{number}" at the end of a line announces a literal. Other parsers may accept one
 * elsewhere: large numbers are rejected everywhere. */
static bool
find_literal(struct rest rest, struct imap_line *line, GError **error)
{
	for (; rest.at < rest.end; rest.at++) {
		struct rest inside = {rest.at + 1, rest.end};
		uint32_t bytes = 0;

		if (*rest.at != '{' || inside.at == inside.end ||
		    !g_ascii_isdigit(*inside.at))
			continue;
		if (!read_number(&inside, &bytes) || bytes > BOUNDS_MAIL_BYTES + 1)
			return refuse("a literal that is too large", error);
		if (inside.at + 1 != inside.end || *inside.at != '}')
			continue;
		line->has_literal = true;
		line->literal_bytes = bytes;
	}
	return true;
}

static bool
check_bytes(struct rest rest, GError **error)
{
	unsigned n_opened = 0;

	for (; rest.at < rest.end; rest.at++) {
		if (*rest.at == '\0')
			return refuse("a NUL", error);
		if (*rest.at == '(' && ++n_opened > BOUNDS_IMAP_PARENTHESES)
			return refuse("too many parentheses", error);
	}
	return true;
}

static enum imap_line_kind
find_numbered_kind(struct rest *rest)
{
	if (read_word(rest, "EXISTS"))
		return IMAP_LINE_EXISTS;
	if (read_word(rest, "EXPUNGE"))
		return IMAP_LINE_EXPUNGED;
	if (read_word(rest, "RECENT"))
		return IMAP_LINE_DATA;
	if (read_word(rest, "FETCH") && rest->at < rest->end && *rest->at == '(')
		return IMAP_LINE_FETCH;
	return IMAP_LINE_OTHER;
}

static enum imap_line_kind
find_kind(struct rest rest, uint32_t *number)
{
	static const char *const results[] = {"OK", "NO", "BAD"};
	static const char *const asked[] = {"CAPABILITY", "FLAGS", "SEARCH"};

	if (rest.at < rest.end && *rest.at == '+')
		return IMAP_LINE_CONTINUE;
	if (read_word(&rest, "*")) {
		if (read_number(&rest, number))
			return read_word(&rest, "") ? find_numbered_kind(&rest)
			                            : IMAP_LINE_OTHER;
		if (read_word(&rest, "BYE"))
			return IMAP_LINE_BYE;
		if (read_any(&rest, results, G_N_ELEMENTS(results)))
			return IMAP_LINE_STATUS;
		return read_any(&rest, asked, G_N_ELEMENTS(asked)) ? IMAP_LINE_DATA
		                                                   : IMAP_LINE_OTHER;
	}
	while (rest.at < rest.end && g_ascii_isalnum(*rest.at))
		rest.at++;
	return read_word(&rest, "") && read_any(&rest, results, G_N_ELEMENTS(results))
	           ? IMAP_LINE_RESULT
	           : IMAP_LINE_OTHER;
}

bool
imap_line_parse(const char *text, size_t size, bool is_after_literal,
    struct imap_line *line, GError **error)
{
	struct imap_line found = {.kind = IMAP_LINE_AFTER_LITERAL};
	struct rest rest = {text, text + size};

	while (rest.end > rest.at && (rest.end[-1] == '\n' || rest.end[-1] == '\r'))
		rest.end--;
	if (!check_bytes(rest, error) || !find_literal(rest, &found, error))
		return false;
	if (!is_after_literal)
		found.kind = find_kind(rest, &found.number);
	if (found.has_literal && found.kind != IMAP_LINE_FETCH &&
	    found.kind != IMAP_LINE_AFTER_LITERAL)
		return refuse("an unexpected literal", error);
	*line = found;
	return true;
}
