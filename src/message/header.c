/*
 * header.c - append header fields to a message.
 */
#include "message/header.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "message/sanitize.h"

#define WORD_START "=?UTF-8?"
#define WORD_EXTRA             \
	strlen(WORD_START "Q?" \
	                  "?=")

/* RFC 2047 section 2: a line with an encoded word is at most 76 characters long,
 * including the leading blank. */
#define WORD_LINE_BYTES (BOUNDS_ENCODED_WORD_BYTES + 1)

/* Encoded words of a phrase: short enough for any field name before them. */
#define PHRASE_WORD_BYTES 56

static bool
is_field_name(const char *name)
{
	for (const char *p = name; *p; p++) {
		if (!g_ascii_isgraph(*p) || *p == ':')
			return false;
	}
	return name[0] != '\0' && strlen(name) <= 40;
}

/* Characters that need no encoding within a phrase (RFC 2047 section 5 (3)). */
static bool
is_q_plain(char c)
{
	static const bool plain[256] = {['0' ... '9'] = true,
	    ['A' ... 'Z'] = true,
	    ['a' ... 'z'] = true,
	    ['!'] = true,
	    ['*'] = true,
	    ['+'] = true,
	    ['-'] = true,
	    ['/'] = true};

	return plain[(unsigned char)c];
}

static size_t
q_cost(const char *text, size_t size)
{
	size_t cost = 0;

	for (size_t i = 0; i < size; i++)
		cost += is_q_plain(text[i]) || text[i] == ' ' ? 1 : 3;
	return cost;
}

static size_t
b_cost(size_t size)
{
	return (size + 2) / 3 * 4;
}

static void
append_q(GString *out, const char *text, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < size; i++) {
		if (is_q_plain(text[i])) {
			g_string_append_c(out, text[i]);
		} else if (text[i] == ' ') {
			g_string_append_c(out, '_');
		} else {
			g_string_append_c(out, '=');
			g_string_append_c(out, hex[(unsigned char)text[i] >> 4]);
			g_string_append_c(out, hex[(unsigned char)text[i] & 15]);
		}
	}
}

static void
append_word(GString *out, char mode, const char *text, size_t size)
{
	g_string_append(out, WORD_START);
	g_string_append_c(out, mode);
	g_string_append_c(out, '?');
	if (mode == 'Q') {
		append_q(out, text, size);
	} else {
		g_autofree char *b64 = g_base64_encode((const guchar *)text, size);

		g_string_append(out, b64);
	}
	g_string_append(out, "?=");
}

/* Every encoded word contains whole characters and separate base64 (RFC 2047 section
 * 5). */
static void
append_encoded_words(GString *out, const char *text, size_t first_bytes, size_t bytes,
    const char *separator)
{
	size_t size = strlen(text);
	char mode = q_cost(text, size) <= b_cost(size) ? 'Q' : 'B';
	size_t room = first_bytes - WORD_EXTRA;

	while (size > 0) {
		size_t taken = 0, q_sum = 0;

		while (taken < size) {
			const char *p = text + taken;
			size_t more = (size_t)(g_utf8_next_char(p) - p);

			q_sum += q_cost(p, more);
			if ((mode == 'Q' ? q_sum : b_cost(taken + more)) > room)
				break;
			taken += more;
		}
		append_word(out, mode, text, taken);
		text += taken;
		size -= taken;
		room = bytes - WORD_EXTRA;
		if (size > 0)
			g_string_append(out, separator);
	}
}

/* Keep the first word on the line of the field name: some filters reject an empty first
 * line. */
static bool
append_folded(GString *out, const char *name, const char *value, GError **error)
{
	size_t start = out->len;
	size_t column = strlen(name) + 1;

	g_assert(is_field_name(name));
	g_string_append(out, name);
	g_string_append_c(out, ':');
	for (const char *word = value; *word;) {
		size_t size = strcspn(word, " ");

		if (column + 1 + size > BOUNDS_LINE_SOFT_BYTES && word != value) {
			g_string_append(out, "\r\n");
			column = 0;
		}
		if (column + 1 + size > BOUNDS_LINE_BYTES) {
			g_string_truncate(out, start);
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "header field %s has a word longer than a line", name);
			return false;
		}
		g_string_append_c(out, ' ');
		g_string_append_len(out, word, size);
		column += 1 + size;
		word += size;
		word += strspn(word, " ");
	}
	g_string_append(out, "\r\n");
	return true;
}

static bool
fits_plainly(const char *name, const char *text)
{
	size_t column = strlen(name) + 1;

	if (!g_str_is_ascii(text) || strstr(text, "=?"))
		return false;
	for (const char *word = text; *word; word += strspn(word, " ")) {
		size_t size = strcspn(word, " ");

		if (column + 1 + size > BOUNDS_LINE_SOFT_BYTES)
			return false;
		column = 0;
		word += size;
	}
	return true;
}

