/*
 * test_query_names.c - names of authors match however a source spells them.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
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
	static const struct {
		const char *asked;
		const char *printed;
		bool is_match;
	} rows[] = {
	    /* Particles. */
	    {"Laurens van der Maaten", "Laurens van der Maaten", true},
	    {"van der Maaten, Laurens", "Laurens van der Maaten", true},
	    {"van der Maaten, L.", "L. van der Maaten", true},
	    {"L. van der Maaten", "Laurens van der Maaten", true},
	    {"van der Maaten", "Laurens van der Maaten", true},
	    {"Laurens Maaten", "Laurens van der Maaten", true},
	    {"Maaten", "Laurens van der Maaten", true},
	    {"Laurens van der Maaten", "Van Der Maaten, Laurens", true},
	    {"Paul van der Maaten", "Laurens van der Maaten", false},
	    {"Laurens der Maaten", "Laurens van der Maaten", true},
	    {"de Freitas, Nando", "Nando de Freitas", true},
	    {"João da Silva", "Joao da Silva", true},
	    /* Scripts without spaces: whole names, not pairs. */
	    {"王小明", "王小明", true},
	    {"小明", "王小明", false},
	    {"小明", "王小明 李", false},
	    {"王", "王小明", false},
	    {"王", "王 小明", true},
	    {"ルカン", "ヤン・ルカン", true},
	    {"ヤン・ルカン", "ルカン, ヤン", true},
	    {"カン", "ヤン・ルカン", false},
	    /* Hyphens. */
	    {"Jean-Baptiste Alayrac", "J.-B. Alayrac", true},
	    {"J.-B. Alayrac", "Jean-Baptiste Alayrac", true},
	    {"J. Alayrac", "Jean-Baptiste Alayrac", true},
	    {"J. B. Alayrac", "Jean-Baptiste Alayrac", true},
	    {"J.-P. Alayrac", "Jean-Baptiste Alayrac", false},
	    {"B. Alayrac", "Jean-Baptiste Alayrac", false},
	    {"Baptiste Alayrac", "Jean-Baptiste Alayrac", true},
	    {"Baptiste", "Jean-Baptiste Alayrac", true},
	    {"jean-baptiste", "Jean-Baptiste Alayrac", true},
	    {"Jean-Baptiste", "Jean Baptiste Alayrac", true},
	    {"baptiste-alayrac", "Jean-Baptiste Alayrac", false},
	    {"Baptiste Alayrac", "Anna Jean-Baptiste Alayrac", false},
	    {"song", "Gui-Song Xia", true},
	    {"gui", "Gui-Song Xia", true},
	    {"gui-song", "Gui-Song Xia", true},
	    {"Song Xia", "Gui-Song Xia", true},
	    {"Gui Xia", "Gui-Song Xia", true},
	    {"Xia, Gui Song", "Gui-Song Xia", true},
	    {"Gui-Song Xia", "Gui\u2010Song Xia", true},
	    {"Gui\u2011Song Xia", "Gui-Song Xia", true},
	    {"Gui\u2010Song Xia", "G.-S. Xia", true},
	    {"Song Xia", "G.-S. Xia", false},
	    {"Song", "Gui Xia-Song", false},
	    {"Chloé Clavel-Dupont", "Chloe Clavel-Dupont", true},
	    {"Chloé Dupont", "Chloe Clavel-Dupont", false},
	    {"Li Fei-Fei", "Li Fei-Fei", true},
	    {"Fei-Fei Li", "Fei-Fei Li", true},
	    /* Apostrophes. */
	    {"O'Brien", "Conan O\u2019Brien", true},
	    {"O\u2019Brien, Conan", "Conan O'Brien", true},
	    {"C. O'Brien", "Conan Christopher O\u2019Brien", true},
	    {"Brien", "Conan O'Brien", false},
	    {"d'Alembert", "Jean le Rond d\u2019Alembert", true},
	    {"Jean d\u2019Alembert", "Jean le Rond d'Alembert", true},
	    {"d'Alembert, J.", "Jean le Rond d'Alembert", true},
	    {"Alembert", "Jean le Rond d'Alembert", false},
	    {"De'Aira Bryant", "De\u2019Aira Bryant", true},
	    {"Aira Bryant", "De'Aira Bryant", true},
	    {"aira", "De\u2019Aira Bryant", true},
	    {"M\u2019hamed Bougrine", "M'hamed Bougrine", true},
	    /* Middle names. */
	    {"Geoffrey Hinton", "Geoffrey Everest Hinton", true},
	    {"Geoffrey Everest Hinton", "Geoffrey Hinton", false},
	    {"Everest Hinton", "Geoffrey Everest Hinton", false},
	    {"Everest", "Geoffrey Everest Hinton", true},
	    {"Maria Cruz", "Maria-Jose Anna Cruz", true},
	    {"Jose Cruz", "Maria-Jose Anna Cruz", true},
	    {"Jose Anna Cruz", "Maria-Jose Anna Cruz", true},
	    /* Suffixes. */
	    {"John Hennessy", "John Hennessy III", true},
	    {"John Hennessy III", "John Hennessy", true},
	    {"Hennessy, John, Jr.", "John Hennessy", true},
	    {"John Hennessy", "John Hennessy, Jr.", true},
	    {"Hennessy", "John Hennessy Jr.", true},
	    {"Jr", "John Hennessy Jr.", false},
	    /* Single names and groups. */
	    {"Qwen", "Qwen", true},
	    {"Qwen", "Qwen Team", true},
	    {"Aristotle", "Aristotle", true},
	    {"The LIGO Collaboration", "The LIGO Scientific Collaboration", true},
	    /* Capitals. */
	    {"Yann LeCun", "YANN LECUN", true},
	    {"YANN LECUN", "Yann LeCun", true},
	    {"LECUN, Y.", "Yann LeCun", true},
	    /* Chinese names, romanised and in characters. */
	    {"Xiaoming Wang", "Xiaoming Wang", true},
	    {"Wang, Xiaoming", "Xiaoming Wang", true},
	    {"X. Wang", "Xiaoming Wang", true},
	    {"Xiao-Ming Wang", "Xiao-Ming Wang", true},
	    {"X.-M. Wang", "Xiao-Ming Wang", true},
	    {"Wang Xiaoming", "Xiaoming Wang", false},
	    {"Yu", "Yujia Wang", false},
	    {"Yu", "Yu Wang", true},
	    {"王小明", "王小明", true},
	    {"王小明", "王小红", false},
	    /* Initials without a space between. */
	    {"Y.L. Cun", "Yann L. Cun", true},
	    {"Y.L. Cun", "Y. L. Cun", true},
	    {"Y.L. Cun", "Yann Le Cun", true},
	    {"Y. L. Cun", "Y.L. Cun", true},
	    {"J.R.R. Tolkien", "John Ronald Reuel Tolkien", true},
	    {"J. Tolkien", "J.R.R. Tolkien", true},
	    {"R. Tolkien", "J.R.R. Tolkien", false},
	    /* One author, never two. */
	    {"John Smith", "John Doe;Anna Smith", false},
	    {"John Smith", "Anna Doe;John A. Smith", true},
	    {"Smith, John Doe", "John Smith;Ada Doe", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (is_found(fixture, "author", rows[i].asked, rows[i].printed) !=
		    rows[i].is_match)
			g_error("'%s' should %smatch '%s'", rows[i].asked,
			    rows[i].is_match ? "" : "not ", rows[i].printed);
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
