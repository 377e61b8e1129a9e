/*
 * test_stem.c - plurals are folded to singulars, other words are not changed.
 */
#include <glib.h>
#include <string.h>

#include "lib/unit.h"
#include "query/text/stem.h"

static const struct {
	const char *word;
	const char *folded;
} rows[] = {
    {"models", "model"},
    {"llms", "llm"},
    {"gpus", "gpu"},
    {"apis", "api"},
    {"networks", "network"},
    {"databases", "database"},
    {"responses", "response"},
    {"sizes", "size"},
    {"ideas", "idea"},
    {"videos", "video"},
    {"keys", "key"},
    {"metrics", "metric"},
    {"heuristics", "heuristic"},
    {"critics", "critic"},
    {"classes", "class"},
    {"losses", "loss"},
    {"processes", "process"},
    {"boxes", "box"},
    {"indexes", "index"},
    {"batches", "batch"},
    {"hashes", "hash"},
    {"quizzes", "quiz"},
    {"caches", "cache"},
    {"queries", "query"},
    {"studies", "study"},
    {"policies", "policy"},
    {"ties", "tie"},
    {"movies", "movie"},
    {"heroes", "hero"},
    {"shoes", "shoe"},
    {"lenses", "lens"},
    {"biases", "bias"},
    {"viruses", "virus"},
    {"menus", "menu"},
    {"axes", "axis"},
    {"analyses", "analysis"},
    {"hypotheses", "hypothesis"},
    {"matrices", "matrix"},
    {"vertices", "vertex"},
    {"indices", "index"},
    {"devices", "device"},
    {"aches", "ache"},
    {"zombies", "zombie"},
    /* Words that only look like plurals. */
    {"gas", "gas"},
    {"bus", "bus"},
    {"its", "its"},
    {"was", "was"},
    {"s", "s"},
    {"ss", "ss"},
    {"less", "less"},
    {"loss", "loss"},
    {"class", "class"},
    {"news", "news"},
    {"bias", "bias"},
    {"debias", "debias"},
    {"lens", "lens"},
    {"analysis", "analysis"},
    {"synthesis", "synthesis"},
    {"physics", "physics"},
    {"astrophysics", "astrophysics"},
    {"thermodynamics", "thermodynamics"},
    {"robotics", "robotics"},
    {"semantics", "semantics"},
    {"species", "species"},
    {"series", "series"},
    {"means", "means"},
    {"this", "this"},
    {"thus", "thus"},
    {"corpus", "corpus"},
    {"focus", "focus"},
    {"continuous", "continuous"},
    {"chaos", "chaos"},
    {"bayes", "bayes"},
    {"stokes", "stokes"},
    {"1980s", "1980s"},
    {"50ms", "50ms"},
    {"3dmms", "3dmm"},
    {"https", "https"},
    {"kinetics", "kinetics"},
    {"statistics", "statistic"},
    {"prairies", "prairie"},
    {"model", "model"},
    {"", ""},
    /* Three characters in four bytes. */
    {"αβs", "αβs"},
    {"αβγs", "αβγ"},
};

TEST(plurals_fold_to_singulars)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *folded =
		    stem_plural(rows[i].word, strlen(rows[i].word));

		g_assert_cmpstr(folded, ==, rows[i].folded);
	}
}

TEST(folding_is_idempotent)
{
	static const char messages[] = "aehisuxyz";
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);

	for (int i = 0; i < 200000; i++) {
		char word[12] = {0};
		int len = g_rand_int_range(rand, 1, 11);
		g_autofree char *once = NULL;
		g_autofree char *twice = NULL;

		for (int j = 0; j < len; j++)
			word[j] = messages[g_rand_int_range(rand, 0, strlen(messages))];
		once = stem_plural(word, len);
		twice = stem_plural(once, strlen(once));
		g_assert_cmpstr(once, ==, twice);
		g_assert_cmpuint(strlen(once), <=, len);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *folded = rows[i].folded;
		g_autofree char *twice = stem_plural(folded, strlen(folded));

		g_assert_cmpstr(folded, ==, twice);
	}
}

TEST(all_spellings_of_a_word_are_listed)
{
	static const char alphabet[] = "aehisuxyz";
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);

	for (int i = 0; i < 200000; i++) {
		g_autofree char *word = g_strdup("zzzzzzzzz");
		g_autofree char *folded = NULL;
		g_autoptr(GPtrArray) spellings = NULL;

		if (i < (int)G_N_ELEMENTS(rows)) {
			g_free(word);
			word = g_strdup(rows[i].word);
		} else {
			word[g_rand_int_range(rand, 1, 10)] = '\0';
			for (char *at = word; *at; at++)
				*at = alphabet[g_rand_int_range(
				    rand, 0, strlen(alphabet))];
		}
		folded = stem_plural(word, strlen(word));
		spellings = stem_list_spellings(folded);
		if (!g_ptr_array_find_with_equal_func(
		        spellings, word, g_str_equal, NULL))
			g_test_fail_printf("%s: no %s", folded, word);
		for (guint n = 0; n < spellings->len; n++) {
			g_autofree char *again = stem_plural(
			    spellings->pdata[n], strlen(spellings->pdata[n]));

			g_assert_cmpstr(again, ==, folded);
		}
	}
}

TEST(only_the_given_length_is_read)
{
	g_autofree char *folded = stem_plural("modelsss", 6);

	g_assert_cmpstr(folded, ==, "model");
}

UNIT_MAIN
