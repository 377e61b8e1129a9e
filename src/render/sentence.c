/*
 * sentence.c - the sentences of an abstract, and the most informative one.
 */
#include "render/sentence.h"

#include <stdbool.h>
#include <string.h>

#include "message/sanitize.h"

/* Chinese and Japanese full stops need no blank after them. */
static const char *const wide_stops[] = {"\u3002", "\uff01", "\uff1f"};

static const char *const abbreviations[] = {"al", "approx", "cf", "dr", "e.g", "eq",
    "eqs", "etc", "fig", "figs", "i.e", "no", "prof", "resp", "sec", "st", "vs",
    "w.r.t"};

/* @param stop  the full stop after the word */
static bool
is_short_form(const char *text, const char *stop)
{
	const char *begin = stop;
	size_t size;

	while (begin > text && !strchr(" (", begin[-1]))
		begin--;
	size = (size_t)(stop - begin);
	if (size == 1 && g_ascii_isalpha(*begin))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(abbreviations); i++)
		if (size == strlen(abbreviations[i]) &&
		    g_ascii_strncasecmp(begin, abbreviations[i], size) == 0)
			return true;
	return false;
}

const char *
sentence_find_end(const char *text, const char *at)
{
	for (size_t i = 0; i < G_N_ELEMENTS(wide_stops); i++)
		if (g_str_has_prefix(at, wide_stops[i]))
			return at + strlen(wide_stops[i]);
	if (!strchr(".!?", *at) || at[1] != ' ' ||
	    g_unichar_islower(g_utf8_get_char(at + 2)) ||
	    (*at == '.' && is_short_form(text, at)))
		return NULL;
	return at + 1;
}

/* ---- the key sentence ---- */

/* Weights of the parts of a score: the sum of a sentence's features. */
struct cue {
	const char *pattern;
	int weight;
};

/* clang-format off */
static const struct cue cues[] = {
    /* the authors' own work */
    {"\\b(?:we|our|this (?:paper|work|article))\\b", 6},
    {"\\b(?:this|the) (?:paper|work|article|study)\\b|^here\\b", 8},
    {"\\b(?:propos\\w+|present(?:s|ed)?|introduc\\w+|develop(?:s|ed)?|devise\\w*"
        "|design(?:s|ed)?|formulat\\w+|describe[sd]?)\\b", 3},
    {"\\b(?:we|our|this (?:paper|work|article))\\b.*\\b(?:propos\\w+|presents?"
        "|introduc\\w+|develop|devise|design|formulate|describe)\\b", 7},
    {"\\b(?:key (?:idea|insight)|main (?:idea|contribution)|core idea|insight)\\b", 16},
    {"\\b(?:called|named|dubbed|termed|coined)\\b", 1},
    {"\\b(?:new|novel|first)\\b", 2},
    {"\\b(?:method|approach|framework|model|algorithm|architecture|system|pipeline"
        "|technique|strategy)\\b", 1},
    {"\\bby \\w+ing\\b", 5},
    {"\\b(?:leverag\\w+|exploit\\w*|utili[sz]\\w+|based on|using|via|through)\\b", 2},
    /* results */
    {"\\b(?:results?|experiments?|evaluations?|findings)\\b", 7},
    {"\\b(?:shows?|demonstrat\\w+|find|reveal\\w*|observe|prove|indicat\\w+|confirm\\w*"
        "|suggest\\w*)\\b", 2},
    {"\\b(?:outperform\\w*|surpass\\w*|exceed\\w*|improv\\w+|superior|better|best"
        "|competitive|state[- ]of[- ]the[- ]art|sota|significant\\w*|effective\\w*"
        "|efficien\\w+)\\b", 2},
    {"\\b(?:achiev\\w+|attain\\w*|yield\\w*|obtain\\w*|enabl\\w+|allow\\w*)\\b", 1},
    {"\\bthan\\b|\\bcompared (?:to|with)\\b", 5},
    {"\\d\\s*\\\\?%|\\b\\d+(?:\\.\\d+)?\\s?(?:x|times|points?)\\b", 6},
    /* how, and what is known */
    {"\\b(?:evaluat\\w+|conduct\\w*|performed|validat\\w+)\\b", -3},
    {"\\b(?:extensive|comprehensive|empirical\\w*|experimental\\w*)\\b", -1},
    {"\\b(?:however|but|yet|although|while|despite|nevertheless|unfortunately"
        "|whereas)\\b", -1},
    {"\\b(?:recent\\w*|current(?:ly)?|existing|prior|previous|traditional\\w*"
        "|conventional|typically|usually|often|commonly|most|many|widely|increasing\\w*"
        "|becom(?:e|ing)|ha(?:s|ve) been)\\b", -3},
    {"\\b(?:lack\\w*|suffer\\w*|fail\\w*|limit\\w+|difficult\\w*|challeng\\w+|problem\\w*"
        "|hard|expensive|costly|drawback\\w*|remain\\w*|requir\\w+|need\\w*|unclear"
        "|struggl\\w+|bottleneck)\\b", -3},
    {"\\b(?:not|cannot|without|only|no)\\b", -3},
    {"\\b(?:since|because|due to|as a result)\\b", -9},
    {"\\b(?:also|further\\w*|additional\\w*|moreover|addition)\\b", -5},
    {"\\b(?:applications?|applicable|applied|future work|potential|downstream)\\b", -1},
    {"\\b(?:e\\.g|i\\.e|for example|for instance|such as)\\b", -4},
    {"^\\S+(?: \\S+){0,4} (?:is|are) (?:a|an|the|one)\\b", 2},
    {"\\?$", -2},
    {"https?:|github|\\b(?:code|data|dataset|models?|demo|website|page)\\b[^.]*"
        "\\bavailable\\b|\\bavailable at\\b|\\bopen[- ]?sourced?\\b|\\breleased?\\b"
        "|\\bwill be made\\b", -11},
};
/* clang-format on */

