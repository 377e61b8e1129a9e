/*
 * test_phrases.c - phrases of languages: their files, and what is in them.
 */
#include "model/phrases.h"

#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "lib/unit.h"

TEST(sections_and_values_are_read)
{
	g_autoptr(GError) error = NULL;
	pb_auto(phrases) phrases = phrases_parse("xx",
	    "# A comment\n[numbers]\ntwo = 2\n  a dozen = 12 \n\n[leave]\nbye_\n",
	    &error);
	const char *const *numbers, *const *leave;

	g_assert_no_error(error);
	numbers = phrases_get(phrases, "numbers");
	leave = phrases_get(phrases, "leave");
	g_assert_cmpstr(phrases_get_language(phrases), ==, "xx");
	g_assert_cmpstr(numbers[0], ==, "two");
	g_assert_cmpstr(numbers[1], ==, "a dozen");
	g_assert_null(numbers[2]);
	g_assert_cmpstr(leave[0], ==, "bye ");
	g_assert_null(*phrases_get(phrases, "consents"));
}

TEST(errors_say_where)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
	    {"bye\n", "xx:1: expected"},
	    {"[leave]\nbye\n[leave]\n", "xx:3: unknown or repeated section: [leave]"},
	    {"[laeve]\n", "xx:1: unknown or repeated section: [laeve]"},
	    {"[leave\n", "xx:1: unknown or repeated section"},
	    {"[\n", "xx:1: unknown or repeated section"},
	    {"[leave]\n\xff\n", "xx:2: expected UTF-8"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(phrases_parse("xx", rows[i].text, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!g_str_has_prefix(error->message, rows[i].says))
			g_error("%zu: %s", i, error->message);
	}
}

TEST(no_phrase_is_listed_twice_in_a_section)
{
	static const char *const sections[] = {"greetings", "closings", "consents",
	    "agreements", "refusals", "neutral", "automatic", "numbers", "units"};
	const struct phrases *const *language = phrases_get_all();
	unsigned count = 0;

	for (; *language; language++) {
		for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
			const char *const *at = phrases_get(*language, sections[i]);
			g_autoptr(GHashTable) seen =
			    g_hash_table_new(g_str_hash, g_str_equal);

			for (; *at; at++, count++)
				if (!g_hash_table_add(seen, (char *)*at))
					g_error("%s: [%s] has %s twice",
					    phrases_get_language(*language),
					    sections[i], *at);
		}
	}
	g_assert_cmpuint(count, >, 2500);
}

TEST(values_are_found_in_any_language)
{
	g_assert_cmpstr(phrases_find_value("numbers", "zwei"), ==, "2");
	g_assert_cmpstr(phrases_find_value("units", "fortnight"), ==, "14 days");
	g_assert_null(phrases_find_value("numbers", "zwo und zwanzig"));
	g_assert_null(phrases_find_value("units", "two"));
}

UNIT_MAIN
