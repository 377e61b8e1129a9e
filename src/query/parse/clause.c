/*
 * clause.c - parses one clause of a filter: the value of a field.
 */
#include "query/parse/clause.h"

#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "query/parse/category.h"

const struct field *
clause_find_field(const struct lexeme *name, struct query_error *problem)
{
	const struct field *field = field_find(name->text, name->len);
	const struct field *nearest;
	g_autofree char *text = NULL;

	if (field)
		return field;
	text = g_strndup(name->text, name->len);
	nearest = field_find_nearest(name->text, name->len);
	query_error_set(problem, PB_ERROR_INPUT, name->column, nearest->example,
	    N_("unknown field \"{text}\": did you mean \"{nearest}\"?"), "text", text,
	    "nearest", nearest->name, NULL);
	return NULL;
}

/* Error for a missing value, by kind of field. */
static const char *
choose_expected(enum field_kind kind)
{
	switch (kind) {
	case FIELD_WORDS:
	case FIELD_VALUE_WORDS:
	case FIELD_NAME:
		return N_(
		    "expected a word, a phrase or \"(\" directly after \"{field}:\"");
	case FIELD_CATEGORY:
		return N_("expected a category such as cs.CL or cs directly after "
		          "\"{field}:\"");
	case FIELD_KEYWORD:
	case FIELD_SOURCE:
	case FIELD_CHOICE:
		return N_("expected a value directly after \"{field}:\"");
	case FIELD_NUMBER:
		return N_("expected a number after \"{field}:\"");
	case FIELD_DATE:
		return N_("expected a day such as 2026-07-31 or a duration such as 7d "
		          "after \"{field}:\"");
	}
	return N_("expected a value directly after \"{field}:\"");
}

/* Set an error if a text follows authors: or comments:, which take a number: author: or
 * comment: was probably meant. @return whether it was set */
static bool
set_singular_error(const struct field *field, const struct lexeme *value,
    unsigned column, struct query_error *problem)
{
	const struct field *suggestion = NULL;
	size_t len = strlen(field->name);

	if (field->kind == FIELD_NUMBER && field->name[len - 1] == 's' &&
	    (value->kind == LEXEME_PHRASE ||
	        (value->kind == LEXEME_WORD &&
	            !strchr("<>=.0123456789", *value->text))))
		suggestion = field_find(field->name, len - 1);
	if (!suggestion || suggestion->kind == FIELD_NUMBER)
		return false;
	query_error_set(problem, PB_ERROR_INPUT, column, suggestion->example,
	    N_("\"{field}:\" wants a number: did you mean \"{nearest}:\"?"), "field",
	    field->name, "nearest", suggestion->name, NULL);
	return true;
}

void
clause_error_value(const struct lexeme *name, const struct lexeme *value,
    const struct field *field, struct query_error *problem)
{
	unsigned behind =
	    name->column + (unsigned)g_utf8_strlen(name->text, name->len) + 1;
	g_autofree char *text = g_strndup(value->text, value->len);

	if (value->kind == LEXEME_NOT && value->start == name->end && value->len == 1)
		query_error_set(problem, PB_ERROR_INPUT, value->column,
		    "agent -title:survey",
		    N_("\"{sign}\" must be before the field name: {sign}{field}:"),
		    "sign", text, "field", field->name, NULL);
	else if (value->kind == LEXEME_FIELD && value->start == name->end)
		query_error_set(problem, PB_ERROR_INPUT, behind, field->example,
		    N_("unexpected second \":\" after \"{field}:\": write one field "
		       "per word, and a value that contains \":\" in quotes"),
		    "field", field->name, NULL);
	else if (!set_singular_error(field, value, behind, problem))
		query_error_set(problem, PB_ERROR_INPUT, behind, field->example,
		    choose_expected(field->kind), "field", field->name, NULL);
}

/* Reject words that begin with "<", ">", or with "=" where it has no meaning. */
static bool
check_word(const struct clause_source *source, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const struct field *field = source->field;
	bool has_words = field->kind == FIELD_WORDS || field->kind == FIELD_VALUE_WORDS;

	if (lexeme->kind != LEXEME_WORD || !strchr("<>=", lexeme->text[0]))
		return true;
	if (lexeme->text[0] != '=')
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "diffusion upvotes:>=10",
		    N_("a comparison needs the name of a numeric field before it"),
		    NULL);
	else if (!has_words)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column, field->example,
		    N_("\"=\" (exact spelling) applies to words, not to \"{field}:\""),
		    "field", field->name, NULL);
	else
		return true;
	return false;
}

/* ", Yann" has no last name. */
static bool
begins_with_comma(const struct lexeme *lexeme)
{
	const char *comma = memchr(lexeme->text, ',', lexeme->len);

	for (const char *p = lexeme->text; comma && p < comma; p = g_utf8_next_char(p))
		if (g_unichar_isalnum(g_utf8_get_char(p)))
			return false;
	return comma != NULL;
}

