/*
 * stem.c - light stemmer that folds English plurals.
 */
#include "query/text/stem.h"

#include <string.h>

#include "query/text/plurals.h"

/* Minimum length of a plural in characters: gas, bus, its. */
#define SHORTEST_PLURAL 4

#define RESOURCE "/paperboy/query/plurals.txt"

/* @return word -> singular, the word itself if it is not a plural; both char * */
static gpointer
load_exceptions(gpointer unused)
{
	g_autoptr(GBytes) bytes =
	    g_resource_lookup_data(plurals_get_resource(), RESOURCE, 0, NULL);
	GHashTable *exceptions = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree char *text =
	    g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	(void)unused;
	for (char **line = lines; *line; line++) {
		g_autofree char **words = NULL;

		if (!**line || **line == '#')
			continue;
		words = g_strsplit(*line, " ", 2);
		g_hash_table_insert(
		    exceptions, words[0], words[1] ? words[1] : words[0]);
	}
	return exceptions;
}

static GHashTable *
get_exceptions(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load_exceptions, NULL);
}

/* Endings of words that are not plurals: debias, astrophysics, hydrodynamics. */
static const char *const exempt_endings[] = {
    "bias",
    "dynamics",
    "ethics",
    "informatics",
    "physics",
    "ss",
};

/* Words with these endings lose -es; others lose -s. */
static const char *const sibilant_endings[] = {"ches", "shes", "sses", "xes", "zzes"};

static bool
ends_in(const char *word, size_t len, const char *ending)
{
	size_t ending_len = strlen(ending);

	return len >= ending_len &&
	       memcmp(word + len - ending_len, ending, ending_len) == 0;
}

static bool
ends_in_any(const char *word, size_t len, const char *const *endings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ends_in(word, len, endings[i]))
			return true;
	return false;
}

/* Find the length of the stem in bytes; -ies becomes -y. */
static size_t
measure_stem(const char *word, size_t len, size_t chars, bool *wants_y)
{
	*wants_y = false;
	if (ends_in_any(word, len, exempt_endings, G_N_ELEMENTS(exempt_endings)))
		return len;
	/* virus and analysis are not plurals; GPUs and APIs are. */
	if (chars > SHORTEST_PLURAL &&
	    (ends_in(word, len, "us") || ends_in(word, len, "is")))
		return len;
	/* "queries" becomes "query"; "ties" and "dies" are too short. */
	if (chars > SHORTEST_PLURAL && ends_in(word, len, "ies")) {
		*wants_y = true;
		return len - 3;
	}
	/* "heroes" becomes "hero"; "shoes" is too short. */
	if (chars > SHORTEST_PLURAL + 1 && ends_in(word, len, "oes"))
		return len - 2;
	if (chars > SHORTEST_PLURAL &&
	    ends_in_any(word, len, sibilant_endings, G_N_ELEMENTS(sibilant_endings)))
		return len - 2;
	return len - 1;
}

/* 50ms is a time; 50m is fifty million. */
static bool
is_milliseconds(const char *word, size_t len)
{
	return ends_in(word, len, "ms") && g_ascii_isdigit(word[len - 3]);
}

char *
stem_plural(const char *word, size_t len)
{
	g_autofree char *whole = g_strndup(word, len);
	const char *singular;
	size_t chars, stem_len;
	bool wants_y;

	if (len < SHORTEST_PLURAL || word[len - 1] != 's' ||
	    g_ascii_isdigit(word[len - 2]) || is_milliseconds(word, len))
		return g_steal_pointer(&whole);
	chars = g_utf8_strlen(whole, -1);
	if (chars < SHORTEST_PLURAL)
		return g_steal_pointer(&whole);
	singular = g_hash_table_lookup(get_exceptions(), whole);
	if (singular)
		return g_strdup(singular);
	stem_len = measure_stem(whole, len, chars, &wants_y);
	if (wants_y)
		whole[stem_len++] = 'y';
	whole[stem_len] = '\0';
	return g_steal_pointer(&whole);
}

/* @param word  taken */
static void
add_spelling(GPtrArray *spellings, const char *folded, char *word)
{
	g_autofree char *singular = stem_plural(word, strlen(word));

	if (strcmp(singular, folded) == 0)
		g_ptr_array_add(spellings, word);
	else
		g_free(word);
}

GPtrArray *
stem_list_spellings(const char *folded)
{
	GPtrArray *spellings = g_ptr_array_new_with_free_func(g_free);
	size_t len = strlen(folded);
	gpointer word, singular;
	GHashTableIter iter;

	g_ptr_array_add(spellings, g_strdup(folded));
	add_spelling(spellings, folded, g_strconcat(folded, "s", NULL));
	add_spelling(spellings, folded, g_strconcat(folded, "es", NULL));
	if (len && folded[len - 1] == 'y')
		add_spelling(spellings, folded,
		    g_strdup_printf("%.*sies", (int)len - 1, folded));
	g_hash_table_iter_init(&iter, get_exceptions());
	while (g_hash_table_iter_next(&iter, &word, &singular))
		if (strcmp(singular, folded) == 0 &&
		    !g_ptr_array_find_with_equal_func(
		        spellings, word, g_str_equal, NULL))
			g_ptr_array_add(spellings, g_strdup(word));
	return spellings;
}
