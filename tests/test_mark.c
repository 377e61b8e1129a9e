/*
 * test_mark.c - marked words in a text.
 */
#include "lib/cases.h"
#include "lib/unit.h"
#include "model/digest.h"
#include "render/mark.h"

TEST(words_of_hits_are_marked)
{
	CASES_FOREACH(row, "mark", *text, *hits, *wanted) {
		g_autoptr(GPtrArray) reasons = g_ptr_array_new_with_free_func(g_free);
		g_autoptr(GPtrArray) hits = hits_parse(row->hits);
		g_autoptr(GString) text = g_string_new(NULL);

		g_ptr_array_add(reasons, digest_reason_new("filter", hits));
		mark_append(
		    text, row->text, strlen(row->text), reasons, HIT_FIELD_ABSTRACT);
		g_string_replace(text, "<mark>", "[", 0);
		g_string_replace(text, "</mark>", "]", 0);
		g_assert_cmpstr(text->str, ==, row->wanted);
	}
}

UNIT_MAIN
