/*
 * tex.c - TeX markup in titles, names and abstracts: decoded, and shown as plain text.
 */
#include "base/tex.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"

/* ---- commands ---- */

enum tex_kind {
	TEX_UNKNOWN,
	TEX_CHARACTER, /* blanks after it are part of the command */
	TEX_SYMBOL,    /* blanks after it are text */
	TEX_SIGN,      /* a character that TeX reads otherwise without backslash */
	TEX_BLANK,
	TEX_ACCENT,      /* combining mark over a letter of text */
	TEX_STYLE,       /* shows its argument */
	TEX_FONT,        /* changes the font up to the end of the group */
	TEX_MATH_ACCENT, /* combining mark over a letter of a formula */
	TEX_OPERATOR,    /* shows its name, with a blank between it and letters */
	TEX_MAPPED,      /* shows the characters that `map` has for its argument */
	TEX_ROOT,
	TEX_KERN,    /* not shown, nor the length after it */
	TEX_REMOVED, /* not shown, nor its argument and the blank before */
	TEX_SECOND,  /* shows its second argument, or the only one */
	TEX_NOTE,    /* shows its argument in parentheses */
};

/* Each character with its superscript, its subscript, or in another alphabet. */
static const char superscripts[] =
    "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺−⁻=⁼(⁽)⁾aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻ"
    "AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂβᵝγᵞδᵟθᶿφᵠχᵡ∘°**′′†††‡";
static const char subscripts[] =
    "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊−₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛ"
    "tₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ";
static const char script[] = "A𝒜BℬC𝒞D𝒟EℰFℱG𝒢HℋIℐJ𝒥K𝒦LℒMℳN𝒩O𝒪P𝒫Q𝒬RℛS𝒮T𝒯U𝒰V𝒱W𝒲X𝒳Y𝒴Z𝒵";
static const char double_struck[] =
    "A𝔸B𝔹CℂD𝔻E𝔼F𝔽G𝔾HℍI𝕀J𝕁K𝕂L𝕃M𝕄NℕO𝕆PℙQℚRℝS𝕊T𝕋U𝕌V𝕍W𝕎X𝕏Y𝕐Zℤ1𝟙";
static const char fraktur[] = "A𝔄B𝔅CℭD𝔇E𝔈F𝔉G𝔊HℌIℑJ𝔍K𝔎L𝔏M𝔐N𝔑O𝔒P𝔓Q𝔔RℜS𝔖T𝔗U𝔘V𝔙W𝔚X𝔛Y𝔜Zℨ"
                              "a𝔞b𝔟c𝔠d𝔡e𝔢f𝔣g𝔤h𝔥i𝔦j𝔧k𝔨l𝔩m𝔪n𝔫o𝔬p𝔭q𝔮r𝔯s𝔰t𝔱u𝔲v𝔳w𝔴x𝔵y𝔶z𝔷";

/* A row for tex_decode(), too: filters match what it returns, so do not change it. */
#define STORED true
/* A row for tex_display() only. */
#define SHOWN  false

