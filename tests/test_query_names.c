/*
 * test_query_names.c - names of authors match however a source spells them.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "lib/cases.h"
#include "test_query.h"

static bool
is_found(const struct query_fixture *fixture, const char *field, const char *asked,
    const char *printed)
{
	g_autofree char *text = g_strdup_printf("%s:\"%s\"", field, asked);
	pb_auto(query) query = must_parse(fixture, text);
	pb_auto(query_document) document =
	    make_document(fixture, "a", "", printed, PAPER_UNKNOWN);

	return query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE;
}

QUERY_TEST(names_match_by_spelling)
{
	CASES_FOREACH(row, "query_names", *asked, *printed, *is_match)
		if (is_found(fixture, "author", row->asked, row->printed) !=
		    cases_is_yes(row->is_match))
			g_error("'%s' should %smatch '%s'", row->asked,
			    cases_is_yes(row->is_match) ? "" : "not ", row->printed);
}

/* arXiv gives names in TeX, Hugging Face in UTF-8: both are normalised. */
QUERY_TEST(name_in_tex_matches_the_same_author)
{
	static const struct {
		const char *tex;
		const char *utf8;
		const char *asked[3];
	} rows[] = {
	    {"L\\'evy, P.", "Paul Lévy", {"Paul Lévy", "P. Levy", "Lévy,"}},
	    {"Paul L{\\'e}vy", "Paul Lévy", {"LEVY, PAUL", "levy", "Lévy, P."}},
	    {"Erwin Schr{\\\"o}dinger", "Erwin Schrödinger",
	        {"Schrödinger", "E. Schrodinger", "Schrodinger, Erwin"}},
	    {"Schr\\\"odinger, E.", "Erwin Schrödinger",
	        {"Erwin Schrödinger", "E Schrodinger", "schrodinger"}},
	    {"Aleksandra Pi\\v{z}urica", "Aleksandra Pižurica",
	        {"Pizurica", "A. Pižurica", "Aleksandra Pizurica"}},
	    {"J\\\"org Kra{\\ss}", "Jörg Kraß", {"Jorg Kraß", "J. Kraß", "Kraß"}},
	    {"S{\\o}ren Mart\\'{\\i}n", "Søren Martín",
	        {"Søren Martin", "S. Martín", "Martin"}},
	    {"Herv\\'e J\\'egou", "Herve\xcc\x81 Je\xcc\x81gou",
	        {"Hervé Jégou", "H. Jegou", "Jégou, Herve"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *const spellings[] = {rows[i].tex, rows[i].utf8};

		for (size_t j = 0; j < G_N_ELEMENTS(spellings); j++) {
			g_autofree char *printed = text_normalize(spellings[j],
			    strlen(spellings[j]), BOUNDS_PAPER_AUTHOR_BYTES);

			for (size_t k = 0; k < G_N_ELEMENTS(rows[i].asked); k++)
				if (!is_found(
				        fixture, "author", rows[i].asked[k], printed))
					g_error("'%s' should match '%s', which is '%s'",
					    rows[i].asked[k], spellings[j], printed);
			g_assert_false(
			    is_found(fixture, "author", "Paula Levi", printed));
		}
	}
}

QUERY_TEST(first_matches_the_first_author_only)
{
	static const char authors[] = "Geoffrey E. Hinton;Yann LeCun";

	g_assert_true(is_found(fixture, "first", "hinton", authors));
	g_assert_true(is_found(fixture, "first", "Hinton, G.", authors));
	g_assert_false(is_found(fixture, "first", "lecun", authors));
	g_assert_false(is_found(fixture, "first", "Yann LeCun", authors));
	g_assert_false(is_found(fixture, "first", "Geoffrey LeCun", authors));
	g_assert_false(is_found(fixture, "first", "lecun", ""));
	g_assert_true(is_found(fixture, "author", "lecun", authors));
}

UNIT_MAIN
