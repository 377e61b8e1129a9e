/*
 * tex_display.c - show the TeX that is left in titles, names and abstracts.
 */
#include "base/tex_display.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"
#include "base/tex_math.h"

struct display {
	GString *out;
	const char *start; /* of the whole text */
	bool is_quote_open;
};

enum text_action {
	TEXT_REMOVE, /* with its arguments and the blank before */
	TEXT_SECOND, /* show the second argument, or the only one */
	TEXT_NOTE,   /* show the argument in parentheses */
	TEXT_SUPERSCRIPT,
	TEXT_SUBSCRIPT,
	TEXT_WORD,  /* without arguments */
	TEXT_BREAK, /* where a line may or may not end: not shown */
};

static const struct {
	const char *name;
	enum text_action action;
	const char *word;
} commands[] = {{"cite", TEXT_REMOVE, NULL}, {"citep", TEXT_REMOVE, NULL},
    {"citet", TEXT_REMOVE, NULL}, {"citealp", TEXT_REMOVE, NULL},
    {"ref", TEXT_REMOVE, NULL}, {"eqref", TEXT_REMOVE, NULL},
    {"cref", TEXT_REMOVE, NULL}, {"label", TEXT_REMOVE, NULL},
    {"footnotemark", TEXT_REMOVE, NULL}, {"vspace", TEXT_REMOVE, NULL},
    {"hspace", TEXT_REMOVE, NULL}, {"begin", TEXT_REMOVE, NULL},
    {"end", TEXT_REMOVE, NULL}, {"href", TEXT_SECOND, NULL},
    {"textcolor", TEXT_SECOND, NULL}, {"footnote", TEXT_NOTE, NULL},
    {"thanks", TEXT_NOTE, NULL}, {"textsuperscript", TEXT_SUPERSCRIPT, NULL},
    {"textsubscript", TEXT_SUBSCRIPT, NULL}, {"eg", TEXT_WORD, "e.g."},
    {"ie", TEXT_WORD, "i.e."}, {"etc", TEXT_WORD, "etc."},
    {"etal", TEXT_WORD, "et al."}, {"vs", TEXT_WORD, "vs."}, {"cf", TEXT_WORD, "cf."},
    {"aka", TEXT_WORD, "a.k.a."}, {"wrt", TEXT_WORD, "w.r.t."},
    {"item", TEXT_WORD, "•"}, {"par", TEXT_WORD, ""}, {"newline", TEXT_WORD, " "},
    {"noindent", TEXT_WORD, ""}, {"centering", TEXT_WORD, ""}, {"bf", TEXT_WORD, ""},
    {"em", TEXT_WORD, ""}, {"it", TEXT_WORD, ""}, {"rm", TEXT_WORD, ""},
    {"sc", TEXT_WORD, ""}, {"sf", TEXT_WORD, ""}, {"tt", TEXT_WORD, ""},
    {"allowbreak", TEXT_BREAK, NULL}, {"nobreak", TEXT_BREAK, NULL},
    {"nolinebreak", TEXT_BREAK, NULL}};

static void
append_span(struct display *display, const char *at, const char *end, unsigned depth);

bool
tex_display_is_needed(const char *text)
{
	return strpbrk(text, "\\$~`") || strstr(text, "--") || strstr(text, "''");
}

static size_t
alphas_length(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && g_ascii_isalpha(*stop))
		stop++;
	return (size_t)(stop - at);
}

static size_t
run_length(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && *stop == *at)
		stop++;
	return (size_t)(stop - at);
}

static bool
ends_with_blank(const GString *out)
{
	return out->len > 0 && out->str[out->len - 1] == ' ';
}

/* ---- commands ---- */

/* @return the closing brace of the argument at `at`, or NULL */
static const char *
find_argument_end(const char *at, const char *end, unsigned depth)
{
	if (at >= end || *at != '{' || depth >= BOUNDS_TEX_DEPTH)
		return NULL;
	return tex_find_closing_brace(at, end);
}

/* Skip "*" and "[options]" before an argument, if there is one. */
static const char *
skip_options(const char *at, const char *end)
{
	const char *next = at;

	if (next < end && *next == '*')
		next++;
	while (next < end && *next == '[') {
		const char *close = memchr(
		    next, ']', (size_t)MIN(end - next, BOUNDS_TEX_ARGUMENT_BYTES));

		if (!close)
			return at;
		next = close + 1;
	}
	return next < end && *next == '{' ? next : at;
}

/* Remove the opening brace of an argument that has no end, such as one that was cut. */
static const char *
skip_brace(const char *at, const char *end)
{
	return at < end && *at == '{' ? at + 1 : at;
}

static const char *
append_argument(
    struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *close = find_argument_end(at, end, depth);

	if (!close)
		return skip_brace(at, end);
	append_span(display, at + 1, close, depth + 1);
	return close + 1;
}

static const char *
remove_command(struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *close = find_argument_end(at, end, depth);

	at = close ? close + 1 : skip_brace(at, end);
	if (ends_with_blank(display->out) && (at == end || strchr(" .,;:!?)]", *at)))
		g_string_truncate(display->out, display->out->len - 1);
	return at;
}

