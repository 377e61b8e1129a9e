/*
 * sanitize.c - neutralise untrusted text for one line of a message.
 */
#include "message/sanitize.h"

#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"

/* Maximum distance of the blank at which a text is cut, characters. */
#define CUT_LOOK_BACK 24

static bool
is_blank(gunichar c)
{
	return g_unichar_isspace(c) || c == '\v' || c == 0x85;
}

/* Zero-width joiners are kept: emoji and Indic scripts need them. */
static bool
is_dropped(gunichar c)
{
	if (g_unichar_type(c) == G_UNICODE_CONTROL)
		return true;
	return c == 0x61C || c == 0x200E || c == 0x200F ||
	       (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xFEFF || (c & 0xFFFE) == 0xFFFE || (c >= 0xE0000 && c <= 0xE007F);
}

static void
cut_line(GString *line, size_t limit_chars)
{
	char *end;

	/* A character has at least one byte. */
	if (line->len <= limit_chars)
		return;
	if ((size_t)g_utf8_strlen(line->str, (gssize)line->len) <= limit_chars)
		return;
	end = g_utf8_offset_to_pointer(line->str, (glong)limit_chars - 1);
	for (char *p = end; *end != ' ' && p > line->str + 1 && end - p < CUT_LOOK_BACK;
	     p--) {
		if (p[-1] == ' ') {
			end = p - 1;
			break;
		}
	}
	g_string_truncate(line, (size_t)(end - line->str));
	while (line->len > 0 && line->str[line->len - 1] == ' ')
		g_string_truncate(line, line->len - 1);
	g_string_append(line, "\xE2\x80\xA6");
}

char *
sanitize_line(const char *text, size_t limit_chars)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
	GString *line = g_string_sized_new(strlen(valid));
	bool owes_blank = false;

	for (const char *p = valid; *p;) {
		gunichar c = g_utf8_get_char(p);
		const char *next = g_utf8_next_char(p);

		/* Words of ASCII at once: they are nearly all of most texts. */
		while (g_ascii_isgraph(*p) && g_ascii_isgraph(*next))
			next++;
		if (is_blank(c)) {
			owes_blank = line->len > 0;
		} else if (!is_dropped(c)) {
			if (owes_blank)
				g_string_append_c(line, ' ');
			owes_blank = false;
			g_string_append_len(line, p, next - p);
		}
		p = next;
	}
	if (limit_chars > 0)
		cut_line(line, limit_chars);
	return g_string_free(line, FALSE);
}

char *
sanitize_paper_text(const char *text, size_t limit_chars)
{
	g_autofree char *line = NULL;
	g_autofree char *plain = NULL;

	if (!text || !tex_display_is_needed(text))
		return sanitize_line(text, limit_chars);
	line = sanitize_line(text, 0);
	plain = tex_display(line);
	return sanitize_line(plain, limit_chars);
}

bool
sanitize_is_web_url(const char *url)
{
	size_t scheme;
	size_t host;

	if (!url || strlen(url) > BOUNDS_PAPER_URL_BYTES)
		return false;
	if (g_ascii_strncasecmp(url, "https://", 8) == 0)
		scheme = 8;
	else if (g_ascii_strncasecmp(url, "http://", 7) == 0)
		scheme = 7;
	else
		return false;
	for (const char *p = url; *p; p++) {
		if (!g_ascii_isgraph(*p) || strchr("\"'<>\\^`{|}", *p))
			return false;
	}
	host = strcspn(url + scheme, "/?#");
	return host > 0 && !memchr(url + scheme, '@', host) && url[scheme] != ':';
}
