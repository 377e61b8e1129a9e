r"""normalize.py - normalise text as the program does when it stores a paper.

TeX accents and symbols become characters, font commands are stripped (\emph{X} becomes
X), then NFC, then white space is collapsed.  Other commands are left alone.
"""

import re
import unicodedata

# Combining characters of TeX accents.
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    "u": "\u0306", ".": "\u0307", '"': "\u0308", "r": "\u030a", "H": "\u030b",
    "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328", "b": "\u0331",
}

SYMBOLS = {
    # letters of names
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ",
    "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    # Greek
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ",
    "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "varsigma": "ς", "tau": "τ",
    "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω",
    # signs
    "times": "×", "pm": "±", "cdot": "⋅", "infty": "∞", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈", "sim": "∼", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "ell": "ℓ", "ldots": "…", "dots": "…",
    "deg": "°",
}

TEXT_COMMANDS = """emph text textsc textbf textit texttt textrm textsf textsl textmd
    textup textnormal mathrm mathbf mathit mathsf mathtt mbox underline""".split()
FONTS = "it bf em sc tt rm sf sl".split()

_BASE = r"(?:\\([ij])(?![A-Za-z])|([^\W\d_]))"
# \'e \'{e} \'\i \'{\i}; accents that are letters (\v z) need a blank or a brace.
_SIGN_ACCENT = re.compile(
    r"""\\([`'^~=."])\s*(?:[{\x01]\s*%s\s*\}|%s)""" % (_BASE, _BASE)
)
_NAMED_ACCENT = re.compile(
    r"\\([urHvdckb])(?:\s*[{\x01]\s*%s\s*\}|\s+%s|(?=\\)%s)" % (_BASE, _BASE, _BASE)
)
_SYMBOL = re.compile(r"\\([A-Za-z]+)(?:\{\}|\s+(?=[^\W\d_])|)")
_ESCAPED = re.compile(r"\\([&%_#])")
_BLANK = re.compile(r"\\[,;: ]")
# model\'s: an escaped apostrophe, not an accent.
_CONTRACTION = re.compile(r"(?<=[A-Za-z0-9])\\'(?=(?:s|t|m|d|ll|re|ve)(?![^\W\d_]))")
_TEXT = re.compile(r"\\(?:%s)\{([^{}]*)\}" % "|".join(TEXT_COMMANDS))
_FONT = re.compile(r"\{\\(?:%s)(?![A-Za-z]) *([^{}]*)\}" % "|".join(FONTS))
# A group around one command, {\"o} or {\ss}; \x01 replaces its brace for now.
_OPEN = re.compile(r"\{(?=\\)")
_GROUP = re.compile("\x01([^\\s{}\\\\])\\}")
# As in Pandoc: "$5 and $6" is money, not mathematics.
_MATH = re.compile(r"(?<![\\$])\$(?![\s$])([^$]*?)(?<![\s\\])\$(?!\d|\$)")


def _accent(match):
    base = next(group for group in match.groups()[1:] if group)
    return unicodedata.normalize("NFC", base + ACCENTS[match.group(1)])


def _symbol(match):
    name = match.group(1)
    return SYMBOLS.get(name, match.group(0))


def _math(match):
    inside = match.group(1)
    return match.group(0) if re.search(r"[\\{}]", inside) else inside


def decode_tex(text):
    """Replace accents and symbols; unknown commands are left alone."""
    if "\\" not in text and "$" not in text:
        return text
    text = _CONTRACTION.sub("'", text)
    for pattern in (_TEXT, _FONT):
        count = 1
        while count:
            text, count = pattern.subn(r"\1", text)
    text = _OPEN.sub("\x01", text)
    text = _SIGN_ACCENT.sub(_accent, text)
    text = _NAMED_ACCENT.sub(_accent, text)
    text = _SYMBOL.sub(_symbol, text)
    text = _ESCAPED.sub(r"\1", text)
    text = _BLANK.sub(" ", text)
    text = _GROUP.sub(r"\1", text).replace("\x01", "{")
    return _MATH.sub(_math, text)


def normalize(text):
    """Decode TeX; NFC; one line with single blanks and no control characters."""
    text = unicodedata.normalize("NFC", decode_tex(text))
    text = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return " ".join(text.split())
