/*
 * number.c - what is wanted of a number: a comparison, a range, a number.
 */
#include "query/parse/number.h"

#include <string.h>

#include "base/bounds.h"

/* The longer ones first. */
static const char *const comparisons[] = {">=", "<=", ">", "<", "="};

/* A number within a clause. */
struct digits {
	const char *text;
	size_t len;
	unsigned column;
	const char *after; /* what it stands behind */
};

static size_t
measure_comparison(const char *text, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(comparisons); i++) {
		size_t n = strlen(comparisons[i]);

		if (len >= n && memcmp(text, comparisons[i], n) == 0)
			return n;
	}
	return 0;
}

static bool
read_digits(const struct digits *digits, const struct field *field, int64_t *number,
    struct query_error *problem)
{
	int64_t value = 0;
	size_t n = 0;

	while (n < digits->len && g_ascii_isdigit(digits->text[n]))
		n++;
	if (n == 0 || n < digits->len) {
		query_error_set(problem, PB_ERROR_INPUT, digits->column, field->example,
		    MSG_QUERY_NUMBER_AFTER, "after", digits->after, NULL);
		return false;
	}
	if (n > BOUNDS_NUMBER_DIGITS) {
		query_error_set(problem, PB_ERROR_LIMIT, digits->column, field->example,
		    MSG_QUERY_DIGITS, "most", MSG_INT(BOUNDS_NUMBER_DIGITS), NULL);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		value = value * 10 + (digits->text[i] - '0');
	*number = value;
	return true;
}

static bool
read_comparison(const struct lexeme *lexeme, size_t sign_len, struct node *node,
    struct query_error *problem)
{
	g_autofree char *sign = g_strndup(lexeme->text, sign_len);
	const struct digits digits = {
	    .text = lexeme->text + sign_len,
	    .len = lexeme->len - sign_len,
	    .column = lexeme->column + (unsigned)sign_len,
	    .after = sign,
	};
	int64_t number;

	if (!read_digits(&digits, node->field, &number, problem))
		return false;
	node->min = 0;
	node->max = INT64_MAX;
	if (sign[0] == '>' || sign[0] == '=')
		node->min = number + (strcmp(sign, ">") == 0);
	if (sign[0] == '<' || sign[0] == '=')
		node->max = number - (strcmp(sign, "<") == 0);
	if (node->max < 0) {
		query_error_set(problem, PB_ERROR_INPUT, digits.column,
		    node->field->example, MSG_QUERY_BELOW_ZERO, NULL);
		return false;
	}
	return true;
}

static bool
read_range(const struct lexeme *lexeme, const char *dots, struct node *node,
    struct query_error *problem)
{
	size_t left_len = dots - lexeme->text;
	const struct digits left = {
	    .text = lexeme->text,
	    .len = left_len,
	    .column = lexeme->column,
	    .after = node->field->name,
	};
	const struct digits right = {
	    .text = dots + 2,
	    .len = lexeme->len - left_len - 2,
	    .column = lexeme->column +
	              (unsigned)g_utf8_strlen(lexeme->text, (gssize)left_len) + 2,
	    .after = "..",
	};

	node->min = 0;
	node->max = INT64_MAX;
	if (left.len > 0 && !read_digits(&left, node->field, &node->min, problem))
		return false;
	if ((right.len > 0 || left.len == 0) &&
	    !read_digits(&right, node->field, &node->max, problem))
		return false;
	if (node->min > node->max) {
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example, MSG_QUERY_RANGE, NULL);
		return false;
	}
	return true;
}

bool
number_read(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	size_t sign_len = measure_comparison(lexeme->text, lexeme->len);
	const char *dots = g_strstr_len(lexeme->text, (gssize)lexeme->len, "..");
	const struct digits alone = {
	    .text = lexeme->text,
	    .len = lexeme->len,
	    .column = lexeme->column,
	    .after = node->field->name,
	};

	if (lexeme->kind == LEXEME_WORD && sign_len > 0)
		return read_comparison(lexeme, sign_len, node, problem);
	if (lexeme->kind == LEXEME_WORD && dots)
		return read_range(lexeme, dots, node, problem);
	if (lexeme->kind == LEXEME_WORD && g_ascii_isdigit(*lexeme->text)) {
		if (!read_digits(&alone, node->field, &node->min, problem))
			return false;
		node->max = node->min;
		return true;
	}
	query_error_set(problem, PB_ERROR_INPUT, lexeme->column, node->field->example,
	    MSG_QUERY_COMPARISON, "field", node->field->name, NULL);
	return false;
}
