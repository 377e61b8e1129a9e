/*
 * tex_tables.c - the names of TeX's accents, letters, symbols and text commands.
 */
#include "base/tex_tables.h"

#include <string.h>

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

const struct tex_symbol *
tex_find_symbol(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		if (is_name(symbols[i].name, name, length))
			return &symbols[i];
	return NULL;
}

gunichar
tex_find_accent(char name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(accents); i++)
		if (accents[i].name == name)
			return accents[i].mark;
	return 0;
}

bool
tex_is_text_command(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(text_commands); i++)
		if (is_name(text_commands[i], name, length))
			return true;
	return false;
}

bool
tex_is_font_switch(const char *name, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(font_switches); i++)
		if (is_name(font_switches[i], name, length))
			return true;
	return false;
}
