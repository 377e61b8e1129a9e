/*
 * tex.c - decode TeX markup in titles, names and abstracts.
 */
#include "base/tex.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"

enum tex_kind {
	TEX_CHARACTER, /* letter: following blanks are part of the command */
	TEX_SYMBOL,
};

struct tex_symbol {
	const char *name;
	const char *text; /* UTF-8 */
	enum tex_kind kind;
};

static const struct tex_symbol symbols[] = {
    /* Letters. */
    {"ss", "ß", TEX_CHARACTER},
    {"o", "ø", TEX_CHARACTER},
    {"O", "Ø", TEX_CHARACTER},
    {"l", "ł", TEX_CHARACTER},
    {"L", "Ł", TEX_CHARACTER},
    {"ae", "æ", TEX_CHARACTER},
    {"AE", "Æ", TEX_CHARACTER},
    {"oe", "œ", TEX_CHARACTER},
    {"OE", "Œ", TEX_CHARACTER},
    {"aa", "å", TEX_CHARACTER},
    {"AA", "Å", TEX_CHARACTER},
    {"i", "ı", TEX_CHARACTER},
    {"j", "ȷ", TEX_CHARACTER},
    {"dh", "ð", TEX_CHARACTER},
    {"DH", "Ð", TEX_CHARACTER},
    {"th", "þ", TEX_CHARACTER},
    {"TH", "Þ", TEX_CHARACTER},
    {"dj", "đ", TEX_CHARACTER},
    {"DJ", "Đ", TEX_CHARACTER},
    {"ng", "ŋ", TEX_CHARACTER},
    {"NG", "Ŋ", TEX_CHARACTER},
    /* Greek. */
    {"alpha", "α", TEX_SYMBOL},
    {"beta", "β", TEX_SYMBOL},
    {"gamma", "γ", TEX_SYMBOL},
    {"delta", "δ", TEX_SYMBOL},
    {"epsilon", "ε", TEX_SYMBOL},
    {"varepsilon", "ε", TEX_SYMBOL},
    {"zeta", "ζ", TEX_SYMBOL},
    {"eta", "η", TEX_SYMBOL},
    {"theta", "θ", TEX_SYMBOL},
    {"vartheta", "θ", TEX_SYMBOL},
    {"iota", "ι", TEX_SYMBOL},
    {"kappa", "κ", TEX_SYMBOL},
    {"lambda", "λ", TEX_SYMBOL},
    {"mu", "μ", TEX_SYMBOL},
    {"nu", "ν", TEX_SYMBOL},
    {"xi", "ξ", TEX_SYMBOL},
    {"pi", "π", TEX_SYMBOL},
    {"rho", "ρ", TEX_SYMBOL},
    {"varrho", "ρ", TEX_SYMBOL},
    {"sigma", "σ", TEX_SYMBOL},
    {"varsigma", "ς", TEX_SYMBOL},
    {"tau", "τ", TEX_SYMBOL},
    {"upsilon", "υ", TEX_SYMBOL},
    {"phi", "φ", TEX_SYMBOL},
    {"varphi", "φ", TEX_SYMBOL},
    {"chi", "χ", TEX_SYMBOL},
    {"psi", "ψ", TEX_SYMBOL},
    {"omega", "ω", TEX_SYMBOL},
    {"Gamma", "Γ", TEX_SYMBOL},
    {"Delta", "Δ", TEX_SYMBOL},
    {"Theta", "Θ", TEX_SYMBOL},
    {"Lambda", "Λ", TEX_SYMBOL},
    {"Xi", "Ξ", TEX_SYMBOL},
    {"Pi", "Π", TEX_SYMBOL},
    {"Sigma", "Σ", TEX_SYMBOL},
    {"Upsilon", "Υ", TEX_SYMBOL},
    {"Phi", "Φ", TEX_SYMBOL},
    {"Psi", "Ψ", TEX_SYMBOL},
    {"Omega", "Ω", TEX_SYMBOL},
    /* Relations, operators, arrows. */
    {"times", "×", TEX_SYMBOL},
    {"pm", "±", TEX_SYMBOL},
    {"mp", "∓", TEX_SYMBOL},
    {"cdot", "·", TEX_SYMBOL},
    {"div", "÷", TEX_SYMBOL},
    {"le", "≤", TEX_SYMBOL},
    {"leq", "≤", TEX_SYMBOL},
    {"ge", "≥", TEX_SYMBOL},
    {"geq", "≥", TEX_SYMBOL},
    {"ne", "≠", TEX_SYMBOL},
    {"neq", "≠", TEX_SYMBOL},
    {"ll", "≪", TEX_SYMBOL},
    {"gg", "≫", TEX_SYMBOL},
    {"sim", "∼", TEX_SYMBOL},
    {"approx", "≈", TEX_SYMBOL},
    {"equiv", "≡", TEX_SYMBOL},
    {"propto", "∝", TEX_SYMBOL},
    {"to", "→", TEX_SYMBOL},
    {"rightarrow", "→", TEX_SYMBOL},
    {"leftarrow", "←", TEX_SYMBOL},
    {"leftrightarrow", "↔", TEX_SYMBOL},
    {"Rightarrow", "⇒", TEX_SYMBOL},
    {"Leftarrow", "⇐", TEX_SYMBOL},
    {"uparrow", "↑", TEX_SYMBOL},
    {"downarrow", "↓", TEX_SYMBOL},
    {"oplus", "⊕", TEX_SYMBOL},
    {"otimes", "⊗", TEX_SYMBOL},
    {"circ", "∘", TEX_SYMBOL},
    {"star", "⋆", TEX_SYMBOL},
    {"bullet", "•", TEX_SYMBOL},
    /* Others. */
    {"infty", "∞", TEX_SYMBOL},
    {"partial", "∂", TEX_SYMBOL},
    {"nabla", "∇", TEX_SYMBOL},
    {"ell", "ℓ", TEX_SYMBOL},
    {"hbar", "ħ", TEX_SYMBOL},
    {"aleph", "ℵ", TEX_SYMBOL},
    {"forall", "∀", TEX_SYMBOL},
    {"exists", "∃", TEX_SYMBOL},
    {"dagger", "†", TEX_SYMBOL},
    {"ddagger", "‡", TEX_SYMBOL},
    {"checkmark", "✓", TEX_SYMBOL},
    {"dots", "…", TEX_SYMBOL},
    {"ldots", "…", TEX_SYMBOL},
    {"cdots", "⋯", TEX_SYMBOL},
    {"S", "§", TEX_SYMBOL},
    {"P", "¶", TEX_SYMBOL},
    {"deg", "°", TEX_SYMBOL},
    {"degree", "°", TEX_SYMBOL},
    {"textdegree", "°", TEX_SYMBOL},
    {"copyright", "©", TEX_SYMBOL},
    {"texttrademark", "™", TEX_SYMBOL},
    {"textregistered", "®", TEX_SYMBOL},
    {"pounds", "£", TEX_SYMBOL},
    {"euro", "€", TEX_SYMBOL},
    {"textendash", "–", TEX_SYMBOL},
    {"textemdash", "—", TEX_SYMBOL},
};

