/*
 * tex_math.c - TeX formulas as Unicode text.
 */
#include "base/tex_math.h"

#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"

/* One formula or argument.  Functions that read it return NULL if they cannot. */
struct math {
	GString *out;
	const char *begin;
	const char *end;
	unsigned depth;
	size_t operator_end; /* out->len after "log": a word needs a blank there */
};

/* The capital A of mathematical alphabets (Unicode chapter 22.2). */
#define SCRIPT        0x1d49c
#define FRAKTUR       0x1d504
#define DOUBLE_STRUCK 0x1d538

/* Each character with its superscript, and with its subscript. */
static const char superscripts[] =
    "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺−⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻ"
    "AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂβᵝγᵞδᵟθᶿφᵠχᵡ∘°**′′††‡‡";
static const char subscripts[] =
    "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊−₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛ"
    "tₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ";

/* Symbols that stay unchanged in stored text, in addition to those of base/tex.c. */
static const struct {
	const char *name;
	const char *text;
} symbols[] = {{"in", "∈"}, {"notin", "∉"}, {"ni", "∋"}, {"subset", "⊂"},
    {"subseteq", "⊆"}, {"supset", "⊃"}, {"supseteq", "⊇"}, {"cup", "∪"}, {"cap", "∩"},
    {"setminus", "∖"}, {"emptyset", "∅"}, {"varnothing", "∅"}, {"mapsto", "↦"},
    {"gets", "←"}, {"longrightarrow", "⟶"}, {"hookrightarrow", "↪"},
    {"rightsquigarrow", "⇝"}, {"leadsto", "⇝"}, {"nearrow", "↗"}, {"searrow", "↘"},
    {"implies", "⟹"}, {"iff", "⟺"}, {"Leftrightarrow", "⇔"}, {"wedge", "∧"},
    {"land", "∧"}, {"vee", "∨"}, {"lor", "∨"}, {"neg", "¬"}, {"lnot", "¬"},
    {"mid", "∣"}, {"parallel", "∥"}, {"perp", "⊥"}, {"bot", "⊥"}, {"top", "⊤"},
    {"vdash", "⊢"}, {"models", "⊨"}, {"prec", "≺"}, {"succ", "≻"}, {"preceq", "⪯"},
    {"succeq", "⪰"}, {"leqslant", "⩽"}, {"geqslant", "⩾"}, {"lesssim", "≲"},
    {"gtrsim", "≳"}, {"simeq", "≃"}, {"cong", "≅"}, {"asymp", "≍"}, {"triangleq", "≜"},
    {"coloneqq", "≔"}, {"odot", "⊙"}, {"ominus", "⊖"}, {"ast", "∗"}, {"sum", "∑"},
    {"prod", "∏"}, {"int", "∫"}, {"Re", "ℜ"}, {"Im", "ℑ"}, {"prime", "′"},
    {"angle", "∠"}, {"triangle", "△"}, {"diamond", "⋄"}, {"Box", "□"}, {"square", "□"},
    {"langle", "⟨"}, {"rangle", "⟩"}, {"lfloor", "⌊"}, {"rfloor", "⌋"}, {"lceil", "⌈"},
    {"rceil", "⌉"}, {"vert", "|"}, {"lvert", "|"}, {"rvert", "|"}, {"Vert", "‖"},
    {"lVert", "‖"}, {"rVert", "‖"}, {"lbrace", "{"}, {"rbrace", "}"}, {"colon", ":"},
    {"quad", " "}, {"qquad", " "}, {"left", ""}, {"right", ""}, {"big", ""},
    {"Big", ""}, {"bigl", ""}, {"bigr", ""}, {"Bigl", ""}, {"Bigr", ""},
    {"displaystyle", ""}, {"textstyle", ""}, {"limits", ""}};

/* Symbols with the same blanks on both sides, whatever ends the command. */
static const char spaced_symbols[] =
    "×±∓·÷≤≥≠≪≫∼≈≡∝→←↔⇒⇐⇔⟹⟺⟶↦↪⇝⊕⊗⊙⊖∘⋆•∗∈∉∋⊂⊆⊃⊇∪∩∖∧∨∣∥⊢⊨≺≻⪯⪰⩽⩾≲≳≃≅≍≜≔…⋯";