static const struct {
	enum tex_kind kind;
	bool is_stored;
	const char *words; /* `name=text`, or names that are the text */
	const char *map;
} commands[] = {
    {TEX_CHARACTER, STORED,
        "ss=ß o=ø O=Ø l=ł L=Ł ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å i=ı j=ȷ dh=ð DH=Ð th=þ "
        "TH=Þ dj=đ DJ=Đ ng=ŋ NG=Ŋ",
        NULL},
    {TEX_ACCENT, STORED,
        "`=\u0300 '=\u0301 ^=\u0302 ~=\u0303 ==\u0304 u=\u0306 .=\u0307 \"=\u0308 "
        "r=\u030a H=\u030b v=\u030c d=\u0323 c=\u0327 k=\u0328 b=\u0331",
        NULL},
    {TEX_SYMBOL, STORED,
        "alpha=α beta=β gamma=γ delta=δ epsilon=ε varepsilon=ε zeta=ζ eta=η theta=θ "
        "vartheta=θ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ pi=π rho=ρ varrho=ρ sigma=σ "
        "varsigma=ς tau=τ upsilon=υ phi=φ varphi=φ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ "
        "Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω times=× pm=± "
        "mp=∓ cdot=· div=÷ le=≤ leq=≤ ge=≥ geq=≥ ne=≠ neq=≠ ll=≪ gg=≫ sim=∼ approx=≈ "
        "equiv=≡ propto=∝ to=→ rightarrow=→ leftarrow=← leftrightarrow=↔ Rightarrow=⇒ "
        "Leftarrow=⇐ uparrow=↑ downarrow=↓ oplus=⊕ otimes=⊗ circ=∘ star=⋆ bullet=• "
        "infty=∞ partial=∂ nabla=∇ ell=ℓ hbar=ħ aleph=ℵ forall=∀ exists=∃ dagger=† "
        "ddagger=‡ checkmark=✓ dots=… ldots=… cdots=⋯ S=§ P=¶ deg=° degree=° "
        "textdegree=° copyright=© texttrademark=™ textregistered=® pounds=£ euro=€ "
        "textendash=– textemdash=—",
        NULL},
    {TEX_STYLE, STORED,
        "emph text textsc textbf textit texttt textrm textsf textsl textmd textup "
        "textnormal mbox underline mathrm mathbf mathit mathsf mathtt",
        NULL},
    {TEX_FONT, STORED, "it= bf= em= sc= tt= rm= sf= sl=", NULL},
    {TEX_SIGN, STORED, "& % $ # _ { }", NULL},
    {TEX_BLANK, STORED, ", ; :", NULL},
    {TEX_SIGN, SHOWN, "|=‖ !=", NULL},
    {TEX_BLANK, SHOWN, ">", NULL},
    {TEX_KERN, SHOWN, "mkern kern", NULL},
    {TEX_STYLE, SHOWN, "boldsymbol bm pmb operatorname", NULL},
    {TEX_CHARACTER, SHOWN, "allowbreak= nobreak= nolinebreak=", NULL},
    {TEX_SYMBOL, SHOWN,
        "in=∈ notin=∉ ni=∋ subset=⊂ subseteq=⊆ supset=⊃ supseteq=⊇ cup=∪ cap=∩ "
        "setminus=∖ emptyset=∅ varnothing=∅ mapsto=↦ gets=← longrightarrow=⟶ "
        "hookrightarrow=↪ rightsquigarrow=⇝ leadsto=⇝ nearrow=↗ searrow=↘ implies=⟹ "
        "iff=⟺ Leftrightarrow=⇔ wedge=∧ land=∧ vee=∨ lor=∨ neg=¬ lnot=¬ mid=∣ "
        "parallel=∥ perp=⊥ bot=⊥ top=⊤ vdash=⊢ models=⊨ prec=≺ succ=≻ preceq=⪯ "
        "succeq=⪰ leqslant=⩽ geqslant=⩾ lesssim=≲ gtrsim=≳ simeq=≃ cong=≅ asymp=≍ "
        "triangleq=≜ coloneqq=≔ odot=⊙ ominus=⊖ ast=∗ sum=∑ prod=∏ int=∫ Re=ℜ Im=ℑ "
        "prime=′ angle=∠ triangle=△ diamond=⋄ Box=□ square=□ langle=⟨ rangle=⟩ "
        "lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉ vert=| lvert=| rvert=| Vert=‖ lVert=‖ "
        "rVert=‖ lbrace={ rbrace=} colon=: left= right= big= Big= bigl= bigr= Bigl= "
        "Bigr= displaystyle= textstyle= limits= eg=e.g. ie=i.e. etc=etc. vs=vs. cf=cf. "
        "wrt=w.r.t. aka=a.k.a. etal=et\u00a0al. item=• par= newline= noindent= "
        "centering= quad=\u2003 qquad=\u2003",
        NULL},
    {TEX_OPERATOR, SHOWN,
        "arccos arcsin arctan arg cos cosh cot det dim exp gcd hom inf ker lg lim "
        "liminf limsup ln log max min Pr sec sin sinh sup tan tanh",
        NULL},
    {TEX_MATH_ACCENT, SHOWN,
        "hat=\u0302 widehat=\u0302 tilde=\u0303 widetilde=\u0303 bar=\u0304 "
        "overline=\u0304 dot=\u0307 ddot=\u0308 check=\u030c vec=\u20d7",
        NULL},
    {TEX_MAPPED, SHOWN, "mathcal mathscr cal", script},
    {TEX_MAPPED, SHOWN, "mathbb Bbb", double_struck},
    {TEX_MAPPED, SHOWN, "mathfrak", fraktur},
    {TEX_MAPPED, SHOWN, "textsuperscript", superscripts},
    {TEX_MAPPED, SHOWN, "textsubscript", subscripts},
    {TEX_ROOT, SHOWN, "sqrt", NULL},
    {TEX_REMOVED, SHOWN,
        "cite citep citet citealp ref eqref cref label footnotemark vspace hspace "
        "begin end",
        NULL},
    {TEX_SECOND, SHOWN, "href textcolor", NULL},
    {TEX_NOTE, SHOWN, "footnote thanks", NULL},
};