static const struct {
	char name;
	gunichar mark;
} accents[] = {
    {'`', 0x300},
    {'\'', 0x301},
    {'^', 0x302},
    {'~', 0x303},
    {'=', 0x304},
    {'u', 0x306},
    {'.', 0x307},
    {'"', 0x308},
    {'r', 0x30a},
    {'H', 0x30b},
    {'v', 0x30c},
    {'d', 0x323},
    {'c', 0x327},
    {'k', 0x328},
    {'b', 0x331},
};

static const char *const text_commands[] = {
    "emph",
    "text",
    "textsc",
    "textbf",
    "textit",
    "texttt",
    "textrm",
    "textsf",
    "textsl",
    "textmd",
    "textup",
    "textnormal",
    "mathrm",
    "mathbf",
    "mathit",
    "mathsf",
    "mathtt",
    "mbox",
    "underline",
};

static const char *const font_switches[] = {
    "it", "bf", "em", "sc", "tt", "rm", "sf", "sl"};

static bool
is_name(const char *wanted, const char *name, size_t length)
{
	return strlen(wanted) == length && !memcmp(wanted, name, length);
}

static const struct tex_symbol *
find_symbol(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		if (is_name(symbols[i].name, name, length))
			return &symbols[i];
	return NULL;
}

const char *
tex_find_symbol(const char *name, size_t length)
{
	const struct tex_symbol *symbol = find_symbol(name, length);

	return symbol ? symbol->text : NULL;
}

