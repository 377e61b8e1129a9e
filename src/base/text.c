/*
 * text.c - sanitise untrusted text for matching, storage and output.
 */
#include "base/text.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/tex.h"

/* Maximum number of consecutive combining marks (UAX #15 section 13). */
#define MARKS_MAX 30

/*
 * Texts with at least this limit are cut at a word, and end in an ellipsis; shorter
 * ones are names.  Words of more bytes, as of languages without blanks, are cut
 * themselves.
 */
#define CUT_PROSE_BYTES 20
#define CUT_WORD_BYTES  60
#define ELLIPSIS        "…"

/*
 * Input bytes processed per byte of the output limit.  TeX decoding and composition
 * shrink text, but by less than this factor.
 */
#define INPUT_FACTOR 8

/* Inclusive ranges of invisible characters: formats, tags, noncharacters. */
static const struct {
	gunichar first, last;
} dropped[] = {
    {0x0000, 0x0008}, {0x000e, 0x001f}, {0x007f, 0x0084}, {0x0086, 0x009f},
    {0x00ad, 0x00ad},   /* soft hyphen */
    {0x034f, 0x034f},   /* grapheme joiner */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x180e, 0x180e},   /* Mongolian vowel separator */
    {0x200b, 0x200f},   /* zero-width characters, direction marks */
    {0x202a, 0x202e},   /* embeddings and overrides */
    {0x2060, 0x206f},   /* joiners, isolates, deprecated formats */
    {0xfdd0, 0xfdef},   /* noncharacters */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xfff9, 0xfffb},   /* interlinear annotation */
    {0xe0000, 0xe0fff}, /* tags and reserved default ignorables */
};

bool
text_is_stripped_char(gunichar c)
{
	if (c >= 0x20 && c < 0x7f)
		return false;
	if ((c & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(dropped); i++)
		if (c >= dropped[i].first && c <= dropped[i].last)
			return true;
	return false;
}

static bool
is_blank(gunichar c)
{
	return g_unichar_isspace(c) || c == 0x0b || c == 0x85;
}

/* Read one character; an invalid byte is read as one U+FFFD. */
static gunichar
read_character(const char **at, const char *end)
{
	gunichar c = (guchar) * *at;

	if (c >= 0x80)
		c = g_utf8_get_char_validated(*at, end - *at);
	if (c == (gunichar)-1 || c == (gunichar)-2) {
		(*at)++;
		return 0xfffd;
	}
	*at += g_unichar_to_utf8(c, NULL);
	return c;
}

/* Strip and collapse as described in text.h, up to about max_bytes of output. */
static GString *
clean(const char *text, size_t length, size_t max_bytes)
{
	const char *end = text + length;
	GString *out = g_string_sized_new(MIN(length, max_bytes) + 8);
	bool owes_blank = false;
	unsigned marks = 0;

	for (const char *at = text; at < end && out->len <= max_bytes;) {
		gunichar c = read_character(&at, end);

		if (text_is_stripped_char(c))
			continue;
		if (is_blank(c)) {
			owes_blank = out->len > 0;
			marks = 0;
			continue;
		}
		marks = g_unichar_combining_class(c) ? marks + 1 : 0;
		if (marks > MARKS_MAX)
			continue;
		if (owes_blank)
			g_string_append_c(out, ' ');
		owes_blank = false;
		g_string_append_unichar(out, c);
	}
	return out;
}

/* @return the start of the word at `at`, or `at` if the word is long */
static const char *
find_word_start(const char *text, const char *at)
{
	const char *start = at;

	while (start > text && at - start < CUT_WORD_BYTES && start[-1] != ' ')
		start--;
	return start > text && start[-1] == ' ' ? start : at;
}

static void
cut(GString *text, size_t max_bytes)
{
	bool is_prose = max_bytes >= CUT_PROSE_BYTES;
	const char *at;

	if (text->len <= max_bytes)
		return;
	at = text->str + max_bytes - (is_prose ? strlen(ELLIPSIS) : 0);
	while (at > text->str && ((guchar)*at & 0xc0) == 0x80)
		at--;
	while (at > text->str && g_unichar_combining_class(g_utf8_get_char(at)))
		at = g_utf8_prev_char(at);
	if (is_prose && *at != ' ')
		at = find_word_start(text->str, at);
	while (at > text->str && at[-1] == ' ')
		at--;
	g_string_truncate(text, (gsize)(at - text->str));
	if (is_prose)
		g_string_append(text, ELLIPSIS);
}

char *
text_normalize(const char *text, size_t length, size_t max_bytes)
{
	size_t input_bytes = max_bytes < G_MAXSIZE / INPUT_FACTOR - 64
	                         ? (max_bytes + 64) * INPUT_FACTOR
	                         : G_MAXSIZE - 64;
	g_autofree char *decoded = NULL;
	g_autofree char *composed = NULL;
	GString *out = clean(text, length, input_bytes);

	decoded = tex_decode(out->str);
	composed = g_utf8_normalize(decoded, -1, G_NORMALIZE_NFC);
	g_string_free(out, TRUE);
	/* Decoding can produce blanks, and normalisation combining marks. */
	out = clean(composed, strlen(composed), G_MAXSIZE);
	cut(out, max_bytes);
	return g_string_free(out, FALSE);
}

/* @return length of a leading "http://" or "https://", or 0 */
static size_t
scheme_length(const char *url)
{
	if (!g_ascii_strncasecmp(url, "https://", 8))
		return 8;
	return g_ascii_strncasecmp(url, "http://", 7) ? 0 : 7;
}

/* Whether a URL without its scheme begins with a host, and a port or none. */
static bool
has_authority(const char *text)
{
	static const char shape[] =
	    "^(?:\\[[0-9a-fA-F:.]{2,}\\]|[a-zA-Z0-9][a-zA-Z0-9._-]*)"
	    "(?::(?:[0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|"
	    "6553[0-5]))?(?:[/?#]|\\z)";

	return g_regex_match_simple(shape, text, 0, 0);
}

char *
text_quote(const char *text, size_t max_chars)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	GString *quoted = g_string_new(NULL);
	size_t chars = 0;

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (chars++ == max_chars) {
			g_string_append(quoted, "...");
			break;
		}
		g_string_append_unichar(quoted, g_unichar_iscntrl(c) ? 0xFFFD : c);
	}
	return g_string_free(quoted, FALSE);
}