static const char *
append_second(struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *close = find_argument_end(at, end, depth);

	if (close && close + 1 < end && close[1] == '{')
		at = close + 1;
	return append_argument(display, at, end, depth);
}

static const char *
append_note(struct display *display, const char *at, const char *end, unsigned depth)
{
	g_string_append(display->out, " (");
	at = append_argument(display, at, end, depth);
	g_string_append_c(display->out, ')');
	return at;
}

static const char *
append_script(
    struct display *display, const char *at, const char *end, unsigned depth, char mark)
{
	g_autofree char *text = NULL;
	size_t start = display->out->len;

	at = append_argument(display, at, end, depth);
	text = g_strdup(display->out->str + start);
	g_string_truncate(display->out, start);
	if (!tex_math_append_script(display->out, text, mark))
		g_string_append(display->out, text);
	return at;
}

/* "etc." before a full stop has only one. */
static const char *
append_word(struct display *display, const char *word, const char *at, const char *end)
{
	g_string_append(display->out, word);
	if (end - at >= 2 && at[0] == '{' && at[1] == '}')
		at += 2;
	return at < end && *at == '.' && g_str_has_suffix(word, ".") ? at + 1 : at;
}

/* TeX skips the blank after a command. */
static const char *
skip_break(const char *at, const char *end)
{
	if (end - at >= 2 && at[0] == '{' && at[1] == '}')
		return at + 2;
	return at < end && *at == ' ' ? at + 1 : at;
}

static const char *
run_command(struct display *display, size_t command, const char *at, const char *end,
    unsigned depth)
{
	switch (commands[command].action) {
	case TEXT_REMOVE:
		return remove_command(display, at, end, depth);
	case TEXT_SECOND:
		return append_second(display, at, end, depth);
	case TEXT_NOTE:
		return append_note(display, at, end, depth);
	case TEXT_SUPERSCRIPT:
		return append_script(display, at, end, depth, '^');
	case TEXT_SUBSCRIPT:
		return append_script(display, at, end, depth, '_');
	case TEXT_WORD:
		return append_word(display, commands[command].word, at, end);
	case TEXT_BREAK:
		return skip_break(at, end);
	}
	g_assert_not_reached();
}

/* A command of the authors: its argument, else its name. */
static const char *
append_unknown(struct display *display, const char *name, size_t length, const char *at,
    const char *end, unsigned depth)
{
	if (at < end && *at == '{' && at + 1 < end && at[1] != '}')
		return append_argument(display, at, end, depth);
	g_string_append_len(display->out, name, (gssize)length);
	return end - at >= 2 && at[0] == '{' ? at + 2 : at;
}

/* Show a command with an alphabetic name; `at` is the backslash. */
static const char *
append_named(struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *name = at + 1;
	size_t length = alphas_length(name, end);
	const char *behind = skip_options(name + length, end);
	const char *next;

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strlen(commands[i].name) == length &&
		    !memcmp(commands[i].name, name, length))
			return run_command(display, i, behind, end, depth);
	next = tex_math_append_command(display->out, at, end);
	if (!next)
		return append_unknown(display, name, length, behind, end, depth);
	/* In text the blank after a command shows. */
	return next[-1] == ' ' && !ends_with_blank(display->out) ? next - 1 : next;
}

/* Show a command of one character; `at` is the backslash. */
static const char *
append_symbol(struct display *display, const char *at, const char *end)
{
	const char *sign = at + 1;

	if (sign == end)
		return end;
	if (g_ascii_isdigit(*sign)) {
		g_string_append_c(display->out, '$');
		return sign;
	}
	if (strchr("\\,;:> ", *sign)) {
		g_string_append_c(display->out, ' ');
		return sign + 1;
	}
	/* Kerns, hyphenation and delimiters of formulas do not show. */
	if (strchr("!/-@()[]", *sign))
		return sign + 1;
	if ((guchar)*sign < 0x80) {
		g_string_append_c(display->out, *sign);
		return sign + 1;
	}
	return sign;
}

/* ---- formulas and typography ---- */

/* Two dollars are a price, too, unless they enclose something of TeX. */
static bool
is_displayed(const char *at, const char *end)
{
	while (at < end && !strchr("\\^_=", *at))
		at++;
	return at < end;
}

/* @return the position after the formula at `at`, or NULL if there is none */
static const char *
append_formula(struct display *display, const char *at, const char *end)
{
	size_t length;
	const char *close = tex_find_formula_end(at, end, &length);

	if (!close)
		return NULL;
	if ((at[1] == '$' && !is_displayed(at, close)) ||
	    !tex_math_append(display->out, at + length, close))
		g_string_append_len(display->out, at, close + length - at);
	return close + length;
}