static gunichar
find_accent(char name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(accents); i++)
		if (accents[i].name == name)
			return accents[i].mark;
	return 0;
}

static bool
is_text_command(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(text_commands); i++)
		if (is_name(text_commands[i], name, length))
			return true;
	return false;
}

static bool
is_font_switch(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(font_switches); i++)
		if (is_name(font_switches[i], name, length))
			return true;
	return false;
}

static void decode_span(GString *out, const char *at, const char *end, unsigned depth);

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

const char *
tex_find_closing_brace(const char *open, const char *end)
{
	size_t depth = 0;

	if ((size_t)(end - open) > BOUNDS_TEX_ARGUMENT_BYTES)
		end = open + BOUNDS_TEX_ARGUMENT_BYTES;
	for (const char *at = open; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0)
			return at;
	}
	return NULL;
}

/*
 * Read the base letter of an accent at `at`: plain, in braces, or a command such as
 * \i.  Returns the position after it, or NULL.
 */
static const char *
read_base(const char *at, const char *end, gunichar *base, bool *is_braced)
{
	const char *text = at;
	const char *next;

	*is_braced = at < end && *at == '{';
	if (*is_braced)
		text = skip_blanks(at + 1, end);
	if (text >= end)
		return NULL;
	if (*text == '\\') {
		size_t length = alphas_length(text + 1, end);
		const struct tex_symbol *symbol = find_symbol(text + 1, length);

		if (!symbol || symbol->kind != TEX_CHARACTER)
			return NULL;
		*base = g_utf8_get_char(symbol->text);
		next = skip_blanks(text + 1 + length, end);
		/* Accents replace the dot: use the dotted base letter. */
		if (*base == 0x131)
			*base = 'i';
		else if (*base == 0x237)
			*base = 'j';
	} else {
		*base = g_utf8_get_char(text);
		next = g_utf8_next_char(text);
	}
	if (!g_unichar_isalpha(*base))
		return NULL;
	if (!*is_braced)
		return next;
	next = skip_blanks(next, end);
	return next < end && *next == '}' ? next + 1 : NULL;
}

/* `at` is after the accent command.  Returns the position after the letter, or NULL. */
static const char *
decode_accent(GString *out, const char *at, const char *end, gunichar mark)
{
	gunichar base, composed;
	bool is_braced;
	const char *next = read_base(at, end, &base, &is_braced);

	if (!next)
		return NULL;
	if (g_unichar_compose(base, mark, &composed)) {
		g_string_append_unichar(out, composed);
		return next;
	}
	/* Without braces this is more likely an escaped quote than an accent. */
	if (!is_braced)
		return NULL;
	g_string_append_unichar(out, base);
	g_string_append_unichar(out, mark);
	return next;
}

/* Decode `model\'s`: an apostrophe that JSON or Python escaped twice. */
static const char *
decode_contraction(GString *out, const char *at, const char *end)
{
	static const char *const endings[] = {"s", "t", "m", "d", "ll", "re", "ve"};
	size_t length = alphas_length(at, end);

	if (out->len == 0 || !g_ascii_isalnum(out->str[out->len - 1]))
		return NULL;
	if (at + length < end && (guchar)at[length] >= 0x80)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
		if (strlen(endings[i]) == length && !memcmp(at, endings[i], length)) {
			g_string_append_c(out, '\'');
			g_string_append_len(out, at, (gssize)length);
			return at + length;
		}
	return NULL;
}