static const char closing_symbols[] = "⟩⌉⌋";

static const char *const operators[] = {"arccos", "arcsin", "arctan", "arg", "cos",
    "cosh", "cot", "det", "dim", "exp", "gcd", "hom", "inf", "ker", "lg", "lim",
    "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec", "sin", "sinh", "sup",
    "tan", "tanh"};

static const char *read_operator(struct math *math, const char *at, gunichar value);
static const char *read_alphabet(struct math *math, const char *at, gunichar value);
static const char *read_plain(struct math *math, const char *at, gunichar value);
static const char *read_text(struct math *math, const char *at, gunichar value);
static const char *read_accent(struct math *math, const char *at, gunichar value);
static const char *read_root(struct math *math, const char *at, gunichar value);
static const char *read_fraction(struct math *math, const char *at, gunichar value);
static const char *read_kern(struct math *math, const char *at, gunichar value);

static const struct {
	const char *name;
	const char *(*read)(struct math *math, const char *at, gunichar value);
	gunichar value; /* first letter of the alphabet, or combining mark */
} commands[] = {{"mathcal", read_alphabet, SCRIPT}, {"mathscr", read_alphabet, SCRIPT},
    {"cal", read_alphabet, SCRIPT}, {"mathbb", read_alphabet, DOUBLE_STRUCK},
    {"Bbb", read_alphabet, DOUBLE_STRUCK}, {"mathfrak", read_alphabet, FRAKTUR},
    {"mathrm", read_plain, 0}, {"mathbf", read_plain, 0}, {"mathit", read_plain, 0},
    {"mathsf", read_plain, 0}, {"mathtt", read_plain, 0}, {"boldsymbol", read_plain, 0},
    {"bm", read_plain, 0}, {"pmb", read_plain, 0}, {"rm", read_plain, 0},
    {"bf", read_plain, 0}, {"text", read_text, 0}, {"textrm", read_text, 0},
    {"textbf", read_text, 0}, {"textit", read_text, 0}, {"textsc", read_text, 0},
    {"textsf", read_text, 0}, {"texttt", read_text, 0}, {"emph", read_text, 0},
    {"mbox", read_text, 0}, {"operatorname", read_operator, 0},
    {"hat", read_accent, 0x302}, {"widehat", read_accent, 0x302},
    {"tilde", read_accent, 0x303}, {"widetilde", read_accent, 0x303},
    {"bar", read_accent, 0x304}, {"overline", read_accent, 0x304},
    {"dot", read_accent, 0x307}, {"ddot", read_accent, 0x308},
    {"check", read_accent, 0x30c}, {"vec", read_accent, 0x20d7}, {"sqrt", read_root, 0},
    {"frac", read_fraction, 0}, {"tfrac", read_fraction, 0},
    {"dfrac", read_fraction, 0}, {"mkern", read_kern, 0}};

static bool append_span(struct math *math, const char *at, const char *end);
static const char *read_command(struct math *math, const char *at);

/* ---- tools ---- */

static bool
is_name(const char *wanted, const char *name, size_t length)
{
	return strlen(wanted) == length && !memcmp(wanted, name, length);
}

static const char *
find_symbol(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		if (is_name(symbols[i].name, name, length))
			return symbols[i].text;
	return tex_find_symbol(name, length);
}

static size_t
alphas_length(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && g_ascii_isalpha(*stop))
		stop++;
	return (size_t)(stop - at);
}

static const char *
skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

/* Whether a text begins with one of these characters. */
static bool
is_in(const char *characters, const char *text)
{
	return *text && g_utf8_strchr(characters, -1, g_utf8_get_char(text));
}

/* Whether a blank is before a sign; the one that ends a command has been skipped. */
static bool
is_after_blank(const struct math *math, const char *at)
{
	return at > math->begin && at[-1] == ' ';
}

static bool
ends_with_blank(const GString *out)
{
	return out->len > 0 && out->str[out->len - 1] == ' ';
}

