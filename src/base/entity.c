/*
 * entity.c - HTML character references.
 */
#include "base/entity.h"

#include <stdbool.h>
#include <string.h>

#define NAME_BYTES   8
#define DIGITS       7
#define FIRST_LATIN1 0xa0
#define REPLACEMENT  0xfffd

/* U+00A0 to U+00FF, in order. */
static const char latin1[][NAME_BYTES] = {"nbsp", "iexcl", "cent", "pound", "curren",
    "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy", "reg",
    "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute",
    "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml",
    "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute",
    "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml"};

static const struct {
	char name[NAME_BYTES];
	gunichar c;
} others[] = {
    {"quot", '"'},
    {"amp", '&'},
    {"lt", '<'},
    {"gt", '>'},
    {"apos", '\''},
    {"OElig", 0x152},
    {"oelig", 0x153},
    {"Scaron", 0x160},
    {"scaron", 0x161},
    {"Yuml", 0x178},
    {"circ", 0x2c6},
    {"tilde", 0x2dc},
    {"ensp", 0x2002},
    {"emsp", 0x2003},
    {"thinsp", 0x2009},
    {"zwnj", 0x200c},
    {"zwj", 0x200d},
    {"ndash", 0x2013},
    {"mdash", 0x2014},
    {"lsquo", 0x2018},
    {"rsquo", 0x2019},
    {"sbquo", 0x201a},
    {"ldquo", 0x201c},
    {"rdquo", 0x201d},
    {"bdquo", 0x201e},
    {"dagger", 0x2020},
    {"bull", 0x2022},
    {"hellip", 0x2026},
    {"permil", 0x2030},
    {"lsaquo", 0x2039},
    {"rsaquo", 0x203a},
    {"euro", 0x20ac},
    {"trade", 0x2122},
    {"larr", 0x2190},
    {"rarr", 0x2192},
    {"minus", 0x2212},
    {"le", 0x2264},
    {"ge", 0x2265},
};

static size_t
parse_number(const char *text, size_t size, gunichar *c)
{
	bool is_hex = size > 2 && (text[2] == 'x' || text[2] == 'X');
	size_t start = is_hex ? 3 : 2, at = start;
	gunichar value = 0;

	while (at < size && at - start < DIGITS &&
	       (is_hex ? g_ascii_isxdigit(text[at]) : g_ascii_isdigit(text[at]))) {
		value = value * (is_hex ? 16 : 10) +
		        (gunichar)g_ascii_xdigit_value(text[at]);
		at++;
	}
	if (at == start)
		return 0;
	*c = value > 0 && g_unichar_validate(value) ? value : REPLACEMENT;
	return at < size && text[at] == ';' ? at + 1 : at;
}

static bool
is_name(const char *name, const char *text, size_t size)
{
	return strlen(name) == size && memcmp(name, text, size) == 0;
}

size_t
entity_parse(const char *text, size_t size, gunichar *c)
{
	size_t end = 1;

	if (size > 2 && text[1] == '#')
		return parse_number(text, size, c);
	while (end < size && end <= NAME_BYTES && g_ascii_isalnum(text[end]))
		end++;
	/* Without a semicolon it is more likely part of a URL. */
	if (end >= size || text[end] != ';')
		return 0;
	for (size_t i = 0; i < G_N_ELEMENTS(latin1); i++) {
		if (is_name(latin1[i], text + 1, end - 1)) {
			*c = (gunichar)(FIRST_LATIN1 + i);
			return end + 1;
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		if (is_name(others[i].name, text + 1, end - 1)) {
			*c = others[i].c;
			return end + 1;
		}
	}
	return 0;
}