static const char *
decode_symbol(
    GString *out, const struct tex_symbol *symbol, const char *at, const char *end)
{
	g_string_append(out, symbol->text);
	if (at + 1 < end && at[0] == '{' && at[1] == '}')
		return at + 2;
	/* The blank after a symbol (`\times `) is text, unlike in `S\o ren`. */
	return symbol->kind == TEX_CHARACTER ? skip_blanks(at, end) : at;
}

/* Decode the argument of a text command.  Returns the position after it, or NULL. */
static const char *
decode_argument(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *close;

	if (depth >= BOUNDS_TEX_DEPTH || at >= end || *at != '{')
		return NULL;
	close = tex_find_closing_brace(at, end);
	if (!close)
		return NULL;
	decode_span(out, at + 1, close, depth + 1);
	return close + 1;
}

/* Decode a command with an alphabetic name; `at` is the backslash. */
static const char *
decode_named(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *name = at + 1;
	size_t length = alphas_length(name, end);
	const char *behind = name + length;
	const struct tex_symbol *symbol = find_symbol(name, length);
	gunichar mark = length == 1 ? find_accent(*name) : 0;

	if (mark)
		return decode_accent(out, skip_blanks(behind, end), end, mark);
	if (symbol)
		return decode_symbol(out, symbol, behind, end);
	if (is_text_command(name, length))
		return decode_argument(out, behind, end, depth);
	return NULL;
}

/* Decode the formula up to `close`.  Returns false if it is not simple enough. */
static bool
decode_formula(GString *out, const char *at, const char *close, unsigned depth)
{
	size_t start = out->len;
	bool has_symbol = false;

	while (at < close) {
		const char *next = NULL;

		if (g_str_has_prefix(at, "^\\circ") ||
		    g_str_has_prefix(at, "^{\\circ}")) {
			next = strstr(at, "circ") + (at[1] == '{' ? 5 : 4);
			g_string_append(out, "°");
		} else if (*at == '\\' && at + 1 < close) {
			if (g_ascii_isalpha(at[1]))
				next = decode_named(out, at, close, depth);
			else if (strchr("%&#,;: ", at[1])) {
				g_string_append_c(
				    out, strchr("%&#", at[1]) ? at[1] : ' ');
				next = at + 2;
			}
		} else if ((guchar)*at >= 0x80) {
			next = g_utf8_next_char(at);
			g_string_append_len(out, at, next - at);
		} else if (g_ascii_isdigit(*at) || strchr(" .,:;+-=<>/|()%", *at)) {
			g_string_append_c(out, *at++);
			continue;
		}
		if (!next || next > close) {
			g_string_truncate(out, start);
			return false;
		}
		has_symbol = true;
		at = next;
	}
	if (!has_symbol)
		g_string_truncate(out, start);
	return has_symbol;
}

/* @return the delimiter that closes a formula whose text begins at `at`, or NULL */
static const char *
find_delimiter(const char *at, const char *end, const char *delimiter)
{
	size_t length = strlen(delimiter);

	if ((size_t)(end - at) > BOUNDS_TEX_FORMULA_BYTES)
		end = at + BOUNDS_TEX_FORMULA_BYTES;
	for (; at + length <= end; at++) {
		if (!memcmp(at, delimiter, length))
			return at;
		if (*at == '\\')
			at++;
	}
	return NULL;
}