static bool
read_name(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	const char *star = memchr(lexeme->text, '*', lexeme->len);
	g_autofree char *text = g_strndup(lexeme->text, lexeme->len);

	if (star) {
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"",
		    N_("names are matched as whole words, without \"*\""), NULL);
		return false;
	}
	if (!name_parse(lexeme->text, lexeme->len, source->tokenizer, &node->name)) {
		query_error_set(problem, PB_ERROR_TEMPORARY, lexeme->column, NULL,
		    N_("cannot tokenize the text"), NULL);
		return false;
	}
	if (node->name && !begins_with_comma(lexeme))
		return true;
	if (node->name)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"LeCun, Yann\"",
		    N_("expected a last name before the comma"), NULL);
	else
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "author:\"Yann LeCun\"", N_("no name in \"{text}\""), "text", text,
		    NULL);
	return false;
}

static bool
read_words(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	bool is_quoted = lexeme->kind == LEXEME_PHRASE;
	bool is_exact = !is_quoted && lexeme->text[0] == '=';
	const struct phrase_source phrase = {
	    .text = lexeme->text + is_exact,
	    .len = lexeme->len - is_exact,
	    .column = lexeme->column + is_quoted,
	    .is_quoted = is_quoted,
	    .is_exact = is_exact,
	};

	node->phrase = phrase_parse(&phrase, source->tokenizer, problem);
	return node->phrase != NULL;
}

static bool
read_dates(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	const struct lexeme *lexeme = source->lexeme;
	unsigned column = lexeme->column + (lexeme->kind == LEXEME_PHRASE);

	return date_parse(lexeme->text, lexeme->len, column, &node->dates, problem);
}

/* Longer operators first. */
static const char *const comparisons[] = {">=", "<=", ">", "<", "="};

/* A number within a clause, for messages. */
struct digits {
	const char *text;
	size_t len;
	unsigned column;
	const char *after; /* the sign or name before it */
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
		    N_("expected a number after \"{after}\""), "after", digits->after,
		    NULL);
		return false;
	}
	if (n > BOUNDS_NUMBER_DIGITS) {
		query_error_set(problem, PB_ERROR_LIMIT, digits->column, field->example,
		    N_("a number has at most {most} digits"), "most",
		    MSG_INT(BOUNDS_NUMBER_DIGITS), NULL);
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
		    node->field->example, N_("numbers cannot be negative"), NULL);
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
		    node->field->example,
		    N_("the end of the range is before its start"), NULL);
		return false;
	}
	return true;
}

static bool
read_number(
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
	if (!set_singular_error(node->field, lexeme, lexeme->column, problem))
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example,
		    N_("expected a comparison such as >=10 or a range such as 10..20 "
		       "after \"{field}:\""),
		    "field", node->field->name, NULL);
	return false;
}

static bool
read_category(
    const struct lexeme *lexeme, struct node *node, struct query_error *problem)
{
	size_t len = lexeme->len;
	const char *category = category_find(lexeme->text, len);
	g_autofree char *nearest = NULL, *text = NULL;

	if (!category)
		category = category_find_preprint(lexeme->text, len);
	if (category) {
		node->value = g_strdup(category);
		return true;
	}
	if (len > 2 && memcmp(lexeme->text + len - 2, ".*", 2) == 0)
		len -= 2;
	node->value = category_find_archive(lexeme->text, len);
	/* hep-th is both an archive and a category; prefer the category. */
	node->is_prefix =
	    node->value && !category_find(node->value, strlen(node->value));
	if (node->value)
		return true;
	nearest = category_find_nearest(lexeme->text, lexeme->len);
	text = g_strndup(lexeme->text, lexeme->len);
	query_error_set(problem, PB_ERROR_INPUT, lexeme->column, node->field->example,
	    N_("unknown category \"{text}\": did you mean \"{nearest}\"?"), "text",
	    text, "nearest", nearest, NULL);
	return false;
}

static bool
read_choice(const struct lexeme *lexeme, struct node *node, struct query_error *problem)
{
	const char *const *choices = node->field->choices;
	g_autofree char *typed = g_ascii_strdown(lexeme->text, (gssize)lexeme->len);
	g_autofree char *all = g_strjoinv(", ", (char **)choices);
	g_autofree char *text = g_strndup(lexeme->text, lexeme->len);
	const char *nearest = choices[0];
	unsigned least = G_MAXUINT;

	for (; *choices; choices++) {
		unsigned distance = edit_distance_measure(typed, *choices);

		if (distance < least) {
			least = distance;
			nearest = *choices;
		}
	}
	if (least == 0) {
		node->value = g_strdup(nearest);
		return true;
	}
	query_error_set(problem, PB_ERROR_INPUT, lexeme->column, node->field->example,
	    N_("\"{field}:\" must be one of {all}, not \"{text}\": did you mean "
	       "\"{nearest}\"?"),
	    "field", node->field->name, "all", all, "text", text, "nearest", nearest,
	    NULL);
	return false;
}

/* arXiv cites its papers as arXiv:2605.15202, and 2605.15202v2 is a version of the
 * paper 2605.15202; until 2007 ids were such as hep-th/9901001. */