struct command {
	enum tex_kind kind;
	const char *text; /* followed by other commands */
	size_t length;
	const char *map;
	const char *end; /* of the name, in the text that was read */
};

static size_t
alphas_length(const char *at)
{
	return strspn(at, G_CSET_A_2_Z G_CSET_a_2_z);
}

/*
 * Find the command whose backslash is at `at`: letters, or one other character.
 * @return one of kind TEX_UNKNOWN if there is none
 */
static struct command
find_command(const char *at, bool is_stored)
{
	const char *name = at[1] == ' ' ? "," : at + 1;
	size_t letters = alphas_length(name);
	size_t length = letters > 0 ? letters : *name != '\0';
	struct command command = {.kind = TEX_UNKNOWN, .end = at + 1 + length};

	for (size_t i = 0; length > 0 && i < G_N_ELEMENTS(commands); i++) {
		bool is_row = commands[i].is_stored || !is_stored;
		const char *word = is_row ? commands[i].words : NULL;

		while (word && (strncmp(word, name, length) != 0 ||
		                   !strchr("= ", word[length]))) {
			word = strchr(word, ' ');
			word = word ? word + 1 : NULL;
		}
		if (word) {
			command.kind = commands[i].kind;
			command.text = word + (word[length] == '=' ? length + 1 : 0);
			command.length = strcspn(command.text, " ");
			command.map = commands[i].map;
			return command;
		}
	}
	return command;
}

/*
 * A span ends with the text, before a brace or before the delimiter of a formula:
 * blanks and names do not go beyond it.
 */
static const char *
skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* @return the brace that closes the group or argument at `at`, or NULL */
static const char *
find_argument_end(const char *at, const char *end, unsigned depth)
{
	size_t level = 0;

	if (*at != '{' || depth >= BOUNDS_TEX_DEPTH)
		return NULL;
	if ((size_t)(end - at) > BOUNDS_TEX_ARGUMENT_BYTES)
		end = at + BOUNDS_TEX_ARGUMENT_BYTES;
	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '{')
			level++;
		else if (*at == '}' && --level == 0)
			return at;
	}
	return NULL;
}

/*
 * Find the delimiter that closes the formula whose opening one is at `at`, and their
 * size.  @return NULL if it is a price or too long
 */
static const char *
find_formula_end(const char *at, const char *end, size_t *delimiter_bytes)
{
	const char *delimiter = at[1] == '$' ? "$$" : "$";
	const char *text, *close;

	if (*at == '\\')
		delimiter = at[1] == '[' ? "\\]" : "\\)";
	*delimiter_bytes = strlen(delimiter);
	text = close = at + *delimiter_bytes;
	if ((size_t)(end - text) > BOUNDS_TEX_FORMULA_BYTES)
		end = text + BOUNDS_TEX_FORMULA_BYTES;
	while (close < end && strncmp(close, delimiter, *delimiter_bytes) != 0)
		close += *close == '\\' ? 2 : 1;
	if (close + *delimiter_bytes > end)
		return NULL;
	/* A number after it: the first dollar of another price. */
	if (*delimiter_bytes == 1 &&
	    (*text == ' ' || close[-1] == ' ' || g_ascii_isdigit(close[1])))
		return NULL;
	return close;
}

/* ---- stored text ---- */

static void decode_span(GString *out, const char *at, const char *end, unsigned depth);
static const char *convert_formula(
    GString *out, const char *at, const char *end, bool is_stored, unsigned depth);

/* @param may_combine  whether base and mark may stay two characters */
static bool
append_accented(GString *out, gunichar base, gunichar mark, bool may_combine)
{
	gunichar composed;
	bool is_composed = g_unichar_compose(base, mark, &composed);

	if (!is_composed && !may_combine)
		return false;
	g_string_append_unichar(out, is_composed ? composed : base);
	if (!is_composed)
		g_string_append_unichar(out, mark);
	return true;
}

/*
 * Decode an accent whose letter is at `at`: plain, in braces, or a command such as \i.
 * Returns the position after it, or NULL.
 */
