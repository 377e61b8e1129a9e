/*
 * sentence.c - the sentences of an abstract, and the most informative one.
 */
#include "render/sentence.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "message/sanitize.h"

/* Chinese and Japanese full stops need no blank after them. */
static const char *const wide_stops[] = {"\u3002", "\uff01", "\uff1f"};

/* Whether a character may end a sentence; most do not. */
static bool
is_stop_byte(char c)
{
	return c == '.' || c == '!' || c == '?' || c == '\xe3' || c == '\xef';
}

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
	if (!is_stop_byte(*at))
		return NULL;
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

/* Effects of a word besides adding the weight of its row. */
enum rule {
	RULE_ADD,
	RULE_OWN,        /* says that a verb is about the authors' own work */
	RULE_OWN_VERB,   /* adds only after RULE_OWN */
	RULE_DEFINITION, /* adds only after one to five words */
	RULE_ARTEFACT,   /* says what is available */
	RULE_AVAILABLE,  /* as RULE_RELEASE after RULE_ARTEFACT in the same clause */
	RULE_RELEASE,    /* adds RELEASE_WEIGHT */
};

/*
 * Weights of the parts of a score: the sum of a sentence's features.  Words are
 * separated by "|"; `*` stands for the rest of a word, `+` for at least one letter of
 * it, `~` for a blank or hyphen, `^` for the start of the sentence.
 */
static const struct {
	const char *words;
	int weight;
	enum rule rule;
} cues[] = {
    /* the authors' own work */
    {"we|our|this paper|this work|this article", 6, RULE_OWN},
    {"this paper|this work|this article|this study|the paper|the work|the article"
     "|the study|^here",
        8, RULE_ADD},
    {"propos+|present|presents|presented|introduc+|develop|develops|developed|devise*"
     "|design|designs|designed|formulat+|describe|describes|described",
        3, RULE_ADD},
    {"propos+|present|presents|introduc+|develop|devise|design|formulate|describe", 7,
        RULE_OWN_VERB},
    {"key idea|key insight|main idea|main contribution|core idea|insight", 16,
        RULE_ADD},
    {"called|named|dubbed|termed|coined", 1, RULE_ADD},
    {"new|novel|first", 2, RULE_ADD},
    {"method|approach|framework|model|algorithm|architecture|system|pipeline|technique"
     "|strategy",
        1, RULE_ADD},
    {"by +ing", 5, RULE_ADD},
    {"leverag+|exploit*|utilis+|utiliz+|based on|using|via|through", 2, RULE_ADD},
    /* results */
    {"result|results|experiment|experiments|evaluation|evaluations|findings", 7,
        RULE_ADD},
    {"show|shows|demonstrat+|find|reveal*|observe|prove|indicat+|confirm*|suggest*", 2,
        RULE_ADD},
    {"outperform*|surpass*|exceed*|improv+|superior|better|best|competitive"
     "|state~of~the~art|sota|significant*|effective*|efficien+",
        2, RULE_ADD},
    {"achiev+|attain*|yield*|obtain*|enabl+|allow*", 1, RULE_ADD},
    {"than|compared to|compared with", 5, RULE_ADD},
    /* how, and what is known */
    {"evaluat+|conduct*|performed|validat+", -3, RULE_ADD},
    {"extensive|comprehensive|empirical*|experimental*", -1, RULE_ADD},
    {"however|but|yet|although|while|despite|nevertheless|unfortunately|whereas", -1,
        RULE_ADD},
    {"recent*|current|currently|existing|prior|previous|traditional*|conventional"
     "|typically|usually|often|commonly|most|many|widely|increasing*|become|becoming"
     "|has been|have been",
        -3, RULE_ADD},
    {"lack*|suffer*|fail*|limit+|difficult*|challeng+|problem*|hard|expensive|costly"
     "|drawback*|remain*|requir+|need*|unclear|struggl+|bottleneck",
        -3, RULE_ADD},
    {"not|cannot|without|only|no", -3, RULE_ADD},
    {"since|because|due to|as a result", -9, RULE_ADD},
    {"also|further*|additional*|moreover|addition", -5, RULE_ADD},
    {"application|applications|applicable|applied|future work|potential|downstream", -1,
        RULE_ADD},
    {"e.g|i.e|for example|for instance|such as", -4, RULE_ADD},
    {"is a|is an|is the|is one|are a|are an|are the|are one", 2, RULE_DEFINITION},
    {"code|data|dataset|model|models|demo|website|page", 0, RULE_ARTEFACT},
    {"available", 0, RULE_AVAILABLE},
    {"available at|opensource|opensourced|open~source|open~sourced|release|released"
     "|will be made",
        0, RULE_RELEASE},
};

#define RELEASE_WEIGHT  -11 /* also of links */
#define NUMBER_WEIGHT   6   /* "5 %", "3x" */
#define QUESTION_WEIGHT -2