static char *
shorten_id(const char *id)
{
	static const char shape[] =
	    "^(?:arxiv:)?(\\d{4}\\.\\d{4,5}|[a-z.-]+/\\d{7})(?:v\\d+)?$";
	g_autoptr(GRegex) regex = g_regex_new(shape, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return g_regex_match(regex, id, 0, &match) ? g_match_info_fetch(match, 1)
	                                           : g_strdup(id);
}

static bool
has_alpha(const char *text)
{
	for (const char *p = text; *p; p = g_utf8_next_char(p))
		if (g_unichar_isalnum(g_utf8_get_char(p)))
			return true;
	return false;
}

static bool
check_star(const struct lexeme *lexeme, const char *value, const struct node *node,
    struct query_error *problem)
{
	const char *star = memchr(lexeme->text, '*', lexeme->len);
	unsigned column = lexeme->column + (lexeme->kind == LEXEME_PHRASE);

	if (!star)
		return true;
	if (node->field->kind == FIELD_SOURCE)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example,
		    N_("source names are matched as a whole, without \"*\""), NULL);
	else if (!node->is_prefix || strchr(value, '*'))
		query_error_set(problem, PB_ERROR_INPUT,
		    column + (unsigned)g_utf8_strlen(lexeme->text, star - lexeme->text),
		    node->field->example,
		    N_("\"*\" is only allowed at the end of a value"), NULL);
	else if (g_utf8_strlen(value, -1) < BOUNDS_PREFIX_CHARS)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example,
		    N_("expected at least {least} letters before \"*\""), "least",
		    MSG_INT(BOUNDS_PREFIX_CHARS), NULL);
	else
		return true;
	return false;
}

/* Lower the case and collapse white space. */
static char *
fold_value(const char *text, size_t len)
{
	GString *out = g_string_new(NULL);
	bool owes_blank = false;

	for (const char *p = text; p < text + len; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (g_unichar_isspace(c)) {
			owes_blank = out->len > 0;
			continue;
		}
		if (owes_blank)
			g_string_append_c(out, ' ');
		owes_blank = false;
		g_string_append_unichar(
		    out, c < 0x80 ? (gunichar)g_ascii_tolower((char)c) : c);
	}
	return g_string_free(out, FALSE);
}

/* Read an id, a DOI or a source, without a trailing "*". */
static bool
read_whole(const struct lexeme *lexeme, struct node *node, struct query_error *problem)
{
	g_autofree char *folded = fold_value(lexeme->text, lexeme->len);
	g_autofree char *value = node->field->hit == HIT_FIELD_ID
	                             ? shorten_id(folded)
	                             : g_steal_pointer(&folded);

	if (node->field->kind == FIELD_KEYWORD && g_str_has_suffix(value, "*")) {
		node->is_prefix = true;
		value[strlen(value) - 1] = '\0';
		g_strchomp(value);
	}
	if (!check_star(lexeme, value, node, problem))
		return false;
	if (!has_alpha(value)) {
		g_autofree char *text = g_strndup(lexeme->text, lexeme->len);

		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example, N_("no letter or digit in \"{text}\""),
		    "text", text, NULL);
		return false;
	}
	node->value = g_steal_pointer(&value);
	return true;
}

static bool
read_value(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	if (node->field->kind == FIELD_CATEGORY)
		return read_category(source->lexeme, node, problem);
	if (node->field->kind == FIELD_CHOICE)
		return read_choice(source->lexeme, node, problem);
	return read_whole(source->lexeme, node, problem);
}

/* Parser and node kind by kind of field. */
static const struct {
	enum node_kind kind;
	bool (*read)(const struct clause_source *source, struct node *node,
	    struct query_error *problem);
} readers[] = {
    [FIELD_WORDS] = {NODE_WORDS, read_words},
    [FIELD_VALUE_WORDS] = {NODE_VALUE_WORDS, read_words},
    [FIELD_NAME] = {NODE_NAME, read_name},
    [FIELD_CATEGORY] = {NODE_VALUE, read_value},
    [FIELD_KEYWORD] = {NODE_VALUE, read_value},
    [FIELD_SOURCE] = {NODE_VALUE, read_value},
    [FIELD_CHOICE] = {NODE_VALUE, read_value},
    [FIELD_NUMBER] = {NODE_NUMBER, read_number},
    [FIELD_DATE] = {NODE_DATE, read_dates},
};

/* A bare category name is a cat: clause. */
static const struct field *
choose_field(const struct clause_source *source)
{
	const struct lexeme *lexeme = source->lexeme;

	if (source->field)
		return source->field;
	return lexeme->kind == LEXEME_WORD && category_find(lexeme->text, lexeme->len)
	           ? field_get_category()
	           : field_get_text();
}

struct node *
clause_parse(const struct clause_source *source, struct query_error *problem)
{
	struct clause_source chosen = *source;
	pb_auto(node) node = NULL;

	chosen.field = choose_field(source);
	node = node_new(readers[chosen.field->kind].kind, source->lexeme->column);
	node->field = chosen.field;
	if (node->kind != NODE_NUMBER && node->kind != NODE_DATE &&
	    !check_word(&chosen, problem))
		return NULL;
	if (!readers[chosen.field->kind].read(&chosen, node, problem))
		return NULL;
	return g_steal_pointer(&node);
}
