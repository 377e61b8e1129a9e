/*
 * test_stem.c - plurals are folded to singulars, other words are not changed.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"
#include "query/text/stem.h"

TEST(plurals_fold_to_singulars)
{
	CASES_FOREACH(row, "stem", *word, *folded) {
		g_autofree char *folded = stem_plural(row->word, strlen(row->word));

		g_assert_cmpstr(folded, ==, row->folded);
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
	CASES_FOREACH(row, "stem", *word, *folded) {
		const char *folded = row->folded;
		g_autofree char *twice = stem_plural(folded, strlen(folded));

		g_assert_cmpstr(folded, ==, twice);
	}
}

static void
check_spellings(const char *word)
{
	g_autofree char *folded = stem_plural(word, strlen(word));
	g_autoptr(GPtrArray) spellings = stem_list_spellings(folded);

	if (!g_ptr_array_find_with_equal_func(spellings, word, g_str_equal, NULL))
		g_test_fail_printf("%s: no %s", folded, word);
	for (guint n = 0; n < spellings->len; n++) {
		g_autofree char *again =
		    stem_plural(spellings->pdata[n], strlen(spellings->pdata[n]));

		g_assert_cmpstr(again, ==, folded);
	}
}

TEST(all_spellings_of_a_word_are_listed)
{
	static const char alphabet[] = "aehisuxyz";
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);

	CASES_FOREACH(row, "stem", *word, *folded)
		check_spellings(row->word);
	for (int i = 0; i < 200000; i++) {
		char word[] = "zzzzzzzzz";

		word[g_rand_int_range(rand, 1, 10)] = '\0';
		for (char *at = word; *at; at++)
			*at = alphabet[g_rand_int_range(rand, 0, strlen(alphabet))];
		check_spellings(word);
	}
}

TEST(only_the_given_length_is_read)
{
	g_autofree char *folded = stem_plural("modelsss", 6);

	g_assert_cmpstr(folded, ==, "model");
}

UNIT_MAIN