/* By fifths of the abstract, and by length in units of 70 characters. */
static const int position_weights[] = {-13, -4, -1, -1, 1};
static const int length_weights[] = {-13, -7, -3, 1, 2};
#define FIRST_WEIGHT -15
#define LAST_WEIGHT  3
#define LENGTH_UNIT  70

struct sentence_scorer {
	GRegex *cues[G_N_ELEMENTS(cues)];
};

struct sentence_scorer *
sentence_scorer_new(void)
{
	struct sentence_scorer *scorer = g_new0(struct sentence_scorer, 1);

	for (size_t i = 0; i < G_N_ELEMENTS(cues); i++) {
		scorer->cues[i] =
		    g_regex_new(cues[i].pattern, G_REGEX_CASELESS, 0, NULL);
		g_assert(scorer->cues[i]);
	}
	return scorer;
}

void
sentence_scorer_free(struct sentence_scorer *scorer)
{
	if (!scorer)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(cues); i++)
		g_regex_unref(scorer->cues[i]);
	g_free(scorer);
}

static int
score(const struct sentence_scorer *scorer, const char *sentence, size_t number,
    size_t count)
{
	const size_t last = G_N_ELEMENTS(length_weights) - 1;
	const size_t units = (size_t)g_utf8_strlen(sentence, -1) / LENGTH_UNIT;
	const size_t fifth = count > 1 ? number * 5 / (count - 1) : 4;
	int sum = length_weights[MIN(units, last)] + position_weights[MIN(fifth, last)];

	sum += number == 0 ? FIRST_WEIGHT : 0;
	sum += number + 1 == count ? LAST_WEIGHT : 0;
	for (size_t i = 0; i < G_N_ELEMENTS(cues); i++)
		if (g_regex_match(scorer->cues[i], sentence, 0, NULL))
			sum += cues[i].weight;
	return sum;
}

static GPtrArray *
split(const char *line)
{
	GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
	const char *begin = line;

	for (const char *at = line; *at;) {
		const char *end = sentence_find_end(line, at);

		at = end ? end : g_utf8_next_char(at);
		if (!end && *at)
			continue;
		g_ptr_array_add(sentences, g_strndup(begin, (size_t)(at - begin)));
		at += *at == ' ';
		begin = at;
	}
	return sentences;
}

char *
sentence_find_key(const struct sentence_scorer *scorer, const char *abstract)
{
	g_autofree char *line = sanitize_paper_text(abstract, 0);
	g_autoptr(GPtrArray) sentences = split(line);
	const char *best = "";
	int best_score = G_MININT;

	for (unsigned i = 0; i < sentences->len; i++) {
		int sum = score(scorer, sentences->pdata[i], i, sentences->len);

		if (sum < best_score)
			continue;
		best_score = sum;
		best = sentences->pdata[i];
	}
	return sanitize_line(best, SENTENCE_CHARS);
}