/* Append a blank, but neither at the beginning nor a second one. */
static void
append_blank(struct math *math)
{
	if (math->out->len && !ends_with_blank(math->out))
		g_string_append_c(math->out, ' ');
}

/* Append a character or more; a word after "log" gets a blank. */
static void
append(struct math *math, const char *text, size_t length)
{
	if (length > 0 && math->out->len == math->operator_end &&
	    g_unichar_isalnum(g_utf8_get_char(text)))
		g_string_append_c(math->out, ' ');
	g_string_append_len(math->out, text, (gssize)length);
}

/* ---- arguments ---- */

/*
 * Convert an argument, which is a group, a character or a command, into a text of its
 * own.  @param text  set, owned by the caller
 */
static const char *
read_argument(const struct math *math, const char *at, char **text)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct math inner = {out, at, math->end, math->depth + 1, G_MAXSIZE};
	const char *next = NULL;

	at = skip_blanks(at, math->end);
	if (at >= math->end || inner.depth > BOUNDS_TEX_DEPTH)
		return NULL;
	if (*at == '{') {
		const char *close = tex_find_closing_brace(at, math->end);

		if (close && append_span(&inner, at + 1, close))
			next = close + 1;
	} else if (*at == '\\') {
		next = read_command(&inner, at);
	} else if (append_span(&inner, at, g_utf8_next_char(at))) {
		next = g_utf8_next_char(at);
	}
	if (next)
		*text = g_string_free(g_steal_pointer(&out), FALSE);
	return next;
}

/* Whether a blank is next to a sign, where it is not needed. */
static bool
is_next_to_sign(const char *text, const char *blank)
{
	const char *last = blank > text ? g_utf8_prev_char(blank) : blank + 1;

	return is_in("+−=", blank + 1) || is_in("+−=", last);
}

bool
tex_math_append_script(GString *out, const char *text, char mark)
{
	const char *const map = mark == '^' ? superscripts : subscripts;
	size_t start = out->len;

	for (const char *at = text; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		const char *pair = map;

		if (c == ' ' && is_next_to_sign(text, at))
			continue;
		while (*pair && g_utf8_get_char(pair) != c)
			pair = g_utf8_next_char(g_utf8_next_char(pair));
		if (!*pair) {
			g_string_truncate(out, start);
			return false;
		}
		g_string_append_unichar(out, g_utf8_get_char(g_utf8_next_char(pair)));
	}
	return out->len > start;
}

/* `at` is the '^' or '_'.  A script of "log" belongs to it. */
static const char *
read_script(struct math *math, const char *at)
{
	g_autofree char *text = NULL;
	const char *next = read_argument(math, at + 1, &text);
	bool is_operator = math->out->len == math->operator_end;

	if (!next || !tex_math_append_script(math->out, text, *at))
		return NULL;
	if (is_operator)
		math->operator_end = math->out->len;
	return next;
}

static const char *
read_group(struct math *math, const char *at)
{
	g_autofree char *text = NULL;
	const char *next;

	/* {\cal O}: the rest of the group is the argument. */
	if (g_str_has_prefix(at, "{\\cal ")) {
		const char *close = tex_find_closing_brace(at, math->end);
		struct math inner = *math;

		if (!close)
			return NULL;
		inner.end = close;
		next = read_alphabet(&inner, at + strlen("{\\cal "), SCRIPT);
		math->operator_end = inner.operator_end;
		return next == close ? close + 1 : NULL;
	}
	next = read_argument(math, at, &text);
	if (next)
		append(math, text, strlen(text));
	return next;
}

/* ---- commands with arguments ---- */

