/*
 * value.c - a whole value in a filter: a category, a source, an id, code.
 */
#include "query/parse/value.h"

#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "query/parse/category.h"

static bool
read_category(
    const struct lexeme *lexeme, struct node *node, struct query_error *problem)
{
	size_t len = lexeme->len;
	const char *category = category_find(lexeme->text, len);
	g_autofree char *nearest = NULL, *text = NULL;

	if (category) {
		node->value = g_strdup(category);
		return true;
	}
	if (len > 2 && memcmp(lexeme->text + len - 2, ".*", 2) == 0)
		len -= 2;
	node->value = category_find_archive(lexeme->text, len);
	/* hep-th is both, and then it is the category. */
	node->is_beginning =
	    node->value && !category_find(node->value, strlen(node->value));
	if (node->value)
		return true;
	nearest = category_find_nearest(lexeme->text, lexeme->len);
	text = g_strndup(lexeme->text, lexeme->len);
	query_error_set(problem, PB_ERROR_INPUT, lexeme->column, node->field->example,
	    MSG_QUERY_CATEGORY, "text", text, "nearest", nearest, NULL);
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
	    MSG_QUERY_CHOICE, "field", node->field->name, "all", all, "text", text,
	    "nearest", nearest, NULL);
	return false;
}

/* The shapes of arXiv's ids: 2605.15202, and hep-th/9901001 until 2007. */
static bool
is_arxiv_id(const char *id, size_t len)
{
	const char *slash = memchr(id, '/', len);
	const char *number = slash ? slash + 1 : id;
	size_t size = len - (size_t)(number - id);

	if (slash ? size != 7 || slash == id
	          : (size != 9 && size != 10) || id[4] != '.')
		return false;
	for (const char *p = id; slash && p < slash; p++)
		if (!g_ascii_islower(*p) && *p != '-' && *p != '.')
			return false;
	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isdigit(number[i]) && (slash || i != 4))
			return false;
	return true;
}

/* 2605.15202v2 is the paper 2605.15202. */
static void
drop_version(char *id)
{
	size_t len = strlen(id);
	size_t end = len;

	while (end > 0 && g_ascii_isdigit(id[end - 1]))
		end--;
	if (end < len && end > 0 && id[end - 1] == 'v' && is_arxiv_id(id, end - 1))
		id[end - 1] = '\0';
}

/* arXiv cites its papers as arXiv:2605.15202. */
static void
drop_archive(char *id)
{
	static const char archive[] = "arxiv:";
	char *number = id + strlen(archive);

	if (!g_str_has_prefix(id, archive))
		return;
	drop_version(number);
	if (is_arxiv_id(number, strlen(number)))
		memmove(id, number, strlen(number) + 1);
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
		    node->field->example, MSG_QUERY_SOURCE_STAR, NULL);
	else if (!node->is_beginning || strchr(value, '*'))
		query_error_set(problem, PB_ERROR_INPUT,
		    column + (unsigned)g_utf8_strlen(lexeme->text, star - lexeme->text),
		    node->field->example, MSG_QUERY_VALUE_STAR, NULL);
	else if (g_utf8_strlen(value, -1) < BOUNDS_PREFIX_CHARS)
		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example, MSG_QUERY_PREFIX_SHORT, "least",
		    MSG_INT(BOUNDS_PREFIX_CHARS), NULL);
	else
		return true;
	return false;
}

/* In small letters, with one blank for all white space between, none around. */
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

/* An id, a DOI, a source; "*" at the end taken off. */
static bool
read_whole(const struct lexeme *lexeme, struct node *node, struct query_error *problem)
{
	g_autofree char *value = fold_value(lexeme->text, lexeme->len);

	if (node->field->kind == FIELD_WHOLE && g_str_has_suffix(value, "*")) {
		node->is_beginning = true;
		value[strlen(value) - 1] = '\0';
		g_strchomp(value);
	} else if (node->field->hit == QUERY_FIELD_ID) {
		drop_archive(value);
		drop_version(value);
	}
	if (!check_star(lexeme, value, node, problem))
		return false;
	if (!has_alpha(value)) {
		g_autofree char *text = g_strndup(lexeme->text, lexeme->len);

		query_error_set(problem, PB_ERROR_INPUT, lexeme->column,
		    node->field->example, MSG_QUERY_NO_ALNUM, "text", text, NULL);
		return false;
	}
	node->value = g_steal_pointer(&value);
	return true;
}

bool
value_read(
    const struct clause_source *source, struct node *node, struct query_error *problem)
{
	if (node->field->kind == FIELD_CATEGORY)
		return read_category(source->lexeme, node, problem);
	if (node->field->kind == FIELD_CHOICE)
		return read_choice(source->lexeme, node, problem);
	return read_whole(source->lexeme, node, problem);
}
