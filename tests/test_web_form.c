/*
 * test_web_form.c - forms, languages, tags and origins of requests to the page.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/web_proto.h"
#include "web/form.h"
#include "web/negotiate.h"

#define URLENCODED "application/x-www-form-urlencoded"
#define MULTIPART  "multipart/form-data; boundary=xyz"

#define PART(name, value)                                                          \
	"--xyz\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value \
	"\r\n"

/* @return "name=value|..." sorted, or "400" */
static char *
parse_sized(const char *type, const char *body, size_t size)
{
	/* Exact size, so that sanitizers detect reads beyond it. */
	g_autofree char *copy = g_memdup2(body, size);
	g_autoptr(GHashTable) fields = form_parse(type, copy ? copy : "", size);
	g_autoptr(GList) names = NULL;
	GString *out = g_string_new(NULL);

	if (!fields)
		g_string_assign(out, "400");
	else
		names =
		    g_list_sort(g_hash_table_get_keys(fields), (GCompareFunc)strcmp);
	for (GList *name = names; name; name = name->next)
		g_string_append_printf(out, "%s%s=%s", out->len ? "|" : "",
		    (char *)name->data,
		    (char *)g_hash_table_lookup(fields, name->data));
	return g_string_free(out, FALSE);
}

static void
check_table(const char *name)
{
	CASES_FOREACH(row, name, *type, *body, *wanted) {
		g_autofree char *found =
		    parse_sized(row->type, row->body, strlen(row->body));

		g_assert_cmpstr(found, ==, row->wanted);
	}
}

TEST(urlencoded_forms_are_read_strictly)
{
	check_table("web_form_urlencoded");
}

TEST(multipart_forms_are_read_strictly)
{
	static const char with_nul[] = PART("a", "b\0c") "--xyz--";
	g_autofree char *found = parse_sized(MULTIPART, with_nul, sizeof(with_nul) - 1);

	g_assert_cmpstr(found, ==, "400");
	check_table("web_form_multipart");
}

static char *
parse_many(unsigned count)
{
	g_autoptr(GString) body = g_string_new(NULL);

	for (unsigned i = 0; i < count; i++)
		g_string_append_printf(
		    body, "%s%c%c=1", i ? "&" : "", 'a' + i / 26, 'a' + i % 26);
	return parse_sized(URLENCODED, body->str, body->len);
}

static char *
parse_long(size_t size)
{
	g_autofree char *value = g_strnfill(size, 'x');
	g_autofree char *body = g_strconcat("a=", value, NULL);

	return parse_sized(URLENCODED, body, strlen(body));
}

static char *
parse_boundary(size_t size)
{
	g_autofree char *boundary = g_strnfill(size, 'x');
	g_autofree char *type =
	    g_strconcat("multipart/form-data; boundary=", boundary, NULL);
	g_autofree char *body = g_strconcat("--", boundary, "--", NULL);

	return parse_sized(type, body, strlen(body));
}

TEST(limits_of_forms_hold)
{
	g_autofree char *most = parse_many(WEB_PROTO_FIELDS);
	g_autofree char *more = parse_many(WEB_PROTO_FIELDS + 1);
	g_autofree char *longest = parse_long(WEB_PROTO_FIELD_BYTES);
	g_autofree char *longer = parse_long(WEB_PROTO_FIELD_BYTES + 1);
	g_autofree char *boundary = parse_boundary(BOUNDS_BOUNDARY_BYTES);
	g_autofree char *long_boundary = parse_boundary(BOUNDS_BOUNDARY_BYTES + 1);

	g_assert_true(g_str_has_prefix(most, "aa=1|"));
	g_assert_cmpstr(more, ==, "400");
	g_assert_cmpuint(strlen(longest), ==, 2 + WEB_PROTO_FIELD_BYTES);
	g_assert_cmpstr(longer, ==, "400");
	g_assert_cmpstr(boundary, ==, "");
	g_assert_cmpstr(long_boundary, ==, "400");
}

static bool
is_one_click(const char *body)
{
	g_autoptr(GHashTable) fields = form_parse(NULL, body, strlen(body));

	return fields && form_is_one_click(fields);
}

TEST(one_click_is_the_pair_and_nothing_else)
{
	g_assert_true(is_one_click("List-Unsubscribe=One-Click"));
	g_assert_false(is_one_click("List-Unsubscribe=one-click"));
	g_assert_false(is_one_click("list-unsubscribe=One-Click"));
	g_assert_false(is_one_click("List-Unsubscribe=One-Click&csrf=a"));
	g_assert_false(is_one_click("csrf=a"));
	g_assert_false(is_one_click(""));
}

/* ---- negotiation ---- */

static bool
has(const void *data, const char *code)
{
	(void)data;
	return strcmp(code, "en") == 0 || strcmp(code, "de") == 0;
}

TEST(the_language_with_the_highest_weight_wins)
{
	CASES_FOREACH(row, "web_form_languages", *accept, *wanted) {
		g_autofree char *code = negotiate_language(row->accept, has, NULL);

		g_assert_cmpstr(code, ==, row->wanted);
	}
}

TEST(tags_are_read_without_quotes)
{
	CASES_FOREACH(row, "web_form_tags", *value, *wanted) {
		g_autofree char *tag = negotiate_tag(row->value);

		g_assert_cmpstr(tag, ==, row->wanted);
	}
}

TEST(foreign_origins_are_recognised)
{
	g_autofree char *own = negotiate_get_origin("https://papers.example.org/a");
	g_autofree char *port = negotiate_get_origin("http://127.0.0.1:8080");

	g_assert_cmpstr(own, ==, "https://papers.example.org");
	g_assert_cmpstr(port, ==, "http://127.0.0.1:8080");
	g_assert_true(negotiate_is_same_origin(own, NULL, NULL));
	g_assert_true(negotiate_is_same_origin(own, own, NULL));
	g_assert_true(negotiate_is_same_origin(own, "null", "same-origin"));
	g_assert_true(negotiate_is_same_origin(own, NULL, "none"));
	g_assert_false(negotiate_is_same_origin(own, "https://example.org", NULL));
	g_assert_false(
	    negotiate_is_same_origin(own, "http://papers.example.org", NULL));
	g_assert_false(negotiate_is_same_origin(own, "null", "cross-site"));
	g_assert_false(negotiate_is_same_origin(own, own, "same-site"));
}

UNIT_MAIN