/* \mathcal O: letters of a mathematical alphabet. */
static const char *
read_alphabet(struct math *math, const char *at, gunichar value)
{
	static const struct {
		gunichar reserved, used;
	} exceptions[] = {{0x1d49d, 0x212c}, {0x1d4a0, 0x2130}, {0x1d4a1, 0x2131},
	    {0x1d4a3, 0x210b}, {0x1d4a4, 0x2110}, {0x1d4a7, 0x2112}, {0x1d4a8, 0x2133},
	    {0x1d4ad, 0x211b}, {0x1d53a, 0x2102}, {0x1d53f, 0x210d}, {0x1d545, 0x2115},
	    {0x1d547, 0x2119}, {0x1d548, 0x211a}, {0x1d549, 0x211d}, {0x1d551, 0x2124},
	    {0x1d506, 0x212d}, {0x1d50b, 0x210c}, {0x1d50c, 0x2111}, {0x1d515, 0x211c},
	    {0x1d51d, 0x2128}};
	g_autofree char *text = NULL;
	const char *next = read_argument(math, at, &text);

	if (!next || !*text)
		return NULL;
	for (const char *p = text; *p; p++) {
		gunichar c = value + (gunichar)(*p - 'A');
		char utf8[6];

		if (g_ascii_isdigit(*p) && value == DOUBLE_STRUCK)
			c = 0x1d7d8 + (gunichar)(*p - '0');
		else if (g_ascii_islower(*p) && value != SCRIPT)
			c = value + 26 + (gunichar)(*p - 'a');
		else if (!g_ascii_isupper(*p))
			return NULL;
		for (size_t i = 0; i < G_N_ELEMENTS(exceptions); i++)
			if (exceptions[i].reserved == c)
				c = exceptions[i].used;
		append(math, utf8, (size_t)g_unichar_to_utf8(c, utf8));
	}
	return next;
}

static const char *
read_plain(struct math *math, const char *at, gunichar value)
{
	g_autofree char *text = NULL;
	const char *next = read_argument(math, at, &text);

	(void)value;
	if (next)
		append(math, text, strlen(text));
	return next;
}

/* Text in a formula: blanks and hyphens count. */
static const char *
read_text(struct math *math, const char *at, gunichar value)
{
	const char *close = *at == '{' ? tex_find_closing_brace(at, math->end) : NULL;

	(void)value;
	if (!close)
		return NULL;
	for (const char *p = at + 1; p < close; p++) {
		if (*p == '\\' && strchr("%&#_$", p[1]))
			p++;
		else if (strchr("\\{}$^_~", *p))
			return NULL;
		append(math, p, 1);
	}
	return close + 1;
}

static void
append_operator(struct math *math, const char *name, size_t length)
{
	const GString *out = math->out;
	const char *last = out->len ? g_utf8_prev_char(out->str + out->len) : "";

	if (g_unichar_isalnum(g_utf8_get_char(last)) || is_in(")]", last))
		append_blank(math);
	g_string_append_len(math->out, name, (gssize)length);
	math->operator_end = math->out->len;
}

static const char *
read_operator(struct math *math, const char *at, gunichar value)
{
	g_autofree char *text = NULL;
	const char *next = read_argument(math, *at == '*' ? at + 1 : at, &text);

	(void)value;
	if (next)
		append_operator(math, text, strlen(text));
	return next;
}

/* An accent over one letter. */
static const char *
read_accent(struct math *math, const char *at, gunichar value)
{
	g_autofree char *text = NULL;
	const char *next = read_argument(math, at, &text);
	gunichar base, composed;
	char utf8[12];
	int length;

	if (!next || g_utf8_strlen(text, -1) != 1)
		return NULL;
	base = g_utf8_get_char(text);
	if (!g_unichar_isalpha(base) || base >= 0x2000)
		return NULL;
	if (g_unichar_compose(base, value, &composed)) {
		length = g_unichar_to_utf8(composed, utf8);
	} else {
		length = g_unichar_to_utf8(base, utf8);
		length += g_unichar_to_utf8(value, utf8 + length);
	}
	append(math, utf8, (size_t)length);
	return next;
}

/* A letter or a number: what an operator may stand next to without parentheses. */
static bool
is_single(const char *text)
{
	if (g_ascii_isdigit(*text))
		return text[strspn(text, "0123456789")] == '\0';
	return g_utf8_strlen(text, -1) == 1 && g_unichar_isalpha(g_utf8_get_char(text));
}

