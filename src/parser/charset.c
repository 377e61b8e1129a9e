/*
 * charset.c - conversion of mail charsets to UTF-8.
 */
#include "parser/charset.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

/* Maximum size of a label with its NUL; all in the table are shorter. */
#define NAME_BYTES 32

#define NO_CONVERTER ((GIConv)-1)

/* Charset labels in lower case (Encoding Standard and additions of mail programs) with
 * the converter's name in iconv. NULL: windows-1252. */
static const struct {
	const char *label, *converter;
} labels[] = {
    {"utf-8", "UTF-8"},
    {"utf8", "UTF-8"},
    {"unicode-1-1-utf-8", "UTF-8"},
    {"us-ascii", NULL},
    {"ascii", NULL},
    {"ansi_x3.4-1968", NULL},
    {"iso-8859-1", NULL},
    {"iso8859-1", NULL},
    {"iso_8859-1", NULL},
    {"latin1", NULL},
    {"latin-1", NULL},
    {"windows-1252", NULL},
    {"cp1252", NULL},
    {"iso-8859-2", "ISO-8859-2"},
    {"latin2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-8-i", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"latin5", "CP1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-11", "CP874"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"latin-9", "ISO-8859-15"},
    {"latin9", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"windows-874", "CP874"},
    {"tis-620", "CP874"},
    {"windows-1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"cp1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"ibm866", "CP866"},
    {"cp866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"x-mac-roman", "MACINTOSH"},
    {"iso-2022-jp", "ISO-2022-JP-3"},
    {"iso-2022-jp-1", "ISO-2022-JP-3"},
    {"iso-2022-jp-2", "ISO-2022-JP-2"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"sjis", "CP932"},
    {"x-sjis", "CP932"},
    {"windows-31j", "CP932"},
    {"cp932", "CP932"},
    {"euc-jp", "EUC-JP-MS"},
    {"iso-2022-kr", "ISO-2022-KR"},
    {"euc-kr", "UHC"},
    {"ks_c_5601-1987", "UHC"},
    {"ks_c_5601", "UHC"},
    {"windows-949", "UHC"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"x-gbk", "GB18030"},
    {"cp936", "GB18030"},
    {"gb18030", "GB18030"},
    {"hz-gb-2312", "HZ-GB-2312"},
    {"big5", "BIG5-HKSCS"},
    {"big5-hkscs", "BIG5-HKSCS"},
    {"utf-7", "UTF-7"},
    {"utf-16", "UTF-16"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
};

/* 0x80 to 0x9f of windows-1252; undefined bytes as in the Encoding Standard. */
static const gunichar windows_1252[32] = {0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026,
    0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161,
    0x203a, 0x153, 0x9d, 0x17e, 0x178};

struct charset_set {
	GIConv opened[G_N_ELEMENTS(
	    labels)]; /* at the index of the first label of each converter */
	unsigned count;
};

/* @return index of a label, case-insensitively; size of the table if unknown */
static size_t
find_label(const char *name, size_t size)
{
	size_t i = 0;

	if (size >= NAME_BYTES)
		return G_N_ELEMENTS(labels);
	while (i < G_N_ELEMENTS(labels) &&
	       (strlen(labels[i].label) != size ||
	           g_ascii_strncasecmp(labels[i].label, name, size) != 0))
		i++;
	return i;
}

static bool
needs_converter(size_t label)
{
	return label < G_N_ELEMENTS(labels) && labels[label].converter &&
	       strcmp(labels[label].converter, "UTF-8") != 0;
}

/* Labels of the same converter share the index of the first. */
static size_t
find_slot(size_t label)
{
	size_t i = 0;

	while (!labels[i].converter ||
	       strcmp(labels[i].converter, labels[label].converter) != 0)
		i++;
	return i;
}

static void
open_named(struct charset_set *set, const char *name, size_t size)
{
	size_t label = find_label(name, size);
	size_t slot;

	if (!needs_converter(label) || set->count >= BOUNDS_MAIL_CHARSETS)
		return;
	slot = find_slot(label);
	if (set->opened[slot] != NO_CONVERTER)
		return;
	set->opened[slot] = g_iconv_open("UTF-8", labels[label].converter);
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

	for (size_t i = 0; i < G_N_ELEMENTS(labels); i++)
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
	for (size_t i = 0; i < G_N_ELEMENTS(labels); i++)
		if (set->opened[i] != NO_CONVERTER)
			g_iconv_close(set->opened[i]);
	g_free(set);
}

static void
append_windows_1252(GString *out, const char *data, size_t size, size_t max_bytes)
{
	for (size_t i = 0; i < size && out->len < max_bytes; i++) {
		gunichar c = (guchar)data[i];

		g_string_append_unichar(
		    out, c >= 0x80 && c < 0xa0 ? windows_1252[c - 0x80] : c);
	}
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
	size_t label = name ? find_label(name, strlen(name)) : G_N_ELEMENTS(labels);
	GString *out = g_string_sized_new(MIN(size, max_bytes) + 1);
	GIConv converter = NO_CONVERTER;

	if (needs_converter(label))
		converter = set->opened[find_slot(label)];
	if (converter != NO_CONVERTER)
		append_converted(out, converter, data, size, max_bytes);
	else if ((label < G_N_ELEMENTS(labels) && labels[label].converter &&
	             !needs_converter(label)) ||
	         g_utf8_validate_len(data, size, NULL))
		append_utf8(out, data, size, max_bytes);
	else
		append_windows_1252(out, data, size, max_bytes);
	cut(out, max_bytes);
	return g_string_free(out, FALSE);
}