const char *
tex_find_formula_end(const char *at, const char *end, size_t *delimiter_bytes)
{
	const char *delimiter = "$";
	const char *text, *close, *behind;

	if (*at == '\\')
		delimiter = at[1] == '[' ? "\\]" : "\\)";
	else if (at + 1 < end && at[1] == '$')
		delimiter = "$$";
	*delimiter_bytes = strlen(delimiter);
	text = at + *delimiter_bytes;
	close = find_delimiter(text, end, delimiter);
	if (!close || *delimiter_bytes > 1)
		return close;
	behind = close + 1;
	return close == text || *text == ' ' || close[-1] == ' ' ||
	               (behind < end && g_ascii_isdigit(*behind))
	           ? NULL
	           : close;
}

/* Decode a formula; `at` is the opening delimiter. */
static const char *
decode_math(GString *out, const char *at, const char *end, unsigned depth)
{
	size_t length;
	const char *close = tex_find_formula_end(at, end, &length);
	const char *text = at + length;

	if (!close) {
		g_string_append_len(out, at, (gssize)length);
		return text;
	}
	if (!decode_formula(out, text, close, depth))
		g_string_append_len(out, at, close + length - at);
	return close + length;
}

/* Decode a command; `at` is the backslash.  Returns NULL if it is not supported. */
static const char *
decode_command(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *next = NULL;

	if (at + 1 >= end)
		return NULL;
	if (g_ascii_isalpha(at[1]))
		return decode_named(out, at, end, depth);
	if (strchr("&%$#_{}", at[1])) {
		g_string_append_c(out, at[1]);
		return at + 2;
	}
	if (strchr(",;: ", at[1])) {
		g_string_append_c(out, ' ');
		return at + 2;
	}
	if (at[1] == '(')
		return decode_math(out, at, end, depth);
	if (at[1] == '\'')
		next = decode_contraction(out, at + 2, end);
	if (!next && find_accent(at[1]))
		next = decode_accent(out, at + 2, end, find_accent(at[1]));
	return next;
}

/* Copy an unsupported command with its opening brace. */
static const char *
copy_command(GString *out, const char *at, const char *end)
{
	const char *behind = at + 1 + alphas_length(at + 1, end);

	if (behind == at + 1 && behind < end && *behind == '\\')
		behind++;
	else if (behind > at + 1 && behind < end && *behind == '{')
		behind++;
	g_string_append_len(out, at, behind - at);
	return behind;
}

/* Remove the braces of `{\ss}` and `{\it text}`; other groups keep them. */
static const char *
decode_group(GString *out, const char *at, const char *end, unsigned depth)
{
	size_t start = out->len;
	const char *next = NULL;

	if (at + 1 < end && at[1] == '\\' && depth < BOUNDS_TEX_DEPTH) {
		size_t length = alphas_length(at + 2, end);

		if (is_font_switch(at + 2, length)) {
			const char *close = tex_find_closing_brace(at, end);

			if (close) {
				decode_span(out, skip_blanks(at + 2 + length, close),
				    close, depth + 1);
				return close + 1;
			}
		} else {
			g_string_append_c(out, '{');
			next = decode_command(out, at + 1, end, depth + 1);
			if (next && next < end && *next == '}') {
				g_string_erase(out, (gssize)start, 1);
				return next + 1;
			}
			if (next)
				return next;
			g_string_truncate(out, start);
		}
	}
	g_string_append_c(out, '{');
	return at + 1;
}

static void
decode_span(GString *out, const char *at, const char *end, unsigned depth)
{
	while (at < end) {
		const char *next = at;

		if (*at == '$') {
			at = decode_math(out, at, end, depth);
		} else if (*at == '{') {
			at = decode_group(out, at, end, depth);
		} else if (*at == '\\') {
			next = decode_command(out, at, end, depth);
			at = next ? next : copy_command(out, at, end);
		} else {
			while (next < end && !strchr("$\\{", *next))
				next++;
			g_string_append_len(out, at, next - at);
			at = next;
		}
	}
}

char *
tex_decode(const char *text)
{
	size_t length = strlen(text);
	GString *out = g_string_sized_new(length + 1);

	decode_span(out, text, text + length, 0);
	return g_string_free(out, FALSE);
}
