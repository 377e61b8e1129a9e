/*
 * matrix.c - document-term matrix: words of papers and pairs of them, with counts.
 */
#include "query/text/matrix.h"

#include <string.h>

#include "base/bigram.h"
#include "base/bounds.h"
#include "base/error.h"
#include "query/text/stem.h"

/* Words that say nothing about a subject. */
static const char *const function_words[] = {"a", "about", "above", "after", "again",
    "against", "al", "all", "also", "although", "am", "among", "an", "and", "any",
    "are", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "down",
    "during", "each", "either", "et", "few", "for", "from", "further", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "however", "i",
    "if", "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might",
    "more", "moreover", "most", "much", "must", "my", "no", "nor", "not", "of", "off",
    "on", "once", "one", "only", "or", "other", "our", "ours", "out", "over", "own",
    "per", "same", "she", "should", "since", "so", "some", "such", "than", "that",
    "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "through", "thus", "to", "too", "toward", "towards", "two", "under", "until", "up",
    "upon", "us", "use", "used", "uses", "using", "via", "was", "we", "were", "what",
    "when", "where", "whether", "which", "while", "who", "whom", "why", "will", "with",
    "within", "without", "would", "yet", "you", "your"};

/* Value of a function word in matrix.numbers: it is not a term. */
#define FUNCTION_WORD GUINT_TO_POINTER(G_MAXUINT)

/* Maximum size of a word, bytes; longer ones are cut. */
#define WORD_BYTES 64

struct matrix {
	const struct tokenizer *tokenizer;
	bool folds_plurals;
	GStringChunk *strings;
	GHashTable *numbers; /* const char * -> number of the term + 1, FUNCTION_WORD */
	GArray *terms;       /* of struct matrix_term */
	GArray *last;        /* of uint32_t: the last paper with the term, from 1 */
	/* Of uint32_t: index in counts of the term's count in that paper. */
	GArray *places;
	GArray *counts; /* of struct matrix_count */
	GArray *papers; /* of size_t: index of the first of its counts */
};

/* A text that is being read. */
struct reading {
	struct matrix *matrix;
	const char *text;
	unsigned field;            /* 0: title, 1: abstract */
	char previous[WORD_BYTES]; /* the word before, */
	size_t previous_len;       /* 0 if a pair cannot begin there */
	size_t previous_end;
};

struct matrix *
matrix_new(const struct tokenizer *tokenizer, bool folds_plurals)
{
	struct matrix *matrix = g_new0(struct matrix, 1);

	matrix->tokenizer = tokenizer;
	matrix->folds_plurals = folds_plurals;
	matrix->strings = g_string_chunk_new(64 * 1024);
	matrix->numbers = g_hash_table_new(g_str_hash, g_str_equal);
	for (unsigned i = 0; i < G_N_ELEMENTS(function_words); i++)
		g_hash_table_insert(
		    matrix->numbers, (void *)function_words[i], FUNCTION_WORD);
	matrix->terms = g_array_new(FALSE, FALSE, sizeof(struct matrix_term));
	matrix->last = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	matrix->places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	matrix->counts = g_array_new(FALSE, FALSE, sizeof(struct matrix_count));
	matrix->papers = g_array_new(FALSE, FALSE, sizeof(size_t));
	return matrix;
}

void
matrix_free(struct matrix *matrix)
{
	if (!matrix)
		return;
	g_array_unref(matrix->papers);
	g_array_unref(matrix->counts);
	g_array_unref(matrix->places);
	g_array_unref(matrix->last);
	g_array_unref(matrix->terms);
	g_hash_table_unref(matrix->numbers);
	g_string_chunk_free(matrix->strings);
	g_free(matrix);
}

/* @param number  the text's value in matrix->numbers; NULL: add a new term */
static uint32_t
intern(struct matrix *matrix, const char *text, void *number, bool is_pair)
{
	static const uint32_t none = 0;
	struct matrix_term term = {.is_pair = is_pair};

	if (number)
		return GPOINTER_TO_UINT(number) - 1;
	term.text = g_string_chunk_insert(matrix->strings, text);
	g_array_append_val(matrix->terms, term);
	g_array_append_val(matrix->last, none);
	g_array_append_val(matrix->places, none);
	g_hash_table_insert(
	    matrix->numbers, (void *)term.text, GUINT_TO_POINTER(matrix->terms->len));
	return matrix->terms->len - 1;
}