/* Whether nothing follows that could be read as a part of what is before. */
static bool
is_delimited(const struct math *math, const char *at)
{
	const char *symbol;

	if (at >= math->end || strchr(" .,;:)]}=+-<>|", *at))
		return true;
	if (*at != '\\')
		return false;
	if (g_str_has_prefix(at, "\\right"))
		return true;
	symbol = find_symbol(at + 1, alphas_length(at + 1, math->end));
	return symbol && *symbol &&
	       (is_in(spaced_symbols, symbol) || is_in(closing_symbols, symbol));
}

/* Whether an operator, an opening parenthesis or nothing precedes. */
static bool
is_operand_next(const GString *out)
{
	const char *at = out->str + out->len;

	while (at > out->str && at[-1] == ' ')
		at--;
	if (at == out->str)
		return true;
	at = g_utf8_prev_char(at);
	return g_unichar_type(g_utf8_get_char(at)) == G_UNICODE_MATH_SYMBOL ||
	       is_in("([{,;:", at);
}

static void
append_operand(struct math *math, const char *text, bool is_bare)
{
	g_string_append_printf(math->out, is_bare ? "%s" : "(%s)", text);
}

static const char *
read_root(struct math *math, const char *at, gunichar value)
{
	g_autofree char *text = NULL;
	const char *sign = "√";
	const char *next;

	(void)value;
	if (*at == '[') {
		if (!g_str_has_prefix(at, "[3]") && !g_str_has_prefix(at, "[4]"))
			return NULL;
		sign = at[1] == '3' ? "∛" : "∜";
		at += strlen("[3]");
	}
	next = read_argument(math, at, &text);
	if (!next || !*text)
		return NULL;
	append(math, sign, strlen(sign));
	append_operand(
	    math, text, is_single(text) && (is_delimited(math, next) || *next == '/'));
	return next;
}

/* A fraction that is not multiplied with anything. */
static const char *
read_fraction(struct math *math, const char *at, gunichar value)
{
	g_autofree char *above = NULL;
	g_autofree char *below = NULL;
	const char *next = read_argument(math, at, &above);

	(void)value;
	if (next)
		next = read_argument(math, next, &below);
	if (!next || !*above || !*below || !is_operand_next(math->out) ||
	    !is_delimited(math, skip_blanks(next, math->end)))
		return NULL;
	append_operand(math, above, is_single(above));
	g_string_append_c(math->out, '/');
	append_operand(math, below, is_single(below));
	return next;
}

/* Skip the length of a kern: "-2mu". */
static const char *
read_kern(struct math *math, const char *at, gunichar value)
{
	(void)value;
	while (at < math->end && strchr("-.0123456789", *at))
		at++;
	return alphas_length(at, math->end) >= 2 ? skip_blanks(at + 2, math->end)
	                                         : NULL;
}

/* ---- commands ---- */

/*
 * Append a symbol whose command, at the backslash `command`, ends at `at`.  The blank
 * that ends a command does not show; so only the one before a relation counts, for both
 * sides: `a \le b` and `a\le b`.
 */
static const char *
append_symbol(struct math *math, const char *text, const char *command, const char *at)
{
	bool is_spaced = is_after_blank(math, command);
	const char *next;

	if (math->end - at >= 2 && at[0] == '{' && at[1] == '}')
		at += 2;
	next = skip_blanks(at, math->end);
	/* The null delimiter, "\right.", does not show. */
	if (!*text)
		return next < math->end && *next == '.' ? next + 1 : next;
	is_spaced = is_in(spaced_symbols, text) &&
	            (is_spaced || (!math->out->len && next > at));
	if (is_spaced)
		append_blank(math);
	if (is_in(closing_symbols, text) && ends_with_blank(math->out))
		g_string_truncate(math->out, math->out->len - 1);
	append(math, text, strlen(text));
	if (is_spaced && next < math->end && !strchr(",.;:)]}", *next))
		append_blank(math);
	return next;
}

