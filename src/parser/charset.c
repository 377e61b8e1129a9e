/*
 * charset.c - conversion of mail charsets to UTF-8.
 */
#include "parser/charset.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"

/* Maximum size of a label with its NUL; all in the table are shorter. */
#define NAME_BYTES 32

#define NO_CONVERTER ((GIConv)-1)

/* Names of converters in iconv, and charset labels in lower case (Encoding Standard and
 * additions of mail programs) between blanks. NULL: windows-1252. */
static const struct {
	const char *converter, *labels;
} charsets[] = {
    {"UTF-8", " utf-8 utf8 unicode-1-1-utf-8 "},
    {NULL, " us-ascii ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso_8859-1 latin1 "
           "latin-1 windows-1252 cp1252 "},
    {"ISO-8859-2", " iso-8859-2 latin2 "},
    {"ISO-8859-3", " iso-8859-3 "},
    {"ISO-8859-4", " iso-8859-4 "},
    {"ISO-8859-5", " iso-8859-5 "},
    {"ISO-8859-6", " iso-8859-6 "},
    {"ISO-8859-7", " iso-8859-7 "},
    {"ISO-8859-8", " iso-8859-8 iso-8859-8-i "},
    {"CP1254", " iso-8859-9 latin5 windows-1254 "},
    {"ISO-8859-10", " iso-8859-10 "},
    {"CP874", " iso-8859-11 windows-874 tis-620 "},
    {"ISO-8859-13", " iso-8859-13 "},
    {"ISO-8859-14", " iso-8859-14 "},
    {"ISO-8859-15", " iso-8859-15 latin-9 latin9 "},
    {"ISO-8859-16", " iso-8859-16 "},
    {"CP1250", " windows-1250 "},
    {"CP1251", " windows-1251 cp1251 "},
    {"CP1253", " windows-1253 "},
    {"CP1255", " windows-1255 "},
    {"CP1256", " windows-1256 "},
    {"CP1257", " windows-1257 "},
    {"CP1258", " windows-1258 "},
    {"KOI8-R", " koi8-r "},
    {"KOI8-U", " koi8-u "},
    {"CP866", " ibm866 cp866 "},
    {"MACINTOSH", " macintosh x-mac-roman "},
    {"ISO-2022-JP-3", " iso-2022-jp iso-2022-jp-1 "},
    {"ISO-2022-JP-2", " iso-2022-jp-2 "},
    {"CP932", " shift_jis shift-jis sjis x-sjis windows-31j cp932 "},
    {"EUC-JP-MS", " euc-jp "},
    {"ISO-2022-KR", " iso-2022-kr "},
    {"UHC", " euc-kr ks_c_5601-1987 ks_c_5601 windows-949 "},
    {"GB18030", " gb2312 gbk x-gbk cp936 gb18030 "},
    {"HZ-GB-2312", " hz-gb-2312 "},
    {"BIG5-HKSCS", " big5 big5-hkscs "},
    {"UTF-7", " utf-7 "},
    {"UTF-16", " utf-16 "},
    {"UTF-16LE", " utf-16le "},
    {"UTF-16BE", " utf-16be "},
};

struct charset_set {
	GIConv opened[G_N_ELEMENTS(charsets)];
	unsigned count;
};

/* @return index of a label's charset, in any case; size of the table if unknown */
static size_t
find_charset(const char *name, size_t size)
{
	char label[NAME_BYTES + 2];
	size_t i = 0;

	if (size == 0 || size >= NAME_BYTES || memchr(name, ' ', size))
		return G_N_ELEMENTS(charsets);
	g_snprintf(label, sizeof(label), " %.*s ", (int)size, name);
	for (char *at = label; *at; at++)
		*at = g_ascii_tolower(*at);
	while (i < G_N_ELEMENTS(charsets) && !strstr(charsets[i].labels, label))
		i++;
	return i;
}

static bool
needs_converter(size_t charset)
{
	return charset < G_N_ELEMENTS(charsets) && charsets[charset].converter &&
	       strcmp(charsets[charset].converter, "UTF-8") != 0;
}

