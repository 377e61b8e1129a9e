/*
 * lex.c - splits the text of a filter into lexemes.
 */
#include "query/parse/lex.h"

#include <string.h>

#include "base/text.h"

/* Initial allocation. */
#define LEXEMES_USUAL 8

struct lexer {
	const char *text; /* valid UTF-8 */
	const char *at;
	unsigned column; /* of `at` */
	GArray *lexemes;
};

static const struct {
	char sign;
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

/* Operators are in capitals. */
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

/* Opening and closing quotation mark. */
struct quote_pair {
	gunichar open;
	gunichar close;
};

/* Word processors and phones replace the straight mark according to language. */
static const struct quote_pair double_quotes[] = {
    {'"', '"'},
    {0x201C, 0x201D}, /* English */
    {0x201D, 0x201D}, /* Swedish, Finnish */
    {0x201E, 0x201C}, /* German, Czech */
    {0x201E, 0x201D}, /* Polish, Hungarian */
    {0x201F, 0x201D},
    {0xAB, 0xBB},     /* French, Greek, Russian */
    {0xBB, 0xAB},     /* German, Danish */
    {0x300C, 0x300D}, /* Japanese, Chinese */
    {0x300E, 0x300F},
    {0x301D, 0x301E},
    {0x301D, 0x301F},
    {0xFF02, 0xFF02},
    {0},
};

#define APOSTROPHE 0x2019

/* Single marks, which may also be apostrophes: O’Brien, researchers’ */
static const struct quote_pair single_quotes[] = {
    {0x2018, 0x2019},         /* English */
    {APOSTROPHE, APOSTROPHE}, /* Swedish, Finnish */
    {0x201A, 0x2018},         /* German, Czech */
    {0x201A, 0x2019},         /* Polish */
    {0x201B, 0x2019},
    {0x2039, 0x203A}, /* French */
    {0x203A, 0x2039}, /* German, Danish */
    {0},
};

static bool
is_pair(const struct quote_pair *pairs, gunichar open, gunichar close)
{
	for (; pairs->open; pairs++)
		if (open == pairs->open && close == pairs->close)
			return true;
	return false;
}

static bool
is_opening(const struct quote_pair *pairs, gunichar c)
{
	for (; pairs->open; pairs++)
		if (c == pairs->open)
			return true;
	return false;
}

bool
lex_is_quote(gunichar c)
{
	for (const struct quote_pair *pair = double_quotes; pair->open; pair++)
		if (c == pair->open || c == pair->close)
			return true;
	return false;
}

/* Straight marks and typographic replacements may be mixed. */
static bool
is_mixable(gunichar c)
{
	return c == '"' || (c >= 0x201C && c <= 0x201F) || c == 0xFF02;
}

/* Word processors replace hyphens by dashes; -word must not become a plain word. */
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
	return !g_unichar_isspace(c) && !lex_is_quote(c);
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

/* Whether "-" or "!" is followed immediately by an operand. */
static bool
has_operand(const char *next)
{
	gunichar c = g_utf8_get_char(next);

	return is_word_character(c) || lex_is_quote(c) || c == '(';
}

/* Whether a mark ends a word. */
static bool
is_at_end(const struct lexer *lexer, const char *at)
{
	gunichar next = g_utf8_get_char(g_utf8_next_char(at));

	if (at == lexer->text ||
	    g_unichar_isspace(g_utf8_get_char(g_utf8_prev_char(at))))
		return false;
	return next == 0 || g_unichar_isspace(next) || is_sign(next);
}

static bool
is_closing(const struct lexer *lexer, gunichar open, const char *at)
{
	gunichar c = g_utf8_get_char(at);

	return is_pair(double_quotes, open, c) ||
	       ((c == open || (is_mixable(c) && is_mixable(open))) &&
	           is_at_end(lexer, at));
}

/* Whether a word, a phrase or ")" ends at the current position. */
static bool
follows_word(const struct lexer *lexer)
{
	guint n = lexer->lexemes->len;
	const struct lexeme *last =
	    n ? &g_array_index(lexer->lexemes, struct lexeme, n - 1) : NULL;

	return last && last->end == (size_t)(lexer->at - lexer->text) &&
	       (last->kind == LEXEME_WORD || last->kind == LEXEME_PHRASE ||
	           last->kind == LEXEME_CLOSE);
}

/* French has a space, often a non-breaking one, before the closing mark. */
static const char *
find_text_end(const char *text, const char *end)
{
	while (end > text && g_unichar_isspace(g_utf8_get_char(g_utf8_prev_char(end))))
		end = g_utf8_prev_char(end);
	return end;
}

static void
error_quote(const struct lexer *lexer, struct query_error *problem, const char *message)
{
	g_autofree char *mark =
	    g_strndup(lexer->at, (gsize)(g_utf8_next_char(lexer->at) - lexer->at));

	query_error_set(problem, PB_ERROR_INPUT, lexer->column, "\"diffusion model\"",
	    message, "mark", mark, NULL);
}

static bool
lex_phrase(struct lexer *lexer, struct lexeme *lexeme, struct query_error *problem)
{
	gunichar open = g_utf8_get_char(lexer->at);
	const struct lexer start = *lexer;
	const char *text_end;

	if (!is_opening(double_quotes, open) ||
	    (open != '"' && follows_word(lexer) && is_at_end(lexer, lexer->at))) {
		error_quote(lexer, problem,
		    N_("closing quotation mark {mark} without an opening one"));
		return false;
	}
	skip_character(lexer);
	lexeme->text = lexer->at;
	while (*lexer->at && !lex_is_quote(g_utf8_get_char(lexer->at)))
		skip_character(lexer);
	if (!*lexer->at) {
		error_quote(
		    &start, problem, N_("missing closing quotation mark for {mark}"));
		return false;
	}
	if (!is_closing(lexer, open, lexer->at)) {
		error_quote(lexer, problem,
		    N_("the quotation mark {mark} may start another phrase: use "
		       "straight quotes, as in \"state space\""));
		return false;
	}
	text_end = find_text_end(lexeme->text, lexer->at);
	skip_character(lexer);
	add_lexeme(lexer, LEXEME_PHRASE, lexeme, text_end);
	return true;
}

/*
 * Find the mark that closes the single mark at the current position: the last one at
 * the end of a word before the next phrase.
 *
 * @param is_sure  set to false when some of the marks may be apostrophes
 * @return NULL when there is none: the mark itself is an apostrophe
 */
static const char *
find_single_end(const struct lexer *lexer, bool *is_sure)
{
	gunichar open = g_utf8_get_char(lexer->at);
	const char *end = NULL;
	gunichar before = 0;

	*is_sure = open != APOSTROPHE;
	for (const char *p = g_utf8_next_char(lexer->at); *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		bool is_end = is_pair(single_quotes, open, c) && is_at_end(lexer, p);

		if (lex_is_quote(c) || (!is_end && is_opening(single_quotes, c) &&
		                           !g_unichar_isalnum(before)))
			break;
		*is_sure = *is_sure && !(is_end && end);
		if (is_end)
			end = p;
		before = c;
	}
	return end;
}

/* @param is_phrase  set to false when the mark is an apostrophe */
static bool
lex_single_phrase(struct lexer *lexer, struct lexeme *lexeme, bool *is_phrase,
    struct query_error *problem)
{
	bool is_sure;
	const char *end = find_single_end(lexer, &is_sure);

	*is_phrase = end != NULL;
	if (!end)
		return true;
	if (!is_sure) {
		error_quote(lexer, problem,
		    N_("the quotation mark {mark} may be an apostrophe: use straight "
		       "quotes, as in \"state space\""));
		return false;
	}
	skip_character(lexer);
	lexeme->text = lexer->at;
	while (lexer->at < end)
		skip_character(lexer);
	skip_character(lexer);
	add_lexeme(lexer, LEXEME_PHRASE, lexeme, end);
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
lex_one(struct lexer *lexer, struct query_error *problem)
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
	if (lex_is_quote(c))
		return lex_phrase(lexer, &lexeme, problem);
	if (is_opening(single_quotes, c)) {
		bool is_phrase;

		if (!lex_single_phrase(lexer, &lexeme, &is_phrase, problem))
			return false;
		if (is_phrase)
			return true;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
		if (c == (gunichar)signs[i].sign) {
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

/* Reject invalid UTF-8, control characters and invisible characters: papers have none
 * of these, and they would split words or reverse text. */
static bool
check_characters(const char *text, struct query_error *problem)
{
	const char *end;
	bool is_valid = g_utf8_validate(text, -1, &end);
	unsigned column = 1;

	for (const char *p = text; p < end; p = g_utf8_next_char(p), column++) {
		gunichar c = g_utf8_get_char(p);

		if (g_ascii_isprint(*p))
			continue;
		if (g_unichar_iscntrl(c)) {
			query_error_set(problem, PB_ERROR_INPUT, column, NULL,
			    N_("unexpected control character"), NULL);
			return false;
		}
		if (text_is_stripped_char(c)) {
			g_autofree char *code = g_strdup_printf("%04X", c);

			query_error_set(problem, PB_ERROR_INPUT, column, NULL,
			    N_("unexpected invisible character (U+{code}): type the "
			       "word again, without it"),
			    "code", code, NULL);
			return false;
		}
	}
	if (!is_valid)
		query_error_set(problem, PB_ERROR_INPUT, column, NULL,
		    N_("the text is not valid UTF-8 from here"), NULL);
	return is_valid;
}

GArray *
lex_split(const char *text, struct query_error *problem)
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