void
header_append_text(GString *out, const char *name, const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);

	g_assert(is_field_name(name));
	if (fits_plainly(name, line)) {
		bool is_done = append_folded(out, name, line, NULL);

		g_assert(is_done);
		return;
	}
	g_string_append_printf(out, "%s: ", name);
	append_encoded_words(out, line, WORD_LINE_BYTES - strlen(name) - 2,
	    BOUNDS_ENCODED_WORD_BYTES, "\r\n ");
	g_string_append(out, "\r\n");
}

static bool
is_atoms(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (!g_ascii_isalnum(*p) && !strchr(" !#$%&'*+-/=?^_`{|}~", *p))
			return false;
	}
	return true;
}

char *
header_format_phrase(const char *text)
{
	g_autofree char *line = sanitize_line(text, 0);
	GString *out;

	if (g_str_is_ascii(line) && strlen(line) <= PHRASE_WORD_BYTES &&
	    !strstr(line, "=?")) {
		if (is_atoms(line))
			return g_steal_pointer(&line);
		out = g_string_new("\"");
		for (const char *p = line; *p; p++) {
			if (*p == '"' || *p == '\\')
				g_string_append_c(out, '\\');
			g_string_append_c(out, *p);
		}
		g_string_append_c(out, '"');
		return g_string_free(out, FALSE);
	}
	out = g_string_new(NULL);
	append_encoded_words(out, line, PHRASE_WORD_BYTES, PHRASE_WORD_BYTES, " ");
	return g_string_free(out, FALSE);
}

static void
append_mailbox(GString *value, const char *name, const char *address)
{
	g_autofree char *cut = NULL;
	g_autofree char *phrase = NULL;

	if (!name || !*name) {
		g_string_append(value, address);
		return;
	}
	if (strlen(name) > BOUNDS_PERSON_NAME_BYTES) {
		const char *end =
		    g_utf8_find_prev_char(name, name + BOUNDS_PERSON_NAME_BYTES + 1);

		name = cut = g_strndup(name, (size_t)((end ? end : name) - name));
	}
	phrase = header_format_phrase(name);
	if (phrase[0] != '\0')
		g_string_append_printf(value, "%s <%s>", phrase, address);
	else
		g_string_append(value, address);
}

bool
header_append_mailboxes(GString *out, const char *name,
    const struct header_mailbox *list, size_t count, GError **error)
{
	g_autoptr(GString) value = g_string_new(NULL);

	for (size_t i = 0; i < count; i++) {
		struct address address = {0};

		if (!address_parse(list[i].address, &address, error)) {
			g_prefix_error(error, "header field %s: ", name);
			return false;
		}
		if (i > 0)
			g_string_append(value, ", ");
		append_mailbox(value, list[i].name, address.text);
		address_clear(&address);
	}
	return append_folded(out, name, value->str, error);
}

bool
header_append_date(GString *out, const char *name, int64_t at, GError **error)
{
	static const char days[][4] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);

	g_assert(is_field_name(name));
	if (!time) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "header field %s has a date out of range", name);
		return false;
	}
	g_string_append_printf(out, "%s: %s, %d %s %04d %02d:%02d:%02d +0000\r\n", name,
	    days[g_date_time_get_day_of_week(time) - 1],
	    g_date_time_get_day_of_month(time), months[g_date_time_get_month(time) - 1],
	    g_date_time_get_year(time), g_date_time_get_hour(time),
	    g_date_time_get_minute(time), g_date_time_get_second(time));
	return true;
}

static bool
is_dot_atom(const char *text, size_t size)
{
	if (size == 0 || text[0] == '.' || text[size - 1] == '.')
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '.' ? text[i + 1] == '.'
		                   : !g_ascii_isalnum(text[i]) &&
		                         !strchr("!#$%&'*+-/=?^_`{|}~", text[i]))
			return false;
	}
	return true;
}

bool
header_is_message_id(const char *text)
{
	const char *at = strchr(text, '@');

	return at && strlen(text) <= BOUNDS_MESSAGE_ID_BYTES &&
	       is_dot_atom(text, (size_t)(at - text)) &&
	       is_dot_atom(at + 1, strlen(at + 1));
}

bool
header_append_message_id(GString *out, const char *name, const char *id, GError **error)
{
	g_autofree char *value = NULL;

	if (!header_is_message_id(id)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "header field %s: invalid message id", name);
		return false;
	}
	value = g_strconcat("<", id, ">", NULL);
	return append_folded(out, name, value, error);
}

bool
header_append_folded(GString *out, const char *name, const char *value, GError **error)
{
	for (const char *p = value; *p; p++) {
		if (!g_ascii_isprint(*p)) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "header field %s has a control or non-ASCII character",
			    name);
			return false;
		}
	}
	return append_folded(out, name, value, error);
}