static void
open_named(struct charset_set *set, const char *name, size_t size)
{
	size_t charset = find_charset(name, size);

	if (!needs_converter(charset) || set->count >= BOUNDS_MAIL_CHARSETS ||
	    set->opened[charset] != NO_CONVERTER)
		return;
	set->opened[charset] = g_iconv_open("UTF-8", charsets[charset].converter);
	set->count++;
}

static size_t
measure_name(const char *at, const char *end)
{
	size_t n = 0;

	while (n < NAME_BYTES && at + n < end &&
	       (g_ascii_isalnum(at[n]) || strchr("-_.:+", at[n])))
		n++;
	return n;
}

/* Skip from "charset" to its value: "*0*", blanks, "=", blanks, a quote. */
static const char *
skip_to_value(const char *at, const char *end)
{
	while (at < end && (strchr("* \t\n\"=", *at) || g_ascii_isdigit(*at)))
		at++;
	return at;
}

struct charset_set *
charset_set_new(const char *text, size_t size)
{
	static const char word[] = "charset";
	struct charset_set *set = g_new0(struct charset_set, 1);
	const char *end = text + size;

	for (size_t i = 0; i < G_N_ELEMENTS(charsets); i++)
		set->opened[i] = NO_CONVERTER;
	for (const char *at = text; at + 2 < end; at++) {
		const char *name = NULL;

		if (at[0] == '=' && at[1] == '?')
			name = at + 2;
		else if ((*at == 'c' || *at == 'C') &&
		         (size_t)(end - at) > strlen(word) &&
		         !g_ascii_strncasecmp(at, word, strlen(word)))
			name = skip_to_value(at + strlen(word), end);
		if (name && *name != '\0')
			open_named(set, name, measure_name(name, end));
	}
	return set;
}

void
charset_set_free(struct charset_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(charsets); i++)
		if (set->opened[i] != NO_CONVERTER)
			g_iconv_close(set->opened[i]);
	g_free(set);
}

static void
append_utf8(GString *out, const char *data, size_t size, size_t max_bytes)
{
	const char *end = data + size;

	while (data < end && out->len < max_bytes) {
		const char *bad;

		g_utf8_validate_len(data, (size_t)(end - data), &bad);
		g_string_append_len(out, data, bad - data);
		data = bad;
		if (data < end) {
			g_string_append(out, "\xef\xbf\xbd");
			data++;
		}
	}
}

static void
append_converted(
    GString *out, GIConv converter, const char *data, size_t size, size_t max_bytes)
{
	char *from = (char *)data;

	g_iconv(converter, NULL, NULL, NULL, NULL);
	while (size > 0 && out->len < max_bytes) {
		char buffer[4096];
		char *to = buffer;
		size_t room = sizeof(buffer);
		bool is_done =
		    g_iconv(converter, &from, &size, &to, &room) != (gsize)-1;

		append_utf8(out, buffer, (size_t)(to - buffer), G_MAXSIZE);
		if (is_done || errno == E2BIG)
			continue;
		g_string_append(out, "\xef\xbf\xbd");
		from++;
		size--;
	}
}

static void
cut(GString *text, size_t max_bytes)
{
	size_t at = max_bytes;

	if (text->len <= max_bytes)
		return;
	while (at > 0 && ((guchar)text->str[at] & 0xc0) == 0x80)
		at--;
	g_string_truncate(text, at);
}

char *
charset_decode(struct charset_set *set, const char *name, const char *data, size_t size,
    size_t max_bytes)
{
	size_t charset =
	    name ? find_charset(name, strlen(name)) : G_N_ELEMENTS(charsets);
	GString *out = g_string_sized_new(MIN(size, max_bytes) + 1);
	GIConv converter = NO_CONVERTER;

	if (needs_converter(charset))
		converter = set->opened[charset];
	if (converter != NO_CONVERTER)
		append_converted(out, converter, data, size, max_bytes);
	else if ((charset < G_N_ELEMENTS(charsets) && charsets[charset].converter &&
	             !needs_converter(charset)) ||
	         g_utf8_validate_len(data, size, NULL))
		append_utf8(out, data, size, max_bytes);
	else
		text_append_windows_1252(out, data, size, max_bytes);
	cut(out, max_bytes);
	return g_string_free(out, FALSE);
}