/* Whether "~" is a blank, and not "about" as in "~5", "10x~50x" and "x~N". */
static bool
is_tie(const struct display *display, const char *at, const char *end)
{
	const char *word = at;
	char last = at > display->start ? at[-1] : ' ';
	char next = at + 1 < end ? at[1] : ' ';

	if (next == '\\')
		return true;
	if (!g_ascii_isalnum(next) && !strchr("([{$`'\"", next) && (guchar)next < 0x80)
		return false;
	while (word > display->start && g_ascii_isalnum(word[-1]))
		word--;
	if (g_ascii_isalpha(last))
		return at - word > 1 &&
		       !(g_ascii_isdigit(*word) && g_ascii_isdigit(next));
	if (strchr(".)]}", last))
		return true;
	return !g_ascii_isdigit(next) &&
	       (g_ascii_isdigit(last) || strchr(",;:!?'\"$", last) ||
	           (guchar)last >= 0x80);
}

static const char *
append_hyphens(struct display *display, const char *at, const char *end)
{
	size_t length = run_length(at, end);
	char last = at > display->start ? at[-1] : ' ';
	const char *dash = length == 2 ? "–" : "—";

	/* Arrows, comments and options are not typography. */
	if (length < 2 || length > 3 || strchr("<!`'\"", last) ||
	    (at + length < end && at[length] == '>'))
		g_string_append_len(display->out, at, (gssize)length);
	else
		g_string_append(display->out, dash);
	return at + length;
}

/* Whether a quotation that begins with '' ends so, too. */
static bool
is_quotation(const char *at, const char *end)
{
	const char *close = g_strstr_len(at, end - at, "''");

	return close > at && close[-1] != ' ' && *at != ' ';
}

static const char *
append_quotes(struct display *display, const char *at, const char *end)
{
	size_t length = run_length(at, end);
	const char *behind = at + length;
	char last = at > display->start ? at[-1] : ' ';
	bool is_opening = *at == '`' ? behind < end && *behind != ' '
	                             : strchr(" ([", last) && is_quotation(behind, end);

	if (*at == '"' && length == 1 && display->is_quote_open && last != ' ') {
		g_string_append(display->out, "”");
		display->is_quote_open = false;
	} else if (*at == '"' || length != 2) {
		g_string_append_len(display->out, at, (gssize)length);
	} else if (is_opening) {
		g_string_append(display->out, "“");
		display->is_quote_open = true;
	} else if (*at == '\'' && last != ' ' &&
	           (display->is_quote_open || !g_ascii_isdigit(last))) {
		g_string_append(display->out, "”");
		display->is_quote_open = false;
	} else {
		g_string_append_len(display->out, at, (gssize)length);
	}
	return behind;
}

/* Show the braces of a group, unless a command begins it: `{\name}`. */
static const char *
append_group(struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *close =
	    at + 1 < end && at[1] == '\\' ? find_argument_end(at, end, depth) : NULL;

	if (!close || (at[2] && strchr("{}", at[2]))) {
		g_string_append_c(display->out, '{');
		return at + 1;
	}
	append_span(display, at + 1, close, depth + 1);
	return close + 1;
}

/* An address may have escaped signs, and commands that let a line end in it. */
static const char *
append_address(struct display *display, const char *at, const char *end)
{
	static const char allowbreak[] = "\\allowbreak";
	size_t length = strlen(allowbreak);

	while (at < end && !strchr(" {}$", *at)) {
		if (*at != '\\')
			g_string_append_c(display->out, *at++);
		else if (end - at >= 2 && strchr("_%&#-/", at[1]))
			at = append_symbol(display, at, end);
		else if ((size_t)(end - at) >= length &&
		         !memcmp(at, allowbreak, length) &&
		         !alphas_length(at + length, end))
			at = skip_break(at + length, end);
		else
			break;
	}
	return at;
}

static bool
is_address(const struct display *display, const char *at)
{
	return (g_str_has_prefix(at, "https://") || g_str_has_prefix(at, "http://")) &&
	       (at == display->start || !g_ascii_isalnum(at[-1]));
}

static void
append_span(struct display *display, const char *at, const char *end, unsigned depth)
{
	while (at < end) {
		const char *next = NULL;

		if (*at == '$' || (*at == '\\' && at + 1 < end && strchr("([", at[1])))
			next = append_formula(display, at, end);
		if (next) {
			at = next;
		} else if (*at == '\\') {
			at = g_ascii_isalpha(at[1])
			         ? append_named(display, at, end, depth)
			         : append_symbol(display, at, end);
		} else if (*at == '{') {
			at = append_group(display, at, end, depth);
		} else if (*at == '-') {
			at = append_hyphens(display, at, end);
		} else if (strchr("`'\"", *at)) {
			at = append_quotes(display, at, end);
		} else if (*at == 'h' && is_address(display, at)) {
			at = append_address(display, at, end);
		} else {
			g_string_append_c(display->out,
			    *at == '~' && is_tie(display, at, end) ? ' ' : *at);
			at++;
		}
	}
}

char *
tex_display_format(const char *text)
{
	struct display display = {.start = text};

	if (!tex_display_is_needed(text))
		return g_strdup(text);
	display.out = g_string_sized_new(strlen(text) + 1);
	append_span(&display, text, text + strlen(text), 0);
	return g_string_free(display.out, FALSE);
}