/*
 * Remove line breaks and tabs, and the blanks beside them, from a URL (URL Standard,
 * section 4.4).  A second URL on a line of its own is removed, too.
 */
static void
join_lines(char *url)
{
	char *to = url;

	for (const char *at = url; *at;) {
		size_t blanks = strspn(at, " \t\r\n");

		if (strcspn(at, "\t\r\n") >= blanks) {
			*to++ = *at++;
			continue;
		}
		at += blanks;
		if (scheme_length(at))
			break;
	}
	*to = '\0';
}

char *
text_normalize_url(const char *url, size_t max_bytes)
{
	g_autofree char *trimmed = NULL;
	GString *out;
	size_t scheme;

	if (!url || strlen(url) > 2 * max_bytes + 64 || !g_utf8_validate(url, -1, NULL))
		return NULL;
	trimmed = g_strstrip(g_strdup(url));
	join_lines(trimmed);
	scheme = scheme_length(trimmed);
	if (scheme == 0 || !has_authority(trimmed + scheme))
		return NULL;
	out = g_string_new(scheme == 8 ? "https://" : "http://");
	for (const char *at = trimmed + scheme; *at;) {
		gunichar c = g_utf8_get_char(at);
		const char *next = g_utf8_next_char(at);

		if (c <= ' ' || strchr("\"'`<>\\", *at) || text_is_stripped_char(c) ||
		    is_blank(c) || out->len > max_bytes) {
			g_string_free(out, TRUE);
			return NULL;
		}
		if (c < 0x80)
			g_string_append_c(out, (char)c);
		for (; c >= 0x80 && at < next; at++)
			g_string_append_printf(out, "%%%02X", (guchar)*at);
		at = next;
	}
	if (out->len > max_bytes) {
		g_string_free(out, TRUE);
		return NULL;
	}
	return g_string_free(out, FALSE);
}

bool
text_check_line(const char *what, const char *text, size_t max_bytes, GError **error)
{
	const char *message = NULL;

	if (!text)
		return true;
	if (!*text)
		message = TEXT_LINE_EMPTY;
	else if (strlen(text) > max_bytes)
		message = TEXT_LINE_LONG;
	else if (!g_utf8_validate(text, -1, NULL))
		message = TEXT_LINE_UTF8;
	for (; !message && *text; text = g_utf8_next_char(text))
		if (g_unichar_iscntrl(g_utf8_get_char(text)))
			message = TEXT_LINE_CONTROL;
	return !message ||
	       pb_error_set(error, PB_ERROR_INPUT, message, "what", what, NULL);
}

int
text_compare_pointers(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* @param n_line  set: bytes without the line end @return NULL, or an error description
 */
static const char *
check_line(const char *at, const char *end, size_t *n_line)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	size_t n = (size_t)((stop ? stop : end) - at);

	if (stop) {
		if (n == 0 || at[n - 1] != '\r')
			return "a bare LF";
		n--;
	}
	if (n > BOUNDS_LINE_BYTES)
		return "a line that is too long";
	if (memchr(at, '\r', n))
		return "a bare CR";
	*n_line = n;
	return NULL;
}

const char *
text_find_bad_line(const char *bytes, size_t size)
{
	const char *at = bytes, *end = bytes + size;
	size_t n;

	if (size && memchr(bytes, '\0', size))
		return "a NUL";
	for (; at < end; at += MIN(n + 2, (size_t)(end - at))) {
		const char *wrong = check_line(at, end, &n);

		if (wrong)
			return wrong;
	}
	return NULL;
}

/* 0x80 to 0x9f of windows-1252; undefined bytes as in the Encoding Standard. */
static const gunichar windows_1252[32] = {0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026,
    0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161,
    0x203a, 0x153, 0x9d, 0x17e, 0x178};

void
text_append_windows_1252(GString *out, const char *data, size_t size, size_t max_bytes)
{
	for (size_t i = 0; i < size && out->len < max_bytes; i++) {
		gunichar c = (guchar)data[i];

		g_string_append_unichar(
		    out, c >= 0x80 && c < 0xa0 ? windows_1252[c - 0x80] : c);
	}
}
