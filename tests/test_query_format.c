/*
 * test_query_format.c - canonical text and hash of filters.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "query/parse/canonical.h"
#include "query/parse/widen.h"
#include "test_query.h"

QUERY_TEST(filters_have_a_canonical_text)
{
	CASES_FOREACH(row, "query_format", *text, *canonical) {
		g_autofree char *once = canonical(fixture, row->text);
		g_autofree char *twice = canonical(fixture, once);

		g_assert_cmpstr(once, ==, row->canonical);
		g_assert_cmpstr(once, ==, twice);
	}
}

QUERY_TEST(hash_is_of_the_canonical_text)
{
	pb_auto(query) one = must_parse(fixture, "models Diffusion");
	pb_auto(query) same = must_parse(fixture, "diffusion & model");
	pb_auto(query) other = must_parse(fixture, "diffusion | model");
	g_autofree char *one_hash = query_hash(one);
	g_autofree char *same_hash = query_hash(same);
	g_autofree char *other_hash = query_hash(other);
	g_autofree char *expected =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, "diffusion AND model", -1);

	g_assert_cmpstr(one_hash, ==, expected);
	g_assert_cmpstr(one_hash, ==, same_hash);
	g_assert_cmpstr(one_hash, !=, other_hash);
}

QUERY_TEST(time_dependent_filters_are_detected)
{
	pb_auto(query) words = must_parse(fixture, "a OR (title:b NOT au:c)");
	pb_auto(query) votes = must_parse(fixture, "a (b NOT (c OR upvotes:>3))");

	g_assert_false(query_is_time_dependent(words));
	g_assert_true(query_is_time_dependent(votes));
}

/* The longest canonical text of a filter of 512 bytes is still parsed. */
QUERY_TEST(longest_typed_filter_has_a_canonical_text_within_bounds)
{
	g_autoptr(GString) text = g_string_new("abs:(");
	g_autoptr(GString) wide = g_string_new("a");
	g_autoptr(GString) long_text = g_string_new(NULL);

	for (int i = 0; i < BOUNDS_QUERY_TERMS; i++)
		g_string_append_printf(text, "%c.%cabc%c%c|", 'b' + i % 20,
		    'b' + i / 20, 'b' + i % 20, 'b' + i / 20);
	g_string_overwrite(text, text->len - 1, ")");
	g_assert_cmpuint(text->len, <=, BOUNDS_QUERY_BYTES);
	/* U+023A has two bytes, its lower case three. */
	while (wide->len < BOUNDS_QUERY_BYTES - 1)
		g_string_append(wide, "Ⱥ");
	for (int i = 0; i < BOUNDS_QUERY_CANONICAL_BYTES; i++)
		g_string_append_c(long_text, 'a');
	for (int i = 0; i < 3; i++) {
		GString *typed[] = {text, wide, long_text};
		g_autofree char *once = i < 2 ? canonical(fixture, typed[i]->str)
		                              : g_strdup(long_text->str);
		pb_auto(query) query =
		    NO_ERROR(query_parse_canonical(once, fixture->tokenizer, &error));
		g_autofree char *twice = NULL;

		g_assert_cmpuint(strlen(once), >, BOUNDS_QUERY_BYTES);
		twice = query_format(query);
		g_assert_cmpstr(once, ==, twice);
	}
	g_string_append_c(long_text, 'a');
	FAILS(PB_ERROR_LIMIT,
	    query_parse_canonical(long_text->str, fixture->tokenizer, &error));
}

/* Find a clause by its canonical text. */
static const struct node *
find_clause(const struct node *node, const char *text)
{
	g_autoptr(GString) own = g_string_new(NULL);

	for (guint i = 0; node->operands && i < node->operands->len; i++) {
		const struct node *found = find_clause(node->operands->pdata[i], text);

		if (found)
			return found;
	}
	if (!node->operands)
		node_append_clause(node, own);
	return g_str_equal(own->str, text) ? node : NULL;
}

QUERY_TEST(a_clause_gets_an_alternative)
{
	CASES_FOREACH(
	    row, "query_format_widened", *text, *clause, *alternative, *widened) {
		pb_auto(query) query = must_parse(fixture, row->text);
		const struct node *clause = find_clause(query->root, row->clause);
		g_autofree char *before = query_format(query);
		pb_auto(query) widened = query_widen(
		    query, clause, clause, row->alternative, fixture->tokenizer);
		g_autofree char *text = widened ? query_format(widened) : NULL;
		g_autofree char *after = query_format(query);

		g_assert_cmpstr(text, ==, row->widened);
		g_assert_cmpstr(after, ==, before);
	}
}

/* People see the accents that they typed. */
QUERY_TEST(accents_are_shown)
{
	CASES_FOREACH(row, "query_format_accents", *text, *shown) {
		g_autofree char *before = canonical(fixture, row->text);
		g_autofree char *shown =
		    query_format_accented(before, row->text, fixture->tokenizer);
		g_autofree char *after = canonical(fixture, shown);

		g_assert_cmpstr(after, ==, before);
		if (strcmp(shown, row->shown) != 0)
			g_test_fail_printf("%s: %s", row->text, shown);
	}
}

UNIT_MAIN
