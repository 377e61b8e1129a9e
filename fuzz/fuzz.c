/*
 * fuzz.c - shared by fuzz targets: consume input, check output.
 */
#include "fuzz.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"

unsigned
fuzz_take_byte(struct fuzz_input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

char *
fuzz_take_text(struct fuzz_input *input)
{
	const uint8_t *end = input->left ? memchr(input->at, '\0', input->left) : NULL;
	size_t size = end ? (size_t)(end - input->at) : input->left;
	char *text = g_malloc(size + 1);

	if (size > 0)
		memcpy(text, input->at, size);
	text[size] = '\0';
	input->at += size + (end ? 1 : 0);
	input->left -= size + (end ? 1 : 0);
	return text;
}

GBytes *
fuzz_take_bytes(struct fuzz_input *input)
{
	GBytes *bytes = g_bytes_new(input->at, input->left);

	input->at += input->left;
	input->left = 0;
	return bytes;
}

static bool
is_bidi_control(gunichar c)
{
	return c == 0x61C || c == 0x200E || c == 0x200F ||
	       (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void
fuzz_check_line(const char *text, size_t max_bytes)
{
	size_t size = strlen(text);

	g_assert(size <= max_bytes);
	g_assert(g_utf8_validate(text, -1, NULL));
	g_assert(size == 0 || (text[0] != ' ' && text[size - 1] != ' '));
	g_assert(!strstr(text, "  "));
	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		g_assert(g_unichar_type(c) != G_UNICODE_CONTROL && !is_bidi_control(c));
	}
}

void
fuzz_check_error(const GError *error)
{
	g_assert(error);
	g_assert(error->domain == PB_ERROR);
	g_assert(g_utf8_validate(error->message, -1, NULL));
}

void
fuzz_check_wire(const char *data, size_t size, size_t max_bytes, bool is_ascii)
{
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		g_assert(data[i] != '\0');
		g_assert(!is_ascii || (unsigned char)data[i] < 0x80);
		if (data[i] == '\r') {
			g_assert(i + 1 < size && data[i + 1] == '\n');
			column = 0;
			i++;
			continue;
		}
		g_assert(data[i] != '\n');
		g_assert(++column <= max_bytes);
	}
	g_assert(column == 0);
}

void
fuzz_check_field(const GString *field, const char *name, bool is_ascii)
{
	size_t start = strlen(name);
	const char *line = field->str;

	g_assert(strlen(field->str) == field->len);
	fuzz_check_wire(field->str, field->len, BOUNDS_LINE_BYTES, is_ascii);
	g_assert(strncmp(field->str, name, start) == 0 && field->str[start] == ':');
	for (line = strstr(line, "\r\n") + 2; *line; line = strstr(line, "\r\n") + 2) {
		size_t blanks = strspn(line, " \t");

		g_assert(blanks > 0 && line[blanks] != '\r');
	}
}

char *
fuzz_unfold(const GString *field)
{
	GString *value = g_string_new(strchr(field->str, ':') + 1);

	g_string_replace(value, "\r\n", "", 0);
	return g_strchug(g_string_free(value, FALSE));
}

static void
check_url(const char *url)
{
	g_autofree char *normal = text_normalize_url(url, BOUNDS_PAPER_URL_BYTES);

	g_assert_cmpstr(url, ==, normal);
}

void
fuzz_check_paper(const struct paper *paper)
{
	g_assert(paper->id[0] && strlen(paper->id) <= BOUNDS_PAPER_ID_BYTES);
	g_assert(
	    strspn(paper->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                      "0123456789.-_/:()") == strlen(paper->id));
	g_assert(paper->title[0]);
	fuzz_check_line(paper->title, BOUNDS_PAPER_TITLE_BYTES);
	fuzz_check_line(paper->abstract, BOUNDS_PAPER_ABSTRACT_BYTES);
	g_assert(paper->authors->len <= BOUNDS_PAPER_AUTHORS);
	for (guint i = 0; i < paper->authors->len; i++) {
		g_assert(*(const char *)paper->authors->pdata[i]);
		fuzz_check_line(paper->authors->pdata[i], BOUNDS_PAPER_AUTHOR_BYTES);
	}
	for (guint i = 0; paper->keywords && i < paper->keywords->len; i++)
		fuzz_check_line(paper->keywords->pdata[i], BOUNDS_PAPER_KEYWORD_BYTES);
	for (guint i = 0; paper->categories && i < paper->categories->len; i++)
		g_assert(!strpbrk(paper->categories->pdata[i], " \t"));
	if (paper->journal)
		fuzz_check_line(paper->journal, BOUNDS_PAPER_TITLE_BYTES);
	if (paper->organization)
		fuzz_check_line(paper->organization, BOUNDS_PAPER_ORG_BYTES);
	g_assert(paper->url);
	check_url(paper->url);
	check_url(paper->code_url);
	check_url(paper->project_url);
	g_assert(paper->published_at >= PAPER_UNKNOWN);
	g_assert(paper->upvotes >= PAPER_UNKNOWN);
	g_assert(paper->comments >= PAPER_UNKNOWN);
	g_assert(paper->stars >= PAPER_UNKNOWN);
}
