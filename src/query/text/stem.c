/*
 * stem.c - light stemmer that folds English plurals.
 */
#include "query/text/stem.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Minimum length of a plural in characters: gas, bus, its. */
#define SHORTEST_PLURAL 4

struct exception {
	const char *word;
	const char *singular; /* NULL: the word is not changed */
};

/* Sorted by strcmp(), for bsearch(). */
static const struct exception exceptions[] = {
    {"aches", "ache"},
    {"acoustics", NULL},
    {"adams", NULL},
    {"aesthetics", NULL},
    {"alias", NULL},
    {"aliases", "alias"},
    {"always", NULL},
    {"analyses", "analysis"},
    {"analytics", NULL},
    {"apparatuses", "apparatus"},
    {"appendices", "appendix"},
    {"arkansas", NULL},
    {"atlas", NULL},
    {"atlases", "atlas"},
    {"avalanches", "avalanche"},
    {"axes", "axis"},
    {"axis", NULL},
    {"basics", NULL},
    {"bayes", NULL},
    {"besides", NULL},
    {"biases", "bias"},
    {"bonuses", "bonus"},
    {"buses", "bus"},
    {"caches", "cache"},
    {"calories", "calorie"},
    {"campuses", "campus"},
    {"canoes", "canoe"},
    {"canvas", NULL},
    {"canvases", "canvas"},
    {"censuses", "census"},
    {"chaos", NULL},
    {"christmas", NULL},
    {"collins", NULL},
    {"consensuses", "consensus"},
    {"cookies", "cookie"},
    {"corpuses", "corpus"},
    {"cortices", "cortex"},
    {"cosmos", NULL},
    {"crises", "crisis"},
    {"cybernetics", NULL},
    {"diagnoses", "diagnosis"},
    {"does", NULL},
    {"economics", NULL},
    {"electronics", NULL},
    {"emojis", "emoji"},
    {"ethos", NULL},
    {"fibroses", "fibrosis"},
    {"focuses", "focus"},
    {"gases", "gas"},
    {"genetics", NULL},
    {"genomics", NULL},
    {"goes", NULL},
    {"graphics", NULL},
    {"haptics", NULL},
    {"hawkes", NULL},
    {"headaches", "headache"},
    {"helices", "helix"},
    {"hermes", NULL},
    {"https", NULL},
    {"hypotheses", "hypothesis"},
    {"indices", "index"},
    {"iris", NULL},
    {"irises", "iris"},
    {"jones", NULL},
    {"kansas", NULL},
    {"keras", NULL},
    {"kinematics", NULL},
    {"kinetics", NULL},
    {"kubernetes", NULL},
    {"lens", NULL},
    {"lenses", "lens"},
    {"linguistics", NULL},
    {"logistics", NULL},
    {"lvis", NULL},
    {"macos", NULL},
    {"mars", NULL},
    {"mathematics", NULL},
    {"matrices", "matrix"},
    {"means", NULL},
    {"mechanics", NULL},
    {"menus", "menu"},
    {"mers", NULL},
    {"metanalyses", "metanalysis"},
    {"metastases", "metastasis"},
    {"movies", "movie"},
    {"news", NULL},
    {"niches", "niche"},
    {"onus", NULL},
    {"optics", NULL},
    {"opus", NULL},
    {"ovis", NULL},
    {"pancreas", NULL},
    {"parentheses", "parenthesis"},
    {"pathos", NULL},
    {"perhaps", NULL},
    {"phonetics", NULL},
    {"photonics", NULL},
    {"plateaus", "plateau"},
    {"plus", NULL},
    {"pluses", "plus"},
    {"politics", NULL},
    {"pragmatics", NULL},
    {"prairies", "prairie"},
    {"prognoses", "prognosis"},
    {"prostheses", "prosthesis"},
    {"proteomics", NULL},
    {"psyches", "psyche"},
    {"quizzes", "quiz"},
    {"rabies", NULL},
    {"relus", "relu"},
    {"robotics", NULL},
    {"sars", NULL},
    {"selfies", "selfie"},
    {"semantics", NULL},
    {"series", NULL},
    {"simplices", "simplex"},
    {"sometimes", NULL},
    {"species", NULL},
    {"statuses", "status"},
    {"stokes", NULL},
    {"submatrices", "submatrix"},
    {"syntheses", "synthesis"},
    {"taxis", "taxi"},
    {"texas", NULL},
    {"theses", "thesis"},
    {"this", NULL},
    {"thus", NULL},
    {"towards", NULL},
    {"tsunamis", "tsunami"},
    {"vertices", "vertex"},
    {"viruses", "virus"},
    {"vortices", "vortex"},
    {"whereas", NULL},
    {"wikis", "wiki"},
    {"zombies", "zombie"},
};

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

static int
compare_exception(const void *key, const void *row)
{
	return strcmp(key, ((const struct exception *)row)->word);
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
	/* queries, but ties and dies. */
	if (chars > SHORTEST_PLURAL && ends_in(word, len, "ies")) {
		*wants_y = true;
		return len - 3;
	}
	/* heroes, but shoes. */
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
	const struct exception *row;
	size_t chars, stem_len;
	bool wants_y;

	if (len < SHORTEST_PLURAL || word[len - 1] != 's' ||
	    g_ascii_isdigit(word[len - 2]) || is_milliseconds(word, len))
		return g_steal_pointer(&whole);
	chars = g_utf8_strlen(whole, -1);
	if (chars < SHORTEST_PLURAL)
		return g_steal_pointer(&whole);
	row = bsearch(whole, exceptions, G_N_ELEMENTS(exceptions), sizeof(*exceptions),
	    compare_exception);
	if (row)
		return row->singular ? g_strdup(row->singular)
		                     : g_steal_pointer(&whole);
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

	g_ptr_array_add(spellings, g_strdup(folded));
	add_spelling(spellings, folded, g_strconcat(folded, "s", NULL));
	add_spelling(spellings, folded, g_strconcat(folded, "es", NULL));
	if (len && folded[len - 1] == 'y')
		add_spelling(spellings, folded,
		    g_strdup_printf("%.*sies", (int)len - 1, folded));
	for (size_t i = 0; i < G_N_ELEMENTS(exceptions); i++)
		if (exceptions[i].singular &&
		    strcmp(exceptions[i].singular, folded) == 0 &&
		    !g_ptr_array_find_with_equal_func(
		        spellings, exceptions[i].word, g_str_equal, NULL))
			g_ptr_array_add(spellings, g_strdup(exceptions[i].word));
	return spellings;
}
