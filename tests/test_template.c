/*
 * test_template.c - templates: output and errors.
 */
#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "render/locale_format.h"
#include "render/template.h"
#include "render/wrap.h"

static struct view *
new_view(void)
{
	struct view *view = view_new_map();
	struct view *list = view_new_list();
	struct view *people = view_new_list();
	static const char *const names[] = {"Ada", "Bo"};

	view_put_text(view, "x", "<a & \"b\" 'c'>");
	view_put_text(view, "plain", "text");
	view_put_text(view, "empty", "");
	view_put_text(view, "tag", "{{x}} {{{x}}} {{#yes}}");
	view_put_text(view, "nothing", NULL);
	view_put(view, "yes", view_new_bool(true));
	view_put(view, "no", view_new_bool(false));
	view_append(list, view_new_text("1"));
	view_append(list, view_new_text("<2>"));
	view_put(view, "list", list);
	view_put(view, "none", view_new_list());
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		struct view *person = view_new_map();

		view_put_text(person, "name", names[i]);
		if (i == 1)
			view_put_text(person, "plain", "own");
		view_append(people, person);
	}
	view_put(view, "people", people);
	return view;
}

static char *
apply(const char *text, enum template_kind kind)
{
	g_autoptr(GError) error = NULL;
	pb_auto(template) template = template_parse("t", text, kind, NULL, &error);
	pb_auto(view) view = new_view();
	GString *out = g_string_new(NULL);

	g_assert_no_error(error);
	template_append(template, view, out);
	return g_string_free(out, FALSE);
}

TEST(output_equals_that_of_mustache)
{
	CASES_FOREACH(row, "template_mustache", *template, *result) {
		g_autofree char *result = apply(row->template, TEMPLATE_HTML);

		g_assert_cmpstr(result, ==, row->result);
	}
}

TEST(text_is_never_escaped)
{
	g_autofree char *result = apply("{{x}} {{{x}}}", TEMPLATE_TEXT);

	g_assert_cmpstr(result, ==, "<a & \"b\" 'c'> <a & \"b\" 'c'>");
}

TEST(errors_have_line_and_column)
{
	static const char *const names[] = {"known", "x", "yes", "a", "b", NULL};

	CASES_FOREACH(row, "template_errors", *template, *message) {
		g_autoptr(GError) error = NULL;

		g_assert_null(
		    template_parse("t", row->template, TEMPLATE_TEXT, names, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_cmpstr(error->message, ==, row->message);
	}
}

static char *
nest(unsigned depth)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < depth; i++)
		g_string_append(text, "{{#yes}}");
	for (unsigned i = 0; i < depth; i++)
		g_string_append(text, "{{/yes}}");
	return g_string_free(text, FALSE);
}

TEST(limits_are_enforced)
{
	g_autofree char *deep_at = nest(BOUNDS_TEMPLATE_DEPTH);
	g_autofree char *deep_past = nest(BOUNDS_TEMPLATE_DEPTH + 1);
	g_autofree char *large_at = g_strnfill(BOUNDS_TEMPLATE_BYTES, 'x');
	g_autofree char *large_past = g_strnfill(BOUNDS_TEMPLATE_BYTES + 1, 'x');
	g_autofree char *rendered = apply(deep_at, TEMPLATE_TEXT);
	g_autofree char *large = apply(large_at, TEMPLATE_TEXT);
	g_autoptr(GError) deep_error = NULL;
	g_autoptr(GError) large_error = NULL;

	g_assert_cmpstr(rendered, ==, "");
	g_assert_cmpstr(large, ==, large_at);
	g_assert_null(template_parse("t", deep_past, TEMPLATE_TEXT, NULL, &deep_error));
	g_assert_error(deep_error, PB_ERROR, PB_ERROR_LIMIT);
	g_assert_null(
	    template_parse("t", large_past, TEMPLATE_TEXT, NULL, &large_error));
	g_assert_error(large_error, PB_ERROR, PB_ERROR_LIMIT);
}

TEST(lines_wrap_at_columns)
{
	CASES_FOREACH(row, "template_wrap", *text, *wrapped) {
		g_autofree char *wrapped = wrap_format_text(row->text, 10);

		g_assert_cmpstr(wrapped, ==, row->wrapped);
	}
}

TEST(days_and_counts_read_as_english)
{
	pb_auto(catalog) catalog = catalog_load(NULL, NULL);
	const struct locale_format words = {catalog, "en"};
	g_autofree char *one =
	    locale_format_count(&words, 1, PL_("1 vote", "{count} votes"));
	g_autofree char *many =
	    locale_format_count(&words, 0, PL_("1 vote", "{count} votes"));

	g_assert_cmpstr(one, ==, "1 vote");
	g_assert_cmpstr(many, ==, "0 votes");
	CASES_FOREACH(row, "template_english", *day, *acronym, *long_form) {
		g_autofree char *brief =
		    locale_format_day(&words, row->day, LOCALE_FORMAT_SHORT);
		g_autofree char *full =
		    locale_format_day(&words, row->day, LOCALE_FORMAT_LONG);

		g_assert_cmpstr(brief, ==, row->acronym);
		g_assert_cmpstr(full, ==, row->long_form);
	}
}

TEST(names_end_in_a_count)
{
	pb_auto(catalog) catalog = catalog_load(NULL, NULL);
	const struct locale_format words = {catalog, "en"};
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *none =
	    locale_format_names(&words, names, BOUNDS_DIGEST_AUTHORS);
	g_autofree char *at = NULL;
	g_autofree char *one_more = NULL;
	g_autofree char *over = NULL;

	g_assert_null(none);
	for (unsigned i = 0; i < BOUNDS_DIGEST_AUTHORS; i++)
		g_ptr_array_add(names, (char *)"A");
	at = locale_format_names(&words, names, BOUNDS_DIGEST_AUTHORS);
	g_assert_cmpstr(at, ==, "A, A, A");
	g_ptr_array_add(names, (char *)"B");
	one_more = locale_format_names(&words, names, BOUNDS_DIGEST_AUTHORS);
	g_assert_cmpstr(one_more, ==, "A, A, A, B");
	g_ptr_array_add(names, (char *)"C");
	over = locale_format_names(&words, names, BOUNDS_DIGEST_AUTHORS);
	g_assert_cmpstr(over, ==, "A, A, A and 2 more");
}

UNIT_MAIN