/* By fifths of the abstract, and by length in units of 70 characters. */
static const int position_weights[] = {-13, -4, -1, -1, 1};
static const int length_weights[] = {-13, -7, -3, 1, 2};
#define FIRST_WEIGHT -15
#define LAST_WEIGHT  3
#define LENGTH_UNIT  70

G_STATIC_ASSERT(G_N_ELEMENTS(cues) <= 32);

/* Words of the cues by their first two letters. */
#define BUCKETS (32 * 32)

struct cue_word {
	const char *text; /* up to "|" */
	unsigned row;     /* in cues */
	unsigned bucket;
};

struct sentence_scorer {
	GArray *words; /* of struct cue_word, by bucket */
	uint16_t starts[BUCKETS + 1];
};

/* State of the scorer within a sentence. */
struct reading {
	const char *begin;
	uint32_t rows; /* bits: of cues whose weight is in the sum */
	unsigned blanks;
	bool is_after_blank; /* the word that is read */
	bool has_own, has_artefact, has_number, is_release;
	int sum;
};

static unsigned
get_bucket(const char *text)
{
	text += *text == '^';
	return ((unsigned)text[0] & 31) << 5 | ((unsigned)text[1] & 31);
}

static int
compare_words(const void *a, const void *b)
{
	const struct cue_word *left = a, *right = b;

	return left->bucket != right->bucket ? (int)left->bucket - (int)right->bucket
	                                     : (int)left->row - (int)right->row;
}

struct sentence_scorer *
sentence_scorer_new(void)
{
	struct sentence_scorer *scorer = g_new0(struct sentence_scorer, 1);

	scorer->words = g_array_new(FALSE, FALSE, sizeof(struct cue_word));
	for (unsigned row = 0; row < G_N_ELEMENTS(cues); row++)
		for (const char *text = cues[row].words; text;) {
			const struct cue_word word = {text, row, get_bucket(text)};

			g_array_append_val(scorer->words, word);
			text = strchr(text, '|');
			text = text ? text + 1 : NULL;
		}
	g_array_sort(scorer->words, compare_words);
	for (unsigned i = 0; i < scorer->words->len; i++)
		scorer->starts[g_array_index(scorer->words, struct cue_word, i).bucket +
		               1]++;
	for (unsigned i = 0; i < BUCKETS; i++)
		scorer->starts[i + 1] += scorer->starts[i];
	return scorer;
}

void
sentence_scorer_free(struct sentence_scorer *scorer)
{
	if (!scorer)
		return;
	g_array_unref(scorer->words);
	g_free(scorer);
}

/* @return the end of the word at `at`, or `at` */
static const char *
skip_word(const char *at)
{
	while (g_ascii_isalnum(*at) || *at == '_' ||
	       (*at & 0x80 && g_unichar_isalnum(g_utf8_get_char(at))))
		at = g_utf8_next_char(at);
	return at;
}

/* Whether the words of a cue are at the start of a word. */
static bool
has_words_at(const char *words, const char *at)
{
	for (; *words && *words != '|'; words++) {
		const char *end;
		size_t rest;

		if (*words != '*' && *words != '+') {
			if (*words != g_ascii_tolower(*at) &&
			    (*words != '~' || !*at || !strchr(" -", *at)))
				return false;
			at++;
			continue;
		}
		end = skip_word(at);
		rest = strcspn(words + 1, "|");
		if ((size_t)(end - at) < rest + (*words == '+') ||
		    g_ascii_strncasecmp(end - rest, words + 1, rest) != 0)
			return false;
		return true;
	}
	return skip_word(at) == at;
}

static void
add_row(struct reading *reading, unsigned row)
{
	bool is_new = !(reading->rows & 1U << row);

	switch (cues[row].rule) {
	case RULE_ADD:
		break;
	case RULE_OWN:
		reading->has_own = true;
		break;
	case RULE_OWN_VERB:
		is_new &= reading->has_own;
		break;
	case RULE_DEFINITION:
		is_new &= reading->is_after_blank && reading->blanks <= 5;
		break;
	case RULE_ARTEFACT:
		reading->has_artefact = true;
		break;
	case RULE_AVAILABLE:
		reading->is_release |= reading->has_artefact;
		break;
	case RULE_RELEASE:
		reading->is_release = true;
		break;
	}
	if (!is_new)
		return;
	reading->rows |= 1U << row;
	reading->sum += cues[row].weight;
}

/* "3x", "10 points" */
static bool
has_factor_at(const char *at)
{
	static const char *const units[] = {"x", "times", "point", "points"};

	while (g_unichar_isdigit(g_utf8_get_char(at)))
		at = g_utf8_next_char(at);
	at += *at == ' ';
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (has_words_at(units[i], at))
			return true;
	return false;
}

