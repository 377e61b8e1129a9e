/*
 * canonical.c - canonical text of a filter: format, hash and reader.
 */
#include "query/parse/canonical.h"

#include <inttypes.h>

#include "base/bounds.h"
#include "query/parse/tree.h"
#include "query/query.h"
#include "query/text/tokens.h"

G_STATIC_ASSERT(BOUNDS_NUMBER_DIGITS == 9);
#define LARGEST_NUMBER 999999999

static void
append_number(const struct node *node, GString *out)
{
	if (node->min == node->max)
		g_string_append_printf(out, "=%" PRId64, node->min);
	else if (node->max < INT64_MAX && node->min > 0)
		g_string_append_printf(
		    out, "%" PRId64 "..%" PRId64, node->min, node->max);
	else if (node->max < INT64_MAX)
		g_string_append_printf(out, "<=%" PRId64, node->max);
	else if (node->min > LARGEST_NUMBER)
		g_string_append_printf(out, ">%" PRId64, node->min - 1);
	else
		g_string_append_printf(out, ">=%" PRId64, node->min);
}

/* NEAR("chain of thought" faithful*, 8) */
static void
append_near(const struct node *node, GString *out)
{
	g_string_append(out, "NEAR(");
	for (guint i = 0; i < node->phrases->len; i++) {
		if (i > 0)
			g_string_append_c(out, ' ');
		phrase_append(g_ptr_array_index(node->phrases, i), out);
	}
	g_string_append_printf(out, ", %u)", node->distance);
}

/* Quote a value that is not a plain word. */
static void
append_quoted_value(const struct node *node, GString *out)
{
	bool is_plain = g_ascii_isalnum(*node->value);
	bool has_star = node->is_prefix && node->field->kind != FIELD_CATEGORY;

	for (const char *p = node->value; *p; p++)
		is_plain = is_plain && (g_ascii_isalnum(*p) || strchr("-._/+", *p));
	g_string_append_printf(
	    out, is_plain ? "%s%s" : "\"%s%s\"", node->value, has_star ? "*" : "");
}

void
node_append_field(const struct node *node, GString *out)
{
	if (node->field != field_get_text())
		g_string_append_printf(out, "%s:", node->field->name);
}

void
node_append_clause(const struct node *node, GString *out)
{
	node_append_field(node, out);
	switch (node->kind) {
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
		g_assert_not_reached();
	case NODE_WORDS:
	case NODE_VALUE_WORDS:
		phrase_append(node->phrase, out);
		break;
	case NODE_NEAR:
		append_near(node, out);
		break;
	case NODE_NAME:
		name_append(node->name, out);
		break;
	case NODE_VALUE:
		append_quoted_value(node, out);
		break;
	case NODE_NUMBER:
		append_number(node, out);
		break;
	case NODE_DATE:
		date_append(&node->dates, out);
		break;
	}
}

static void
append_operands(const struct node *node, GString *out)
{
	for (guint i = 0; i < node->operands->len; i++) {
		const struct node *operand = g_ptr_array_index(node->operands, i);
		/* NOT binds tightest, then AND; a boosted operand is a group already.
		 */
		bool is_group =
		    operand->boost == 1 &&
		    (operand->kind == NODE_OR || operand->kind == NODE_AND) &&
		    node->kind != NODE_OR;

		if (i > 0 && node->kind == NODE_OR)
			g_string_append(out, CANONICAL_OR);
		else if (i > 0)
			g_string_append(
			    out, operand->kind == NODE_NOT ? " " : CANONICAL_AND);
		if (is_group)
			g_string_append(out, CANONICAL_OPEN);
		node_append(operand, out);
		if (is_group)
			g_string_append(out, CANONICAL_CLOSE);
	}
}

void
node_append(const struct node *node, GString *out)
{
	bool is_group = node->boost > 1 && node->operands;

	if (is_group)
		g_string_append(out, CANONICAL_OPEN);
	if (node->kind == NODE_NOT)
		g_string_append(out, CANONICAL_NOT);
	if (node->operands)
		append_operands(node, out);
	else
		node_append_clause(node, out);
	if (is_group)
		g_string_append(out, CANONICAL_CLOSE);
	if (node->boost > 1)
		g_string_append_printf(out, CANONICAL_BOOST "%u", node->boost);
}

char *
query_format(const struct query *query)
{
	GString *out = g_string_new(NULL);

	node_append(query->root, out);
	return g_string_free(out, FALSE);
}

/* @return words without accents -> with them, of a typed text; NULL: tokenizer failed
 */
static GHashTable *
collect_accents(const char *typed, const struct tokenizer *tokenizer)
{
	g_autoptr(GArray) tokens = tokens_split(tokenizer, typed, strlen(typed));
	GHashTable *words;

	if (!tokens)
		return NULL;
	words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (guint i = 0; i < tokens->len; i++) {
		const struct token *token = &g_array_index(tokens, struct token, i);
		char *word = g_utf8_strdown(
		    typed + token->start, (gssize)(token->end - token->start));

		if (strcmp(word, token->text) != 0)
			g_hash_table_insert(words, g_strdup(token->text), word);
		else
			g_free(word);
	}
	return words;
}

char *
query_format_accented(
    const char *canonical, const char *typed, const struct tokenizer *tokenizer)
{
	g_autoptr(GHashTable) words = collect_accents(typed, tokenizer);
	g_autoptr(GArray) tokens =
	    tokens_split(tokenizer, canonical, strlen(canonical));
	GString *out = g_string_new(NULL);
	size_t at = 0;

	for (guint i = 0; words && tokens && i < tokens->len; i++) {
		const struct token *token = &g_array_index(tokens, struct token, i);
		size_t size = token->end - token->start;
		const char *word = g_hash_table_lookup(words, token->text);

		/* Not names of fields, nor words after "=", which are as typed. */
		if (!word || canonical[token->end] == ':' ||
		    strlen(token->text) != size ||
		    memcmp(token->text, canonical + token->start, size) != 0)
			continue;
		g_string_append_len(out, canonical + at, (gssize)(token->start - at));
		g_string_append(out, word);
		at = token->end;
	}
	g_string_append(out, canonical + at);
	return g_string_free(out, FALSE);
}

char *
query_hash(const struct query *query)
{
	g_autofree char *text = query_format(query);

	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

void
canonical_skip_clause(const char **at)
{
	const char *p = *at;
	bool is_quoted = false;
	unsigned depth = 0; /* in the parentheses of its NEAR() */

	for (; *p; p++) {
		if (*p == '"')
			is_quoted = !is_quoted;
		if (is_quoted)
			continue;
		if (!depth && (*p == ' ' || *p == ')'))
			break;
		depth += *p == '(';
		depth -= *p == ')';
	}
	*at = p;
}

void
canonical_skip_boost(const char **at)
{
	if (canonical_accept(at, CANONICAL_BOOST))
		*at += strspn(*at, "0123456789");
}
