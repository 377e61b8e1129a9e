/*
 * clause_match.c - evaluates a clause about texts that are not indexed.
 */
#include "query/eval/clause_match.h"

#include <string.h>

#include "query/eval/doc_values.h"
#include "query/text/text_field.h"

static enum query_verdict
match_name(
    const struct node *node, const char *authors, const struct tokenizer *tokenizer)
{
	for (const char *line = authors; *line;) {
		size_t len = strcspn(line, "\n");
		struct name *name;
		bool is_match;

		if (!name_parse(line, len, tokenizer, &name))
			return QUERY_UNKNOWN;
		is_match = name && name_is_match(node->name, name);
		name_free(name);
		if (is_match)
			return QUERY_TRUE;
		if (node->field->is_first && len)
			break;
		line += len + (line[len] != '\0');
	}
	return QUERY_FALSE;
}

/* Bytes that the plural of a word begins with, too: inde of index and indices. */
static size_t
measure_common(const char *word)
{
	size_t len = strlen(word);

	return len > 3 ? len - 2 : len;
}

/* The same byte eight times. */
#define EACH(byte) (0x0101010101010101ULL * (uint8_t)(byte))

/* Number of the eight bytes of a text before the first that is not ASCII, or at which a
 * word in small letters may begin: its first two are there. */
static unsigned
count_others(const char *word, const char *text)
{
	uint64_t first, second;

	memcpy(&first, text, sizeof(first));
	memcpy(&second, text + 1, sizeof(second));
	second = ((first | EACH(0x20)) ^ EACH(word[0])) |
	         ((second | EACH(0x20)) ^ EACH(word[1]));
	/* The highest bits of the first byte that is 0, and maybe of later ones. */
	second = (second - EACH(1)) & ~second & EACH(0x80);
	first = GUINT64_TO_LE((first & EACH(0x80)) | second);
	return first ? (unsigned)__builtin_ctzll(first) / 8 : sizeof(first);
}

/* Whether a word may be in the text: also if either is not ASCII. */
static bool
may_have_word(const char *word, const char *text, size_t text_len)
{
	size_t len = measure_common(word), at = 0;

	if (!g_str_is_ascii(word))
		return true;
	for (; at < text_len; at++) {
		/* Most bytes are skipped eight at a time. */
		while (len > 1 && text_len - at > sizeof(uint64_t)) {
			unsigned others = count_others(word, text + at);

			at += others;
			if (others < sizeof(uint64_t))
				break;
		}
		if (text[at] & 0x80 ||
		    ((text[at] | 0x20) == *word &&
		        g_ascii_strncasecmp(text + at, word, len) == 0))
			return true;
	}
	return false;
}

enum query_verdict
clause_match_values(
    const struct node *node, const char *lines, const struct tokenizer *tokenizer)
{
	pb_auto(doc_values) doc_values =
	    doc_values_new_lines(node->field, lines, tokenizer);

	return node->kind == NODE_VALUE_WORDS
	           ? doc_values_evaluate_words(doc_values, node)
	           : doc_values_evaluate_value(doc_values, node);
}

bool
clause_may_match(const struct node *node, const char *lines)
{
	size_t len = strlen(lines);

	for (guint i = 0; i < node->phrase->words->len; i++)
		if (!may_have_word(
		        phrase_get_word(node->phrase, i)->key.text, lines, len))
			return false;
	return true;
}

/* Whether the words that were typed exactly are anywhere in the text. */
static bool
has_exact_words(const struct phrase *phrase, const char *text)
{
	for (guint i = 0; i < phrase->words->len; i++) {
		const char *exact = phrase_get_word(phrase, i)->exact_text;

		if (exact && !strstr(text, exact))
			return false;
	}
	return true;
}

static bool
is_one_exact_word(const struct phrase *phrase)
{
	const struct phrase_word *word = phrase_get_word(phrase, 0);

	return phrase->words->len == 1 && !phrase->is_prefix && word->exact_text &&
	       !word->signs && g_str_is_ascii(word->exact_text);
}

static bool
is_separator(char c)
{
	return !(c & 0x80) && !g_ascii_isalnum(c);
}

/* Find a word by its exact text only: not if letters beside it are not ASCII. */
static enum query_verdict
match_exact_word(const char *exact, const char *text)
{
	enum query_verdict verdict = QUERY_FALSE;

	for (const char *at = text; (at = strstr(at, exact)); at += strlen(exact)) {
		char before = at > text ? at[-1] : ' ', after = at[strlen(exact)];

		if (is_separator(before) && is_separator(after))
			return QUERY_TRUE;
		if ((before | after) & 0x80)
			verdict = QUERY_UNKNOWN;
	}
	return verdict;
}

static enum query_verdict
match_words(
    const struct node *node, const char *text, const struct tokenizer *tokenizer)
{
	enum query_verdict verdict = QUERY_UNKNOWN;
	struct text_field text_field;
	GStringChunk *strings;

	if (!has_exact_words(node->phrase, text))
		return QUERY_FALSE;
	if (is_one_exact_word(node->phrase))
		verdict = match_exact_word(
		    phrase_get_word(node->phrase, 0)->exact_text, text);
	if (verdict != QUERY_UNKNOWN)
		return verdict;
	strings = g_string_chunk_new(4096);
	text_field_init(&text_field, text);
	if (text_field_split(&text_field, strings, tokenizer))
		verdict = text_field_find_phrase(&text_field, node->phrase, 0) >= 0
		              ? QUERY_TRUE
		              : QUERY_FALSE;
	text_field_clear(&text_field);
	g_string_chunk_free(strings);
	return verdict;
}

/* Only lines that may match are split into words. */
static enum query_verdict
match_lines(
    const struct node *node, const char *lines, const struct tokenizer *tokenizer)
{
	g_auto(GStrv) parts = g_strsplit(lines, "\n", -1);
	enum query_verdict verdict = QUERY_FALSE;

	for (char **part = parts; *part && verdict != QUERY_TRUE; part++)
		if (clause_may_match(node, *part))
			verdict =
			    MAX(verdict, clause_match_values(node, *part, tokenizer));
	return verdict;
}

enum query_verdict
clause_match(const struct node *node, const char *const texts[CLAUSE_TEXTS],
    const struct tokenizer *tokenizer)
{
	enum query_verdict verdict = QUERY_FALSE;

	switch (node->kind) {
	case NODE_NAME:
		return match_name(node, texts[HIT_FIELD_AUTHOR], tokenizer);
	case NODE_VALUE_WORDS:
		return texts[node->field->hit]
		           ? match_lines(node, texts[node->field->hit], tokenizer)
		           : QUERY_FALSE;
	case NODE_WORDS:
		break;
	case NODE_AND:
	case NODE_OR:
	case NODE_NOT:
	case NODE_NEAR:
	case NODE_VALUE:
	case NODE_NUMBER:
	case NODE_DATE:
		return QUERY_UNKNOWN;
	}
	for (unsigned text = 0; text <= HIT_FIELD_ABSTRACT; text++)
		if (node->field->texts & 1U << text && verdict != QUERY_TRUE)
			verdict = match_words(node, texts[text], tokenizer);
	return verdict;
}
