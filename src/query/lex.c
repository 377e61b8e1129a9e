/*
 * lex.c - a filter's text as lexemes with their columns.
 */
#include "query/lex.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Most filters have no more. */
#define LEXEMES_USUAL 8

struct lexer {
	const char *text; /* valid UTF-8 */
	const char *at;
	unsigned column; /* of at */
	GArray *lexemes;
};

static const struct {
	char letter;
	enum lexeme_kind kind;
} signs[] = {
    {'(', LEXEME_OPEN},
    {')', LEXEME_CLOSE},
    {'&', LEXEME_AND},
    {'|', LEXEME_OR},
    {'^', LEXEME_CARET},
    {',', LEXEME_COMMA},
    {':', LEXEME_COLON},
};

/* Operators are words in capitals only. */
static const struct {
	const char *word;
	enum lexeme_kind kind;
} operators[] = {
    {"AND", LEXEME_AND},
    {"OR", LEXEME_OR},
    {"NOT", LEXEME_NOT},
    {"ANDNOT", LEXEME_ANDNOT},
    {"NEAR", LEXEME_NEAR},
};

/* Mail programs make typographic quotation marks of plain ones. */
static bool
is_quote(gunichar c)
{
	return c == '"' || c == 0x201C || c == 0x201D || c == 0x201E;
}

/* ... and a dash of a hyphen, so that -word must not become a plain word. */
static bool
is_minus(gunichar c)
{
	return c == '-' || c == 0x2013 || c == 0x2014 || c == 0x2212;
}

static bool
is_sign(gunichar c)
{
	return c != 0 && c < 0x80 && strchr("()&|^,:", (int)c);
}

static bool
is_word_character(gunichar c)
{
	if (c < 0x80)
		return g_ascii_isgraph(c) && c != '"' && !is_sign(c);
	return !g_unichar_isspace(c) && !is_quote(c);
}

static void
skip_character(struct lexer *lexer)
{
	lexer->at = g_utf8_next_char(lexer->at);
	lexer->column++;
}

static void
add_lexeme(struct lexer *lexer, enum lexeme_kind kind, const struct lexeme *from,
    const char *text_end)
{
	struct lexeme lexeme = *from;

	lexeme.kind = kind;
	lexeme.end = lexer->at - lexer->text;
	lexeme.len = text_end - lexeme.text;
	g_array_append_val(lexer->lexemes, lexeme);
}

/* Whether "-" or "!" has its operand directly behind it. */
static bool
has_operand(const char *next)
{
	gunichar c = g_utf8_get_char(next);

	return is_word_character(c) || is_quote(c) || c == '(';
}

static bool
lex_phrase(struct lexer *lexer, struct lexeme *lexeme, struct query_problem *problem)
{
	const char *text_end;

	skip_character(lexer);
	lexeme->text = lexer->at;
	while (*lexer->at && !is_quote(g_utf8_get_char(lexer->at)))
		skip_character(lexer);
	if (!*lexer->at) {
		query_problem_set(problem, PB_ERROR_INPUT, lexeme->column,
		    "\"diffusion model\"", "a quotation mark has no second one");
		return false;
	}
	text_end = lexer->at;
	skip_character(lexer);
	add_lexeme(lexer, LEXEME_PHRASE, lexeme, text_end);
	return true;
}

static enum lexeme_kind
classify_word(const char *word, size_t len)
{
	static const char near[] = "NEAR/";

	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
		if (strlen(operators[i].word) == len &&
		    memcmp(operators[i].word, word, len) == 0)
			return operators[i].kind;
	if (len >= strlen(near) && memcmp(word, near, strlen(near)) == 0)
		return LEXEME_NEAR;
	return LEXEME_WORD;
}

static void
lex_word(struct lexer *lexer, struct lexeme *lexeme)
{
	const char *word_end;

	while (is_word_character(g_utf8_get_char(lexer->at)))
		skip_character(lexer);
	word_end = lexer->at;
	if (*lexer->at == ':') {
		skip_character(lexer);
		add_lexeme(lexer, LEXEME_FIELD, lexeme, word_end);
		return;
	}
	add_lexeme(lexer, classify_word(lexeme->text, word_end - lexeme->text), lexeme,
	    word_end);
}

static bool
lex_one(struct lexer *lexer, struct query_problem *problem)
{
	gunichar c = g_utf8_get_char(lexer->at);
	struct lexeme lexeme = {
	    .column = lexer->column,
	    .start = lexer->at - lexer->text,
	    .text = lexer->at,
	};

	if (g_unichar_isspace(c)) {
		skip_character(lexer);
		return true;
	}
	if (is_quote(c))
		return lex_phrase(lexer, &lexeme, problem);
	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
		if (c == (gunichar)signs[i].letter) {
			skip_character(lexer);
			add_lexeme(lexer, signs[i].kind, &lexeme, lexer->at);
			return true;
		}
	}
	if ((is_minus(c) || c == '!') && has_operand(g_utf8_next_char(lexer->at))) {
		skip_character(lexer);
		add_lexeme(lexer, LEXEME_NOT, &lexeme, lexer->at);
		return true;
	}
	lex_word(lexer, &lexeme);
	return true;
}

/*
 * Valid UTF-8 without control characters, or a problem.  What does not show is refused
 * too: papers come without it, some of it cuts words in two and some turns text around.
 */
static bool
check_characters(const char *text, struct query_problem *problem)
{
	const char *end;
	bool is_valid = g_utf8_validate(text, -1, &end);
	unsigned column = 1;

	for (const char *p = text; p < end; p = g_utf8_next_char(p), column++) {
		gunichar c = g_utf8_get_char(p);

		if (g_ascii_isprint(*p))
			continue;
		if (g_unichar_iscntrl(c)) {
			query_problem_set(problem, PB_ERROR_INPUT, column, NULL,
			    "a control character stands here");
			return false;
		}
		if (text_is_dropped(c)) {
			query_problem_set(problem, PB_ERROR_INPUT, column, NULL,
			    "an invisible character (U+%04X) stands here: type the "
			    "word again, without it",
			    c);
			return false;
		}
	}
	if (!is_valid)
		query_problem_set(problem, PB_ERROR_INPUT, column, NULL,
		    "the text is not valid UTF-8 from here on");
	return is_valid;
}

GArray *
lex_split(const char *text, struct query_problem *problem)
{
	g_autoptr(GArray) lexemes =
	    g_array_sized_new(FALSE, FALSE, sizeof(struct lexeme), LEXEMES_USUAL);
	struct lexer lexer = {text, text, 1, lexemes};
	struct lexeme end = {0};

	if (!check_characters(text, problem))
		return NULL;
	while (*lexer.at)
		if (!lex_one(&lexer, problem))
			return NULL;
	end.column = lexer.column;
	end.start = lexer.at - text;
	end.text = lexer.at;
	add_lexeme(&lexer, LEXEME_END, &end, lexer.at);
	return g_steal_pointer(&lexemes);
}
