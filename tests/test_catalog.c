/*
 * test_catalog.c - translations: PO files, plural rules, an operator's files,
 * templates.
 */
#include "render/catalog.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/msg.h"
#include "base/po.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "service/command/command_private.h"

#define HEADER "msgid \"\"\nmsgstr \"\"\n"

/* @return the error, or NULL */
static char *
parse(struct po *po, const char *text, const struct po *known)
{
	g_autoptr(GError) error = NULL;
	bool is_ok = po_parse(po, "xx.po", text, known, &error);

	g_assert_true(is_ok == !error);
	if (error)
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	return error ? g_strdup(error->message) : NULL;
}

static struct po *
parse_good(const char *text)
{
	struct po *po = po_new();
	g_autofree char *problem = parse(po, text, NULL);

	g_assert_cmpstr(problem, ==, NULL);
	return po;
}

TEST(entries_are_read)
{
	pb_auto(po) po = parse_good("# A comment\n"
	                            "#: src/a.c\n"
	                            "msgid \"one\"\n"
	                            "msgstr \"eins\"\n"
	                            "\n"
	                            "#, fuzzy\n"
	                            "msgid \"two\"\n"
	                            "msgstr \"zwo\"\n"
	                            "\n"
	                            "msgctxt \"button\"\n"
	                            "msgid \"\"\n"
	                            "\"Say \"\n"
	                            "\"\\\"no\\\"\\n\"\n"
	                            "msgstr \"Sag \"\n"
	                            "\"\\\"nein\\\"\\n\"\n"
	                            "msgid \"empty\"\n"
	                            "msgstr \"\"\n"
	                            "#~ msgid \"old\"\n"
	                            "#~ msgstr \"alt\"\n");

	g_assert_cmpstr(po_get(po, N_("one")), ==, "eins");
	g_assert_cmpstr(po_get(po, N_("two")), ==, "two");
	g_assert_cmpstr(po_get(po, N_("empty")), ==, "empty");
	g_assert_cmpstr(po_get(po, N_("old")), ==, "old");
	g_assert_cmpstr(
	    po_get(po, NC_("button", "Say \"no\"\n")), ==, "Sag \"nein\"\n");
	g_assert_cmpstr(po_get(po, N_("Say \"no\"\n")), ==, "Say \"no\"\n");
	g_assert_cmpstr(po_get(NULL, NC_("button", "Stop")), ==, "Stop");
}

/* The rules of the languages whose plurals differ most. */
TEST(plural_forms_follow_the_rule)
{
	CASES_FOREACH(row, "catalog_plurals", *rule, *forms, *count, *form) {
		g_autoptr(GString) text = g_string_new(NULL);
		pb_auto(po) po = NULL;
		char wanted[] = "form 0";

		g_string_printf(text,
		    HEADER "\"Plural-Forms: nplurals=%s; plural=%s;\\n\"\n"
		           "msgid \"{count} paper\"\nmsgid_plural \"{count} papers\"\n",
		    row->forms, row->rule);
		for (unsigned form = 0; form < (unsigned)cases_number(row->forms);
		     form++)
			g_string_append_printf(
			    text, "msgstr[%u] \"form %u\"\n", form, form);
		po = parse_good(text->str);
		wanted[5] = *row->form;
		g_assert_cmpstr(po_get_count(po, PL_("{count} paper", "{count} papers"),
		                    (unsigned)cases_number(row->count)),
		    ==, wanted);
	}
	g_assert_cmpstr(
	    po_get_count(NULL, PL_("1 paper", "{count} papers"), 1), ==, "1 paper");
	g_assert_cmpstr(po_get_count(NULL, PL_("1 paper", "{count} papers"), 0), ==,
	    "{count} papers");
}