static const char *
decode_accent(GString *out, const char *at, const char *mark)
{
	bool is_braced = *at == '{';
	const char *letter = is_braced ? skip_blanks(at + 1) : at;
	const char *next = g_utf8_next_char(letter);
	gunichar base;

	if (*letter == '\\') {
		struct command command = find_command(letter, STORED);

		letter = command.kind == TEX_CHARACTER ? command.text : "";
		next = skip_blanks(command.end);
	}
	base = g_utf8_get_char(letter);
	if (!g_unichar_isalpha(base))
		return NULL;
	/* Accents replace the dot: use the dotted base letter. */
	if (base == 0x131 || base == 0x237)
		base = base == 0x131 ? 'i' : 'j';
	next = is_braced ? skip_blanks(next) : next;
	if (is_braced && *next != '}')
		return NULL;
	/* Without braces, what does not compose is more likely an escaped quote. */
	return append_accented(out, base, g_utf8_get_char(mark), is_braced)
	           ? next + is_braced
	           : NULL;
}

/* Decode `model\'s`: an apostrophe that JSON or Python escaped twice. */
static const char *
decode_contraction(GString *out, const char *at)
{
	static const char *const endings[] = {
	    "s", "t", "m", "d", "ll", "re", "ve", NULL};
	g_autofree char *ending = g_strndup(at, alphas_length(at));
	const char *behind = at + strlen(ending);

	if (out->len == 0 || !g_ascii_isalnum(out->str[out->len - 1]) ||
	    (guchar)*behind >= 0x80 || !g_strv_contains(endings, ending))
		return NULL;
	g_string_append_printf(out, "'%s", ending);
	return behind;
}

static bool
is_character(enum tex_kind kind)
{
	return kind == TEX_CHARACTER || kind == TEX_SYMBOL || kind == TEX_SIGN;
}

static const char *
append_symbol(GString *out, const struct command *symbol)
{
	const char *at = symbol->end;

	g_string_append_len(out, symbol->text, (gssize)symbol->length);
	if (symbol->kind == TEX_SIGN)
		return at;
	if (at[0] == '{' && at[1] == '}')
		return at + 2;
	/* The blank after a symbol (`\times `) is text, unlike in `S\o ren`. */
	return symbol->kind == TEX_SYMBOL ? at : skip_blanks(at);
}

/* Decode the argument of a text command.  Returns the position after it, or NULL. */
static const char *
decode_argument(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *close = find_argument_end(at, end, depth);

	if (!close)
		return NULL;
	decode_span(out, at + 1, close, depth + 1);
	return close + 1;
}

/* Decode a command; `at` is the backslash.  Returns NULL if it is not supported. */
static const char *
decode_command(GString *out, const char *at, const char *end, unsigned depth)
{
	struct command command = find_command(at, STORED);
	const char *next = at[1] == '\'' ? decode_contraction(out, at + 2) : NULL;

	if (next)
		return next;
	if (command.kind == TEX_ACCENT)
		return decode_accent(out,
		    g_ascii_isalpha(at[1]) ? skip_blanks(command.end) : command.end,
		    command.text);
	if (is_character(command.kind))
		return append_symbol(out, &command);
	if (command.kind == TEX_STYLE)
		return decode_argument(out, command.end, end, depth);
	if (command.kind != TEX_BLANK)
		return NULL;
	g_string_append_c(out, ' ');
	return command.end;
}

/* Decode the formula up to `close`.  Returns false if it is not simple enough. */
static bool
decode_formula(GString *out, const char *at, const char *close, unsigned depth)
{
	bool has_symbol = false;

	while (at && at < close) {
		size_t length = strspn(at, "0123456789 .,:;+-=<>/|()%");

		has_symbol = has_symbol || length == 0;
		if (length == 0 && (guchar)*at >= 0x80)
			length = (size_t)(g_utf8_next_char(at) - at);
		g_string_append_len(out, at, (gssize)length);
		if (length > 0) {
			at += length;
		} else if (g_str_has_prefix(at, "^\\circ") ||
		           g_str_has_prefix(at, "^{\\circ}")) {
			g_string_append(out, "°");
			at += strlen(at[1] == '{' ? "^{\\circ}" : "^\\circ");
		} else if (*at == '\\' &&
		           (g_ascii_isalpha(at[1]) || strchr("%&#,;: ", at[1]))) {
			at = decode_command(out, at, close, depth);
		} else {
			at = NULL;
		}
	}
	return at == close && has_symbol;
}

/* Copy an unsupported command with its opening brace. */
static const char *
copy_command(GString *out, const char *at)
{
	const char *behind = at + 1 + alphas_length(at + 1);

	if (*behind == (behind == at + 1 ? '\\' : '{'))
		behind++;
	g_string_append_len(out, at, behind - at);
	return behind;
}