static const char *
read_named(struct math *math, const char *name, size_t length)
{
	const char *behind = name + length;
	const char *symbol;

	for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
		if (is_name(operators[i], name, length)) {
			append_operator(math, name, length);
			return skip_blanks(behind, math->end);
		}
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (is_name(commands[i].name, name, length))
			return behind < math->end
			           ? commands[i].read(math, behind, commands[i].value)
			           : NULL;
	symbol = find_symbol(name, length);
	return symbol ? append_symbol(math, symbol, name - 1, behind) : NULL;
}

/* `at` is the backslash. */
static const char *
read_command(struct math *math, const char *at)
{
	const char *name = at + 1;
	size_t length = alphas_length(name, math->end);

	if (length)
		return read_named(math, name, length);
	if (name >= math->end)
		return NULL;
	if (strchr("{}%$#_&", *name))
		append(math, name, 1);
	else if (*name == '|')
		append(math, "‖", strlen("‖"));
	else if (strchr(",;:> ", *name))
		append_blank(math);
	else if (*name != '!')
		return NULL;
	return name + 1;
}

/* ---- formulas ---- */

/* A hyphen between words, as in `top-k`, is not a minus. */
static void
append_minus(struct math *math, const char *at)
{
	const char *word = at;

	while (word > math->begin && g_ascii_isalpha(word[-1]))
		word--;
	if (at - word > 1 || (at > math->begin && alphas_length(at + 1, math->end) > 1))
		g_string_append_c(math->out, '-');
	else
		append(math, "−", strlen("−"));
}

/*
 * Skip blanks, which do not show in TeX: words that they separate were not meant as a
 * formula.  @param is_after_word  whether they follow a letter or digit
 */
static const char *
read_blanks(struct math *math, const char *at, bool is_after_word)
{
	while (at < math->end && (*at == ' ' || *at == '~'))
		at++;
	if (at == math->end)
		return at;
	if (is_after_word && g_ascii_isalnum(*at))
		return NULL;
	append_blank(math);
	return at;
}

/* Read a character that stands for itself. */
static const char *
read_character(struct math *math, const char *at)
{
	const char *next = g_utf8_next_char(at);

	if ((guchar)*at < ' ' || strchr("$}&#@\"`\x7f", *at))
		return NULL;
	if (strchr("=<>+-/|", *at) && is_after_blank(math, at))
		append_blank(math);
	if (*at == '-')
		append_minus(math, at);
	else if (*at == '\'')
		append(math, "′", strlen("′"));
	else
		append(math, at, (size_t)(next - at));
	return next;
}

static bool
append_span(struct math *math, const char *at, const char *end)
{
	const char *word_end = NULL; /* of the last plain letter or digit */

	math->begin = at;
	math->end = end;
	while (at && at < end) {
		bool is_after_word = at == word_end;

		if (*at == ' ' || *at == '~') {
			at = read_blanks(math, at, is_after_word);
		} else if (*at == '\\') {
			at = read_command(math, at);
		} else if (*at == '{' && is_after_word && g_ascii_isalpha(at[-1])) {
			/* An argument whose command is lost: "textbf{X}". */
			at = NULL;
		} else if (*at == '{') {
			at = read_group(math, at);
		} else if (*at == '^' || *at == '_') {
			at = read_script(math, at);
		} else {
			bool is_word = g_ascii_isalnum(*at);

			at = read_character(math, at);
			word_end = is_word ? at : word_end;
		}
	}
	return at != NULL;
}

bool
tex_math_append(GString *out, const char *at, const char *end)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct math math = {text, at, end, 0, G_MAXSIZE};

	while (end > at && end[-1] == ' ')
		end--;
	if (!append_span(&math, skip_blanks(at, end), end))
		return false;
	if (ends_with_blank(text))
		g_string_truncate(text, text->len - 1);
	g_string_append_len(out, text->str, (gssize)text->len);
	return text->len > 0;
}

const char *
tex_math_append_command(GString *out, const char *at, const char *end)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct math math = {text, at, end, 0, G_MAXSIZE};
	const char *next = read_command(&math, at);

	if (next)
		g_string_append_len(out, text->str, (gssize)text->len);
	return next;
}