TEST(errors_say_where)
{
	pb_auto(po) known = parse_good("msgid \"a\"\nmsgstr \"\"\n");
	pb_auto(po) po = po_new();
	g_autoptr(GString) deep =
	    g_string_new(HEADER "\"Plural-Forms: nplurals=2; plural=");
	g_autofree char *unknown = NULL, *nested = NULL;

	CASES_FOREACH(row, "catalog_errors", *text, *says) {
		pb_auto(po) other = po_new();
		g_autofree char *problem = parse(other, row->text, NULL);

		g_assert_nonnull(problem);
		if (!strstr(problem, row->says))
			g_error("%s: %s", row->says, problem);
	}
	unknown =
	    parse(po, "msgid \"a\"\nmsgstr \"b\"\nmsgid \"c\"\nmsgstr \"d\"\n", known);
	g_assert_nonnull(strstr(unknown, "xx.po:4: the program has no text: c"));
	g_assert_cmpstr(po_get(po, N_("a")), ==, "b");
	for (int i = 0; i < 100000; i++)
		g_string_append(deep, "n?0:");
	g_string_append(deep, ";\\n\"\n");
	nested = parse(po, deep->str, NULL);
	g_assert_nonnull(strstr(nested, "plural rule"));
}

/* ---- languages ---- */

static struct catalog *
load_shipped(void)
{
	struct catalog *catalog = NO_ERROR(catalog_load(NULL, &error));

	return catalog;
}

#define CATALOG_TEST(function) TEST_WITH(function, catalog, catalog, load_shipped())

CATALOG_TEST(the_shipped_languages_are_loaded)
{
	g_autofree char *list = catalog_format_languages(catalog);
	g_autofree char *english = catalog_format(catalog, "en", N_("never"), NULL);
	g_autofree char *german = catalog_format(catalog, "de", N_("never"), NULL);
	g_autofree char *other = catalog_format(catalog, "xx", N_("never"), NULL);
	g_autofree char *own = catalog_format(catalog, "de", CATALOG_OWN_NAME, NULL);
	g_autofree char *one =
	    catalog_format_count(catalog, "de", PL_("1 paper", "{count} papers"), 1);
	g_autofree char *many =
	    catalog_format_count(catalog, "de", PL_("1 paper", "{count} papers"), 5);

	g_assert_true(g_str_has_prefix(list, "de, en, fr, zh"));
	g_assert_cmpstr(catalog_get_languages(catalog)[0], ==, "en");
	g_assert_true(catalog_has_language(catalog, "de"));
	g_assert_false(catalog_has_language(catalog, "xx"));
	g_assert_cmpstr(english, ==, "never");
	g_assert_cmpstr(german, ==, "nie");
	g_assert_cmpstr(other, ==, "never");
	g_assert_cmpstr(own, ==, "Deutsch");
	g_assert_cmpstr(one, ==, "1 Artikel");
	g_assert_cmpstr(many, ==, "5 Artikel");
}

CATALOG_TEST(values_are_not_expanded)
{
	g_autofree char *filled = catalog_format(
	    catalog, "en", "{x}, then {y} {z}", "x", "{y}", "y", "{x}", NULL);

	g_assert_cmpstr(filled, ==, "{y}, then {x} {z}");
}

/* @return the error, or NULL */
static char *
load_with(const char *file, const char *text, struct catalog **catalog)
{
	g_autofree char *directory = g_dir_make_tmp("pb-po-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, file, NULL);
	g_autoptr(GError) error = NULL;

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	*catalog = catalog_load(directory, &error);
	g_unlink(path);
	g_rmdir(directory);
	g_assert_true(!*catalog == !!error);
	return error ? g_strdup(error->message) : NULL;
}

TEST(an_operator_replaces_single_texts_and_adds_languages)
{
	pb_auto(catalog) english = NULL;
	pb_auto(catalog) italian = NULL;
	g_autofree char *first =
	    load_with("en.po", "msgid \"never\"\nmsgstr \"not once\"\n", &english);
	g_autofree char *second =
	    load_with("it.po", "msgid \"never\"\nmsgstr \"mai\"\n", &italian);

	g_assert_cmpstr(first, ==, NULL);
	g_assert_cmpstr(second, ==, NULL);
	g_assert_cmpstr(
	    po_get(catalog_get_po(english, "en"), N_("never")), ==, "not once");
	g_assert_cmpstr(po_get(catalog_get_po(english, "de"), N_("never")), ==, "nie");
	g_assert_true(catalog_has_language(italian, "it"));
	g_assert_cmpstr(po_get(catalog_get_po(italian, "it"), N_("never")), ==, "mai");
	g_assert_cmpstr(
	    po_get(catalog_get_po(italian, "it"), N_("Pause")), ==, "Pause");
}

TEST(a_wrong_file_of_the_operator_is_refused)
{
	static const struct {
		const char *file, *text, *says;
	} rows[] = {
	    {"de.po", "msgid \"nevr\"\nmsgstr \"nie\"\n",
	        "de.po:2: the program has no text: nevr"},
	    {"de.po", "msgid \"never\" msgstr \"{x}\"\n", "no placeholder {x}"},
	};
	g_autofree char *large = g_strnfill(BOUNDS_PO_BYTES + 1, '\n');
	pb_auto(catalog) other = NULL;
	g_autofree char *problem = load_with("de.po", large, &other);

	g_assert_nonnull(strstr(problem, "larger than"));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(catalog) catalog = NULL;
		g_autofree char *said = load_with(rows[i].file, rows[i].text, &catalog);

		g_assert_nonnull(said);
		if (!strstr(said, rows[i].says))
			g_error("%zu: %s", i, said);
	}
	large[BOUNDS_PO_BYTES] = '\0';
	g_free(problem);
	problem = load_with("de.po", large, &other);
	g_assert_cmpstr(problem, ==, NULL);
}