/* Remove the braces of `{\ss}` and `{\it text}`; other groups keep them. */
static const char *
decode_group(GString *out, const char *at, const char *end, unsigned depth)
{
	size_t start = out->len;
	struct command command = {.kind = TEX_UNKNOWN};
	const char *next = NULL;

	g_string_append_c(out, '{');
	if (at[1] != '\\' || depth >= BOUNDS_TEX_DEPTH)
		return at + 1;
	command = find_command(at + 1, STORED);
	if (command.kind == TEX_FONT) {
		next = find_argument_end(at, end, depth);
		if (next)
			decode_span(out, skip_blanks(command.end), next, depth + 1);
	} else {
		next = decode_command(out, at + 1, end, depth + 1);
	}
	if (next && *next == '}')
		g_string_erase(out, (gssize)start, 1);
	return next ? next + (*next == '}') : at + 1;
}

static void
decode_span(GString *out, const char *at, const char *end, unsigned depth)
{
	while (at < end) {
		const char *next = NULL;

		if (*at == '$' || (*at == '\\' && at[1] == '('))
			next = convert_formula(out, at, end, STORED, depth);
		if (next) {
			at = next;
		} else if (*at == '{') {
			at = decode_group(out, at, end, depth);
		} else if (*at == '\\') {
			next = decode_command(out, at, end, depth);
			at = next ? next : copy_command(out, at);
		} else {
			g_string_append_c(out, *at++);
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

/* ---- shown formulas ---- */

static bool show_math(GString *out, const char *at, const char *end, unsigned depth);
static const char *
show_math_command(GString *out, const char *at, const char *end, unsigned depth);

static bool
ends_with_blank(const GString *out)
{
	return out->len > 0 && out->str[out->len - 1] == ' ';
}

/* Append a blank, but neither at the beginning nor a second one. */
static void
append_blank(GString *out)
{
	if (out->len > 0 && !ends_with_blank(out))
		g_string_append_c(out, ' ');
}

/* Separate what follows from a letter, a number or a closing parenthesis. */
static void
append_separator(GString *out)
{
	const char *last = out->len ? g_utf8_prev_char(out->str + out->len) : " ";

	if (g_unichar_isalnum(g_utf8_get_char(last)) || strchr(")]", *last))
		append_blank(out);
}

/* Show an argument: a group, a character or a command.  Returns NULL if it cannot. */
static const char *
show_math_argument(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *next;

	at = skip_blanks(at);
	if (at >= end || depth >= BOUNDS_TEX_DEPTH)
		return NULL;
	if (*at == '\\')
		return show_math_command(out, at, end, depth + 1);
	next = *at == '{' ? find_argument_end(at, end, depth) : g_utf8_next_char(at);
	if (!next || !show_math(out, *at == '{' ? at + 1 : at, next, depth + 1))
		return NULL;
	return next + (*at == '{');
}

/* @return false if a character has no counterpart in the map */
static bool
append_mapped(GString *out, const char *text, const char *map)
{
	for (const char *at = text; *at; at = g_utf8_next_char(at)) {
		const char *pair = map;

		while (*pair && g_utf8_get_char(pair) != g_utf8_get_char(at))
			pair = g_utf8_next_char(g_utf8_next_char(pair));
		if (!*pair)
			return false;
		g_string_append_unichar(out, g_utf8_get_char(g_utf8_next_char(pair)));
	}
	return true;
}

/* Append a root, with parentheses unless it ends where its argument does. */
static void
append_root(GString *out, const char *text, char next)
{
	bool is_single =
	    g_utf8_strlen(text, -1) == 1 || strspn(text, "0123456789") == strlen(text);
	bool is_end = !g_ascii_isalnum(next) && !strchr("\\^_{", next);

	g_string_append_printf(out, is_single && is_end ? "√%s" : "√(%s)", text);
}

/* Show an accent, a root, a script or letters of an alphabet, with the argument. */
static const char *
show_math_macro(
    GString *out, const struct command *command, const char *end, unsigned depth)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const char *next = show_math_argument(text, command->end, end, depth);
	gunichar base = g_utf8_get_char(text->str);
	bool is_shown = true;

	/* "\sqrt[3]{n}" is left; \cal changes the rest of its group. */
	if (!next || text->len == 0 || *command->end == '[' ||
	    (g_str_has_prefix(command->text, "cal") && *next != '}'))
		return NULL;
	if (command->kind == TEX_ROOT)
		append_root(out, text->str, next < end ? *next : ' ');
	else if (command->kind == TEX_MAPPED)
		is_shown = append_mapped(out, text->str, command->map);
	else /* Marks are for letters of alphabets, not for those of formulas. */
		is_shown =
		    g_utf8_strlen(text->str, -1) == 1 && g_unichar_isalpha(base) &&
		    base < 0x2000 &&
		    append_accented(out, base, g_utf8_get_char(command->text), true);
	return is_shown ? next : NULL;
}

/* `at` is the '^' or '_'. */
static const char *
show_script(GString *out, const char *at, const char *end, unsigned depth)
{
	struct command command = {.kind = TEX_MAPPED,
	    .text = "",
	    .map = *at == '^' ? superscripts : subscripts,
	    .end = at + 1};
	const char *number = at + 2;
	size_t digits = strspn(number, "0123456789."), start = out->len;
	const char *next = show_math_macro(out, &command, end, depth);

	/* There is no small full stop: "\pi_{0.5}" is a version and reads as π0.5. */
	if (!next && *at == '_' && at[1] == '{' && digits > 0 &&
	    number[digits] == '}') {
		g_string_truncate(out, start);
		g_string_append_len(out, number, (gssize)digits);
		next = number + digits + 1;
	}
	return next;
}

static const char *
show_math_symbol(GString *out, const struct command *symbol)
{
	char last = symbol->length > 0 ? symbol->text[symbol->length - 1] : '.';
	gunichar first = g_utf8_get_char(symbol->text);
	bool is_opening = g_unichar_type(first) == G_UNICODE_OPEN_PUNCTUATION;
	const char *at;

	/* The blank after "a\leq b" shows; another one on its left does, too. */
	if (*symbol->end == ' ' && last != '.' && symbol->kind != TEX_SIGN &&
	    !g_unichar_isalpha(first) && !is_opening)
		append_separator(out);
	/* Blanks within "\langle x, y \rangle" do not show. */
	if (g_unichar_type(first) == G_UNICODE_CLOSE_PUNCTUATION &&
	    ends_with_blank(out))
		g_string_truncate(out, out->len - 1);
	at = append_symbol(out, symbol);
	if (is_opening)
		at = skip_blanks(at);
	/* The full stop after "\etc" shows once, that of "\right." never. */
	return at + (*at == '.' && last == '.' && symbol->kind == TEX_SYMBOL);
}

static const char *
show_operator(GString *out, const struct command *command)
{
	const char *at = skip_blanks(command->end);

	append_separator(out);
	g_string_append_len(out, command->text, (gssize)command->length);
	if (g_ascii_isalnum(*at) || *at == '\\')
		g_string_append_c(out, ' ');
	return at;
}

/*
 * Show a command with its arguments; `at` is the backslash.  Returns NULL if it is not
 * known or cannot be written as text.
 */
static const char *
show_math_command(GString *out, const char *at, const char *end, unsigned depth)
{
	struct command command = find_command(at, SHOWN);

	if (is_character(command.kind) || command.kind == TEX_FONT)
		return show_math_symbol(out, &command);
	if (command.kind == TEX_OPERATOR)
		return show_operator(out, &command);
	if (command.kind == TEX_STYLE)
		return show_math_argument(out, command.end, end, depth);
	if (command.kind == TEX_MATH_ACCENT || command.kind == TEX_MAPPED ||
	    command.kind == TEX_ROOT)
		return show_math_macro(out, &command, end, depth);
	if (command.kind == TEX_KERN)
		return command.end + strspn(command.end, "-.0123456789mu ");
	if (command.kind != TEX_BLANK)
		return NULL;
	append_blank(out);
	return command.end;
}

/* Show a character that stands for itself. */
static const char *
show_math_character(GString *out, const char *at)
{
	const char *next = g_utf8_next_char(at);
	/* The delimiter of the formula is not a letter. */
	bool is_after_word = g_ascii_isalpha(at[-1]) && g_ascii_isalpha(at[-2]);

	if ((guchar)*at < ' ' || strchr("$}&#@\"`\x7f", *at))
		return NULL;
	/* A hyphen beside a word, as in `top-k`, is not a minus. */
	if (*at == '-' && !is_after_word && alphas_length(next) < 2)
		g_string_append(out, "−");
	else if (*at == '\'')
		g_string_append(out, "′");
	else
		g_string_append_len(out, at, next - at);
	return next;
}

/* Show a part of a formula.  Returns false if it cannot be written as text. */
static bool
show_math(GString *out, const char *at, const char *end, unsigned depth)
{
	const char *word_end = NULL; /* of the last plain letter or digit */

	while (at && at < end) {
		bool is_after_word = at == word_end;

		if (*at == ' ' || *at == '~') {
			at += strspn(at, " ~");
			append_blank(out);
			/* Words that blanks separate were not meant as a formula. */
			if (is_after_word && g_ascii_isalnum(*at))
				at = NULL;
		} else if (*at == '\\') {
			at = show_math_command(out, at, end, depth);
		} else if (*at == '{' && is_after_word && g_ascii_isalpha(at[-1])) {
			/* An argument whose command is lost: "textbf{X}". */
			at = NULL;
		} else if (*at == '{') {
			at = show_math_argument(out, at, end, depth);
		} else if (*at == '^' || *at == '_') {
			at = show_script(out, at, end, depth);
		} else {
			bool is_word = g_ascii_isalnum(*at);

			at = show_math_character(out, at);
			word_end = is_word ? at : word_end;
		}
	}
	return at != NULL;
}

/* Show a formula without the blanks around it. */
static bool
show_formula(GString *out, const char *at, const char *end)
{
	at = skip_blanks(at);
	while (end > at && end[-1] == ' ')
		end--;
	return at < end && show_math(out, at, end, 0);
}

/*
 * Append the formula at `at` as text, or unchanged if it cannot be written so.
 * @return the position after it; NULL if a backslash at `at` does not begin one
 */
static const char *
convert_formula(
    GString *out, const char *at, const char *end, bool is_stored, unsigned depth)
{
	size_t length, start = out->len;
	const char *close = find_formula_end(at, end, &length);
	bool is_converted = false;

	if (!close && *at == '\\')
		return NULL;
	if (close && is_stored)
		is_converted = decode_formula(out, at + length, close, depth);
	else if (close && at[1] != '$') /* two dollars are a price, too */
		is_converted = show_formula(out, at + length, close);
	close = close ? close : at;
	if (!is_converted) {
		g_string_truncate(out, start);
		g_string_append_len(out, at, close + length - at);
	}
	return close + length;
}

/* ---- shown text ---- */

struct display {
	GString *out;
	const char *start; /* of the whole text */
	bool is_quote_open;
};

static void
show_span(struct display *display, const char *at, const char *end, unsigned depth);

/* Skip "*" and "[options]" before an argument, if there is one. */
static const char *
skip_options(const char *at, const char *end)
{
	const char *next = at + (*at == '*');

	while (*next == '[') {
		const char *close = memchr(
		    next, ']', (size_t)MIN(end - next, BOUNDS_TEX_ARGUMENT_BYTES));

		if (!close)
			return at;
		next = close + 1;
	}
	return *next == '{' ? next : at;
}

/* An argument without an end, such as one that was cut, loses its brace only. */
static const char *
show_argument(struct display *display, const char *at, const char *end, unsigned depth)
{
	const char *close = find_argument_end(at, end, depth);

	if (!close)
		return at + (*at == '{');
	show_span(display, at + 1, close, depth + 1);
	return close + 1;
}

static const char *
remove_argument(GString *out, const char *at, const char *close)
{
	at = close ? close + 1 : at + (*at == '{');
	if (ends_with_blank(out) && strchr(" .,;:!?)]}", *at))
		g_string_truncate(out, out->len - 1);
	return at;
}

/* Show a command with an alphabetic name; `at` is the backslash. */
static const char *
show_command(struct display *display, const char *at, const char *end, unsigned depth)
{
	GString *out = display->out;
	size_t start = out->len;
	struct command command = find_command(at, SHOWN);
	const char *argument = skip_options(command.end, end);
	const char *close = find_argument_end(argument, end, depth);
	const char *next;

	if (command.kind == TEX_REMOVED)
		return remove_argument(out, argument, close);
	if (command.kind == TEX_SECOND && close && close[1] == '{')
		return show_argument(display, close + 1, end, depth);
	if (command.kind == TEX_NOTE) {
		g_string_append(out, " (");
		next = show_argument(display, argument, end, depth);
		g_string_append_c(out, ')');
		return next;
	}
	next = show_math_command(out, at, end, depth);
	if (next)
		return next;
	g_string_truncate(out, start);
	/* A command of the authors: its argument, else its name. */
	if (*argument == '{' && argument[1] != '}')
		return show_argument(display, argument, end, depth);
	g_string_append_len(out, at + 1, command.end - at - 1);
	return argument + (*argument == '{' ? 2 : 0);
}

/* Show a command of one character; `at` is the backslash. */
static const char *
show_sign(GString *out, const char *at)
{
	const char *sign = at + 1;

	if (g_ascii_isdigit(*sign)) {
		g_string_append_c(out, '$');
		return sign;
	}
	if (*sign == '\0' || (guchar)*sign >= 0x80)
		return sign;
	if (strchr("\\,;:> ", *sign))
		g_string_append_c(out, ' ');
	/* Kerns, hyphenation and delimiters of formulas do not show. */
	else if (!strchr("!/-@()[]", *sign))
		g_string_append_c(out, *sign);
	return sign + 1;
}

/* Whether "~" is a blank, and not "about" as in "~5", "10x~50x" and "x~N". */
static bool
is_tie(const struct display *display, const char *at)
{
	size_t before = (size_t)(at - display->start);
	char last = before > 0 ? at[-1] : ' ';
	char next = at[1];

	if (next == '\\')
		return true;
	if (!g_ascii_isalnum(next) && !strchr("([{$`'\"", next) && (guchar)next < 0x80)
		return false;
	if (strchr(".)]}", last) ||
	    (before > 1 && g_ascii_isalpha(last) && g_ascii_isalnum(at[-2]) &&
	        !(g_ascii_isdigit(at[-2]) && g_ascii_isdigit(next))))
		return true;
	return !g_ascii_isdigit(next) &&
	       (g_ascii_isdigit(last) || strchr(",;:!?'\"$", last) ||
	           (guchar)last >= 0x80);
}

static const char *
show_hyphens(struct display *display, const char *at)
{
	size_t length = strspn(at, "-");
	char last = at > display->start ? at[-1] : ' ';

	/* Arrows, comments and options are not typography. */
	if (length < 2 || length > 3 || strchr("<!`'\"", last) || at[length] == '>')
		g_string_append_len(display->out, at, (gssize)length);
	else
		g_string_append(display->out, length == 2 ? "–" : "—");
	return at + length;
}

/* Show ``X'' and ''X'', of which either may be closed by one '"'. */
static const char *
show_quotes(struct display *display, const char *at)
{
	const char sign[] = {*at, '\0'};
	size_t length = strspn(at, sign);
	char last = at > display->start ? at[-1] : ' ';
	char next = at[length];
	bool is_pair = length == 2 && *at != '"';
	bool is_opening = is_pair && next != ' ' && next != '\0' &&
	                  (*at == '`' || strchr(" ([", last));
	bool is_closing = display->is_quote_open
	                      ? is_pair || (*at == '"' && length == 1)
	                      : is_pair && !g_ascii_isdigit(last);

	if (is_opening || (is_closing && *at != '`' && last != ' ')) {
		g_string_append(display->out, is_opening ? "“" : "”");
		display->is_quote_open = is_opening;
	} else {
		g_string_append_len(display->out, at, (gssize)length);
	}
	return at + length;
}

/* Show the braces of a group, unless a command begins it: `{\name}`. */
static const char *
show_group(struct display *display, const char *at, const char *end, unsigned depth)
{
	if (at[1] == '\\' && !strchr("{}", at[2]) && find_argument_end(at, end, depth))
		return show_argument(display, at, end, depth);
	g_string_append_c(display->out, '{');
	return at + 1;
}

static bool
is_address(const struct display *display, const char *at)
{
	return (g_str_has_prefix(at, "https://") || g_str_has_prefix(at, "http://")) &&
	       (at == display->start || !g_ascii_isalnum(at[-1]));
}

static void
show_span(struct display *display, const char *at, const char *end, unsigned depth)
{
	bool is_in_address = false; /* of a page: its signs are no typography */

	while (at < end) {
		const char *next = NULL;

		is_in_address = is_in_address ? !strchr(" {}$", *at)
		                              : *at == 'h' && is_address(display, at);
		if (*at == '$' || (*at == '\\' && (at[1] == '(' || at[1] == '[')))
			next = convert_formula(display->out, at, end, SHOWN, 0);
		if (next) {
			at = next;
		} else if (*at == '\\') {
			at = g_ascii_isalpha(at[1])
			         ? show_command(display, at, end, depth)
			         : show_sign(display->out, at);
		} else if (*at == '{') {
			at = show_group(display, at, end, depth);
		} else if (*at == '-' && !is_in_address) {
			at = show_hyphens(display, at);
		} else if (strchr("`'\"", *at) && !is_in_address) {
			at = show_quotes(display, at);
		} else {
			bool is_blank =
			    *at == '~' && !is_in_address && is_tie(display, at);

			g_string_append_c(display->out, is_blank ? ' ' : *at);
			at++;
		}
	}
}

bool
tex_display_is_needed(const char *text)
{
	return strpbrk(text, "\\$~`") || strstr(text, "--") || strstr(text, "''");
}

char *
tex_display(const char *text)
{
	struct display display = {.out = g_string_new(NULL), .start = text};

	show_span(&display, text, text + strlen(text), 0);
	return g_string_free(display.out, FALSE);
}