static void
count_term(struct matrix *matrix, const char *text, void *interned, bool is_pair,
    unsigned field)
{
	uint32_t number = intern(matrix, text, interned, is_pair);
	uint32_t *last = &g_array_index(matrix->last, uint32_t, number);
	uint32_t *place = &g_array_index(matrix->places, uint32_t, number);
	struct matrix_term *term =
	    &g_array_index(matrix->terms, struct matrix_term, number);
	struct matrix_count *count;
	uint16_t *occurrences;

	if (*last != matrix->papers->len) {
		struct matrix_count fresh = {.term = number};

		*last = matrix->papers->len;
		*place = matrix->counts->len;
		g_array_append_val(matrix->counts, fresh);
		term->papers++;
	}
	count = &g_array_index(matrix->counts, struct matrix_count, *place);
	if (field == 0 && !count->title)
		term->titles++;
	occurrences = field == 0 ? &count->title : &count->abstract;
	if (*occurrences < UINT16_MAX)
		++*occurrences;
}

/* Whether words are adjacent, with nothing but spaces, hyphens and signs between. */
static bool
is_adjacent(const char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (strchr(".,;:!?()", text[i]))
			return false;
	return true;
}

/* @param word  the word after the previous one */
static void
count_pair(const struct reading *reading, const char *word, size_t len)
{
	struct matrix *matrix = reading->matrix;
	char pair[2 * WORD_BYTES];

	memcpy(pair, reading->previous, reading->previous_len);
	pair[reading->previous_len] = ' ';
	memcpy(pair + reading->previous_len + 1, word, len + 1);
	count_term(matrix, pair, g_hash_table_lookup(matrix->numbers, pair), true,
	    reading->field);
}

static void
read_word(void *data, const char *token, size_t token_len, size_t start, size_t end)
{
	struct reading *reading = data;
	struct matrix *matrix = reading->matrix;
	size_t len = MIN(token_len, WORD_BYTES - 1);
	char word[WORD_BYTES];
	void *number;

	while (len < token_len && len > 0 && ((unsigned char)token[len] & 0xc0) == 0x80)
		len--; /* not inside a character */
	memcpy(word, token, len);
	word[len] = '\0';
	if (matrix->folds_plurals && stem_may_be_plural(word, len)) {
		g_autofree char *folded = stem_plural(word, len);

		len = g_strlcpy(word, folded, sizeof(word));
	}
	number = g_hash_table_lookup(matrix->numbers, word);
	if (number == FUNCTION_WORD) {
		reading->previous_len = 0;
		return;
	}
	count_term(matrix, word, number, false, reading->field);
	if (bigram_is_at(word, -1)) {
		reading->previous_len = 0;
		return;
	}
	if (reading->previous_len &&
	    is_adjacent(reading->text, reading->previous_end, start))
		count_pair(reading, word, len);
	memcpy(reading->previous, word, len);
	reading->previous_len = len;
	reading->previous_end = end;
}

bool
matrix_add(
    struct matrix *matrix, const char *title, const char *abstract, GError **error)
{
	const char *texts[] = {title, abstract};
	size_t first = matrix->counts->len;

	if (matrix->papers->len >= BOUNDS_MATRIX_PAPERS)
		return pb_fail(error, PB_ERROR_LIMIT, "a matrix has at most %d papers",
		    BOUNDS_MATRIX_PAPERS);
	if (strlen(title) > BOUNDS_PAPER_TITLE_BYTES ||
	    strlen(abstract) > BOUNDS_PAPER_ABSTRACT_BYTES)
		return pb_fail(error, PB_ERROR_LIMIT, "a text is too long");
	g_array_append_val(matrix->papers, first);
	for (unsigned field = 0; field < G_N_ELEMENTS(texts); field++) {
		struct reading reading = {
		    .matrix = matrix, .text = texts[field], .field = field};

		if (!matrix->tokenizer->split(matrix->tokenizer->self, texts[field],
		        strlen(texts[field]), read_word, &reading))
			return pb_fail(
			    error, PB_ERROR_TEMPORARY, "cannot tokenize a paper");
	}
	return true;
}

unsigned
matrix_count_papers(const struct matrix *matrix)
{
	return matrix->papers->len;
}

unsigned
matrix_count_terms(const struct matrix *matrix)
{
	return matrix->terms->len;
}

const struct matrix_term *
matrix_get_term(const struct matrix *matrix, uint32_t term)
{
	return &g_array_index(matrix->terms, struct matrix_term, term);
}

bool
matrix_find_term(const struct matrix *matrix, const char *text, uint32_t *term)
{
	void *number = g_hash_table_lookup(matrix->numbers, text);

	if (!number || number == FUNCTION_WORD)
		return false;
	*term = GPOINTER_TO_UINT(number) - 1;
	return true;
}

/* @return the index of a paper's first count */
static size_t
get_first(const struct matrix *matrix, unsigned paper)
{
	return paper < matrix->papers->len
	           ? g_array_index(matrix->papers, size_t, paper)
	           : matrix->counts->len;
}

const struct matrix_count *
matrix_get_counts(const struct matrix *matrix, unsigned paper, size_t *count)
{
	size_t first = get_first(matrix, paper);

	*count = get_first(matrix, paper + 1) - first;
	return (const struct matrix_count *)matrix->counts->data + first;
}
