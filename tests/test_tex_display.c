/*
 * test_tex_display.c - TeX that is left in stored text, as people see it.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"
#include "base/text.h"
#include "lib/unit.h"
#include "message/sanitize.h"

struct row {
	const char *in;
	const char *out; /* NULL: unchanged */
};

static void
check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		g_autofree char *shown = tex_display(rows[i].in);

		g_test_message("%s", rows[i].in);
		g_assert_cmpstr(shown, ==, rows[i].out ? rows[i].out : rows[i].in);
	}
}

TEST(formulas_become_unicode)
{
	static const struct row rows[] = {
	    {"in $\\mathcal{O}(n \\log n)$ time", "in 𝒪(n log n) time"},
	    {"$O(n\\log^2 n)$, $n\\log\\log n$, $\\log(n)$",
	        "O(n log² n), n log log n, log(n)"},
	    {"$x^2$ $x_i^{2}$ $2^{n-1}$ $x_{\\text{max}}$", "x² xᵢ² 2ⁿ⁻¹ xₘₐₓ"},
	    {"H$_2$O, F$_1$, $1^{st}$, $10^{-3}$, $\\pi^*$, $A^T$",
	        "H₂O, F₁, 1ˢᵗ, 10⁻³, π*, Aᵀ"},
	    {"$\\mathbb{R}^d$ $\\mathbb Z$ $\\mathbb{1}$ $\\mathfrak{g}$ ${\\cal L}_1$",
	        "ℝᵈ ℤ 𝟙 𝔤 ℒ₁"},
	    {"$\\mathcal{ELH}$, $\\mathcal{E\\mkern-2mu L}$, $\\text{if }x$",
	        "ℰℒℋ, ℰℒ, if x"},
	    {"$\\alpha_1$ $\\lambda = 5 n$", "α₁ $\\lambda = 5 n$"},
	    {"$a \\leq b$, $a\\leq b$, $\\leq b$, $x \\in \\mathbb{R}$",
	        "a ≤ b, a ≤ b, ≤ b, x ∈ ℝ"},
	    {"$2\\pi r$, $a\\leq b$, $x^2\\cdot y$, $a\\le\\infty$",
	        "2π r, a ≤ b, x² · y, a≤∞"},
	    {"$\\lambda = n$ $1, \\dots, n$ $\\varepsilon \\sim 1/T$",
	        "λ = n 1, …, n ε ∼ 1/T"},
	    {"$\\sqrt{n}$ $\\sqrt 2$ $\\sqrt{n+1}$ $\\sqrt{k}n$ $\\sqrt{10}/\\log m$",
	        "√n √2 √(n+1) √(k)n √10/log m"},
	    {"$\\tilde{O}(\\sqrt{T})$ $\\hat\\theta$ $\\bar{x}$",
	        "Õ(√T) θ\u0302 x\u0304"},
	    {"$\\{0,1\\}^n$ $f\\langle x, y \\rangle + \\lfloor x\\rfloor n$ "
	     "$\\|x\\|_2$ $f'(x)$ "
	     "$\\left.x\\right.$",
	        "{0,1}ⁿ f⟨x, y⟩ + ⌊x⌋ n ‖x‖₂ f′(x) x"},
	    {"$\\sum_{i=1}^n x_i$ $\\arg\\max_x f$ $\\operatorname{poly}(n)$",
	        "∑ᵢ₌₁ⁿ xᵢ arg maxₓ f poly(n)"},
	    {"$\\mathrm{SL}_2(\\mathbb{Z})$ $\\mathbf{x}\\!\\times\\!\\bm{y}$",
	        "SL₂(ℤ) x×y"},
	    {"$k$-NN, $10{,}000$, $top-k$, $k-means$, $n-1$, $10\\% n$",
	        "k-NN, 10,000, top-k, k-means, n−1, 10% n"},
	    {"\\( O(n^2) \\) and \\[x^2\\]", "O(n²) and x²"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(formulas_are_converted_whole_or_not_at_all)
{
	static const struct row rows[] = {
	    {"$x^{2/3}$ $x_{i,j}$ $T_c$ $2^{2^n}$ $\\mathbb{R}^{n \\times d}$", NULL},
	    {"$\\alpha + x^{2/3}$, $\\frac{1}{2}$, ${\\cal LH}$, $$x^2$$", NULL},
	    {"$\\unknown{x}$, $\\hat{xy}$, $\\mathcal{o}$, $\\sqrt[n]{x}$", NULL},
	    {"\\( L_{1,2}-norm \\)", NULL},
	    {"$textbf{a} and textbf{b}$, $textbf{a}$, $\\hat{\\mathcal{O}}$", NULL},
	    {"$a & b$, $\\\\$, $x^$, $\\sqrt$, $x}$, $a_{$", NULL},
	    {"-- $x^{2/3}--\\cite{x}~y$ --", "– $x^{2/3}--\\cite{x}~y$ –"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(prices_are_not_formulas)
{
	static const struct row rows[] = {
	    {"$5 and $10", NULL},
	    {"from $5-$10 to US$44, $1,487 for A, $1,631 for B", NULL},
	    {"$100K and US$ more, 5$ and 6$ each", NULL},
	    {"$ x $, $x $, $ x$, $$, $$ and $open", NULL},
	    {"cheap ($$) or not ($$$)", NULL},
	    {"$$ to $$$ a person", NULL},
	    {"$62.40$ and $+1.07$", "62.40 and +1.07"},
	    {"valued at \\1 million", "valued at $1 million"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(commands_in_text_become_text)
{
	static const struct row rows[] = {
	    {"as in \\cite{a,b}, and~\\citep[see][p. 5]{c}.", "as in, and."},
	    {"at \\url{https://a.io/x_y--z/~me}.", "at https://a.io/x_y--z/~me."},
	    {"at \\url{https://a.io/\\allowbreak b--c\\allowbreak{}/d\\_e--f}.",
	        "at https://a.io/b--c/d_e--f."},
	    {"https://a.io/\\allowbreak ~b--c", "https://a.io/~b--c"},
	    {"one\\allowbreak two\\nobreak-three", "onetwo-three"},
	    {"https://a.io/b\\allowbreaks", "https://a.io/ballowbreaks"},
	    {"at~\\href{https://a.io}{our {\\em site}}", "at our site"},
	    {"\\href{https://a.io{b}, c", "https://a.io{b}, c"},
	    {"data\\footnote{https://a.io/.} here", "data (https://a.io/.) here"},
	    {"(\\eg, this), \\ie that, \\etc. \\etc{} x \\etal. y",
	        "(e.g., this), i.e. that, etc. etc. x et\u00a0al. y"},
	    {"\\ours{} beats \\method-like {\\name}, \\LaTeX",
	        "ours beats method-like name, LaTeX"},
	    {"E\\textsuperscript{2}R, H\\textsubscript{2}O, X\\textsuperscript{®}",
	        "E²R, H₂O, X®"},
	    {"\\textcolor{red}{new} \\hl{old} \\foo[a]{b}", "new old b"},
	    {"x \\in X, \\mathcal{O}(n), \\log n", "x ∈ X, 𝒪(n), log n"},
	    {"a \\\\ b\\!c \\\"q\\\" \\) \\", "a   bc \"q\"  "},
	    {"\\textbf{open \\cite{open", "open open"},
	    {"{a, b} and {\\emph{c}}, \\bf{}d.\\par e", "{a, b} and c, d. e"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(typography_is_converted)
{
	static const struct row rows[] = {
	    {"models~(LLMs), Fig.~3, Track~1, at~https://a.io, 2)~then, 10~km",
	        "models (LLMs), Fig. 3, Track 1, at https://a.io, 2) then, 10 km"},
	    {"~5, 10x ~ 50x, 10x~50x, 12~20%, 75%~89%, x~N(0,1), a/~me", NULL},
	    {"GPT4o~paper, 4x~the, in~10, x~y", "GPT4o paper, 4x the, in 10, x~y"},
	    {"1--5, a -- b, a---b", "1–5, a – b, a—b"},
	    {"A-->B, <-- x, <!-- y -->, a----b, `--flag', https://a--b.io/c--d", NULL},
	    {"``a'' ''b'' (''c''), ``c\" and \"d\"", "“a” “b” (“c”), “c” and \"d\""},
	    {"5'' wide, x '' y, '''code''', ```code```, it's", NULL},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

/* @return the text that a number of nested groups leaves */
static char *
format_nested(unsigned depth, const char *command)
{
	g_autoptr(GString) text = g_string_new("$");

	for (unsigned i = 0; i < depth; i++)
		g_string_append(text, command);
	g_string_append_c(text, 'x');
	for (unsigned i = 0; i < depth; i++)
		g_string_append_c(text, '}');
	g_string_append_c(text, '$');
	return tex_display(text->str);
}

TEST(limits_hold)
{
	g_autofree char *at = format_nested(BOUNDS_TEX_DEPTH, "{");
	g_autofree char *over = format_nested(BOUNDS_TEX_DEPTH + 1, "{");
	g_autofree char *body = g_strnfill(BOUNDS_TEX_FORMULA_BYTES - 1, 'x');
	g_autofree char *longest = g_strdup_printf("$%s$", body);
	g_autofree char *longer = g_strdup_printf("$%sx$", body);
	g_autofree char *shown = tex_display(longest);
	g_autofree char *unchanged = tex_display(longer);
	g_autofree char *words = g_strnfill(BOUNDS_TEX_ARGUMENT_BYTES - 2, 'x');
	g_autofree char *cite = g_strdup_printf("a \\cite{%s}", words);
	g_autofree char *long_cite = g_strdup_printf("a \\cite{%sx}", words);
	g_autofree char *removed = tex_display(cite);
	g_autofree char *stays = tex_display(long_cite);

	g_assert_cmpstr(at, ==, "x");
	g_assert_cmpstr(over, ==, "${{{{{{{{{x}}}}}}}}}$");
	g_assert_cmpstr(shown, ==, body);
	g_assert_cmpstr(unchanged, ==, longer);
	g_assert_cmpstr(removed, ==, "a");
	g_assert_cmpuint(strlen(stays), ==, strlen(long_cite) - strlen(" \\cite"));
}

TEST(hostile_tex_is_survived)
{
	static const char *const pieces[] = {"\\a{", "{\\a ", "\\cite{", "$\\sqrt{",
	    "$x^{", "\\(", "\\[", "$", "\\", "{", "~\\", "``", "''", "---",
	    "\\frac{1}{", "$\\frac", "\\textsuperscript{", "\\footnote{", "\\foo[",
	    "https://"};

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autofree char *shown = NULL;

		while (text->len < BOUNDS_PAPER_ABSTRACT_BYTES)
			g_string_append(text, pieces[i]);
		shown = tex_display(text->str);
		g_assert_true(g_utf8_validate(shown, -1, NULL));
		/* A formula that is left may have one. */
		if (!strchr(pieces[i], '$'))
			g_assert_null(strchr(shown, '\\'));
	}
}

TEST(any_text_is_shown_without_backslash)
{
	static const char *const alphabet[] = {"\\", "{", "}", "[", "]", "^", "_", "~",
	    "-", "'", "`", "\"", " ", "x", "1", "é", "α", "cite", "sqrt", "frac", "log",
	    "left", "mathcal", "hat", "in", "text", "foo", "https://", "(", ")", ".",
	    "%"};
	g_autoptr(GRand) random = g_rand_new_with_seed(5);

	for (unsigned round = 0; round < 20000; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GString) formula = g_string_new(NULL);
		g_autofree char *shown = NULL;
		g_autofree char *shown_formula = NULL;

		for (int i = g_rand_int_range(random, 0, 20); i > 0; i--)
			g_string_append(text, alphabet[g_rand_int_range(
			                          random, 0, G_N_ELEMENTS(alphabet))]);
		g_string_printf(formula, "a $%s$ b", text->str);
		shown = tex_display(text->str);
		shown_formula = tex_display(formula->str);
		g_test_message("%s", text->str);
		g_assert_true(g_utf8_validate(shown, -1, NULL));
		g_assert_true(g_utf8_validate(shown_formula, -1, NULL));
		if (!strstr(text->str, "\\(") && !strstr(text->str, "\\["))
			g_assert_null(strchr(shown, '\\'));
		if (!strchr(shown_formula, '$'))
			g_assert_null(strchr(shown_formula, '\\'));
	}
}

TEST(stored_text_is_unchanged)
{
	static const char text[] =
	    "the $\\mathcal{O}(n)$ \\method~(X) \\cite{a} -- ``b''";
	g_autofree char *stored =
	    text_normalize(text, strlen(text), BOUNDS_PAPER_TITLE_BYTES);

	g_assert_cmpstr(stored, ==, text);
}

TEST(shown_text_is_one_clean_line)
{
	const struct {
		const char *in;
		size_t limit_chars;
		const char *out;
	} rows[] = {
	    {NULL, 0, ""},
	    {"plain \n text", 0, "plain text"},
	    {"a \\cite{b} \\cite{c} $x^2$", 0, "a x²"},
	    {"\xff$x^2$", 0, "\ufffdx²"},
	    {"$x^2$ is the square of it", 10, "x² is the…"},
	    {"$O(n)$ is fast", 12, "O(n) is fast"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *shown =
		    sanitize_paper_text(rows[i].in, rows[i].limit_chars);

		g_assert_cmpstr(shown, ==, rows[i].out);
	}
}

UNIT_MAIN