static void
read_word(struct reading *reading, const struct sentence_scorer *scorer, const char *at,
    const char *end)
{
	const unsigned bucket = get_bucket(at);

	if (!g_ascii_isalpha(*at)) {
		reading->has_number |=
		    g_unichar_isdigit(g_utf8_get_char(at)) && has_factor_at(at);
	} else {
		for (unsigned i = scorer->starts[bucket];
		     i < scorer->starts[bucket + 1]; i++) {
			const struct cue_word *word =
			    &g_array_index(scorer->words, struct cue_word, i);

			if (*word->text == '^' && at > reading->begin)
				continue;
			if (has_words_at(word->text + (*word->text == '^'), at))
				add_row(reading, word->row);
		}
	}
	for (; end - at >= 6; at++)
		reading->is_release |=
		    (*at | 32) == 'g' && g_ascii_strncasecmp(at, "github", 6) == 0;
}

/* "5%", "5 %" or "5 \%" @param at  the sign */
static bool
is_percentage(const char *begin, const char *at)
{
	if (at > begin && at[-1] == '\\')
		at--;
	while (at > begin && at[-1] == ' ')
		at--;
	return at > begin && g_unichar_isdigit(g_utf8_get_char(g_utf8_prev_char(at)));
}

static bool
is_scheme(const char *begin, const char *colon)
{
	size_t size = (size_t)(colon - begin);

	return (size >= 4 && g_ascii_strncasecmp(colon - 4, "http", 4) == 0) ||
	       (size >= 5 && g_ascii_strncasecmp(colon - 5, "https", 5) == 0);
}

static void
read_sign(struct reading *reading, const char *at)
{
	reading->is_after_blank = *at == ' ';
	switch (*at) {
	case ' ':
		reading->blanks++;
		break;
	case '.':
		reading->has_artefact = false;
		break;
	case '%':
		reading->has_number |= is_percentage(reading->begin, at);
		break;
	case ':':
		reading->is_release |= is_scheme(reading->begin, at);
		break;
	}
}

struct sentence {
	const char *begin, *end;
};

static int
score(const struct sentence_scorer *scorer, const struct sentence *sentence,
    size_t number, size_t count)
{
	const size_t last = G_N_ELEMENTS(length_weights) - 1;
	const size_t units =
	    (size_t)g_utf8_strlen(sentence->begin, sentence->end - sentence->begin) /
	    LENGTH_UNIT;
	const size_t fifth = count > 1 ? number * 5 / (count - 1) : 4;
	struct reading reading = {.begin = sentence->begin};

	for (const char *at = sentence->begin; at < sentence->end;) {
		const char *end = skip_word(at);

		if (end > at) {
			read_word(&reading, scorer, at, end);
			at = end;
		} else {
			read_sign(&reading, at);
			at = g_utf8_next_char(at);
		}
	}
	reading.sum += length_weights[MIN(units, last)];
	reading.sum += position_weights[MIN(fifth, last)];
	reading.sum += number == 0 ? FIRST_WEIGHT : 0;
	reading.sum += number + 1 == count ? LAST_WEIGHT : 0;
	reading.sum += reading.has_number ? NUMBER_WEIGHT : 0;
	reading.sum += reading.is_release ? RELEASE_WEIGHT : 0;
	reading.sum += sentence->end[-1] == '?' ? QUESTION_WEIGHT : 0;
	return reading.sum;
}

/* @return of struct sentence, in the line */
static GArray *
split(const char *line)
{
	GArray *sentences = g_array_new(FALSE, FALSE, sizeof(struct sentence));
	const char *begin = line;

	for (const char *at = line; *at;) {
		const char *end = sentence_find_end(line, at);
		struct sentence sentence;

		at = end ? end : g_utf8_next_char(at);
		if (!end && *at)
			continue;
		sentence = (struct sentence){begin, at};
		g_array_append_val(sentences, sentence);
		at += *at == ' ';
		begin = at;
	}
	return sentences;
}

char *
sentence_find_key(const struct sentence_scorer *scorer, const char *abstract)
{
	g_autofree char *line = sanitize_paper_text(abstract, 0);
	g_autoptr(GArray) sentences = split(line);
	g_autofree char *best = NULL;
	struct sentence chosen = {line, line};
	int best_score = G_MININT;

	for (unsigned i = 0; i < sentences->len; i++) {
		const struct sentence *sentence =
		    &g_array_index(sentences, struct sentence, i);
		int sum = score(scorer, sentence, i, sentences->len);

		if (sum < best_score)
			continue;
		best_score = sum;
		chosen = *sentence;
	}
	best = g_strndup(chosen.begin, (size_t)(chosen.end - chosen.begin));
	return sanitize_line(best, SENTENCE_CHARS);
}
