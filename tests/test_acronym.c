/*
 * test_acronym.c - acronyms that a text defines.
 */
#include "base/bounds.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "query/text/acronym.h"

static char *
find(const char *text)
{
	g_autoptr(GPtrArray) forms = acronym_find(text);
	GString *found = g_string_new(NULL);

	for (unsigned i = 0; i < forms->len; i++) {
		const struct acronym *form = forms->pdata[i];

		g_string_append_printf(
		    found, "%s%s=%s", i ? "; " : "", form->short_text, form->long_text);
	}
	return g_string_free(found, FALSE);
}

TEST(acronyms_are_found_as_papers_define_them)
{
	CASES_FOREACH(row, "acronym", *text, *found) {
		g_autofree char *found = find(row->text);

		g_assert_cmpstr(found, ==, row->found);
	}
}

TEST(acronym_has_a_maximum_length)
{
	for (int more = 0; more < 2; more++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GPtrArray) forms = NULL;
		int messages = BOUNDS_ACRONYM_CHARS + more;

		for (int i = 0; i < messages; i++)
			g_string_append_printf(text, "%c%c ", 'a' + i, 'a' + i);
		g_string_append_c(text, '(');
		for (int i = 0; i < messages; i++)
			g_string_append_c(text, (char)('A' + i));
		g_string_append_c(text, ')');
		forms = acronym_find(text->str);
		g_assert_cmpuint(forms->len, ==, more ? 0 : 1);
	}
}

TEST(time_is_bounded_for_any_text)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) forms = NULL;

	/* Words that match everywhere, and a last character that never does. */
	for (int i = 0; i < 2000; i++)
		g_string_append(
		    text, "aaaaaaaaaaaaaaaa-aaaaaaaaaaa of aaaaaaaa b (AAaaaaaaac) ");
	forms = acronym_find(text->str);
	g_assert_cmpuint(forms->len, ==, 0);
}

TEST(acronyms_are_compared_with_phrases)
{
	g_autofree char *longest = g_strnfill(BOUNDS_ACRONYM_CHARS, 'a');
	g_autofree char *longer = g_strnfill(BOUNDS_ACRONYM_CHARS + 1, 'a');
	const char *phrase = "aaa aaaaa aaaaaaaaaaa";

	CASES_FOREACH(row, "acronym_phrases", *short_text, *phrase, *matches)
		if (acronym_matches(row->short_text, row->phrase) !=
		    cases_is_yes(row->matches))
			g_error("%s: %s", row->short_text, row->phrase);
	g_assert_true(acronym_matches(longest, phrase));
	g_assert_false(acronym_matches(longer, phrase));
}

UNIT_MAIN