/* ---- templates and messages ---- */

CATALOG_TEST(templates_are_translated)
{
	CASES_FOREACH(row, "catalog_templates", *text, *wanted) {
		g_autoptr(GError) error = NULL;
		g_autofree char *out =
		    catalog_expand(catalog, "de", "x.html", row->text, &error);

		g_assert_no_error(error);
		g_assert_cmpstr(out, ==, row->wanted);
	}
}

CATALOG_TEST(a_text_without_an_end_is_refused)
{
	static const char *const texts[] = {"{{#_}}never", "{{/_}}{{#_}}", "{{#_"};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *out =
		    catalog_expand(catalog, "en", "x.html", texts[i], &error);

		g_assert_null(out);
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_true(g_str_has_prefix(error->message, "x.html: "));
	}
}

TEST(every_command_that_waits_for_a_confirmation_is_decided_first)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (!row->decide != !row->confirm)
			g_error("%s: confirmation without decide function, or reverse",
			    row->verb);
}

TEST(every_command_has_its_help)
{
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_autofree char *help = command_table_find_text(row, "help");
		g_autofree char *brief = command_table_find_text(row, "brief");

		g_assert_nonnull(help);
		g_assert_nonnull(brief);
	}
}

/* The message goes with the error, and with its copies. */
CATALOG_TEST(an_error_is_read_in_any_language)
{
	static const char text[] = N_("no such filter: {number}");
	g_autoptr(GError) error = NULL, copy = NULL, plain = NULL;
	g_autofree char *german = NULL;

	g_assert_false(pb_error_set(&error, PB_ERROR_INPUT, text, "number", "7", NULL));
	g_assert_cmpstr(error->message, ==, "no such filter: 7");
	copy = g_error_copy(error);
	g_clear_error(&error);
	german = msg_format(pb_error_get_msg(copy), catalog_get_po(catalog, "de"));
	g_assert_cmpstr(german, ==, "einen Filter 7 gibt es nicht");
	g_assert_false(pb_error_set(NULL, PB_ERROR_INPUT, text, "number", "7", NULL));
	g_set_error(&plain, PB_ERROR, PB_ERROR_TEMPORARY, "busy");
	g_assert_null(pb_error_get_msg(plain));
}

CATALOG_TEST(a_message_with_a_count_has_its_form)
{
	static const char text[] = PL_("1 more paper with {form}: {title}",
	    "{count} more papers with {form}, the latest: {title}");
	pb_auto(msg) one = msg_new_count(text, 1, "form", "x", "title", "T", NULL);
	pb_auto(msg) many = msg_new_count(text, 3, "form", "x", "title", "T", NULL);
	g_autofree char *german = msg_format(many, catalog_get_po(catalog, "de"));

	g_assert_cmpstr(one->text, ==, "1 more paper with x: T");
	g_assert_cmpstr(many->text, ==, "3 more papers with x, the latest: T");
	g_assert_nonnull(strstr(german, "3 "));
}

UNIT_MAIN
