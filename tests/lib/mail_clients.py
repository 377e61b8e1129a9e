"""mail_clients.py - which HTML and CSS mail programs support, and what a mail uses.

    for feature in sorted(find_features(html)):
        problem = find_problem(feature)

The data is from https://www.caniemail.com (data: github.com/hteumeuleu/caniemail) with
the month of its last test, and where it has no page, from the sources named below.
"""

import collections
import importlib.util
import re

# Outlook 2007 to 2021 for Windows renders with Word.
CLIENTS = ("Outlook for Windows", "Gmail", "Gmail for Android", "Gmail for iOS",
           "Mail for macOS", "Mail for iOS", "K-9", "Thunderbird")
WORD = "w"  # a feature in a comment that only Word reads

# support: a character for each client: y yes, n no, a in part, u untested.  K-9 shows mail
# in Android's WebView and Thunderbird in Gecko, so u counts as yes for them.
# reason: why a mail may use it although not all programs support it.
Feature = collections.namedtuple("Feature", "source tested support reason", defaults=("",))

GOOGLE = "https://developers.google.com/workspace/gmail/design/css"
MICROSOFT = "https://www.hteumeuleu.com/2020/outlook-rendering-engine/"  # on aa338201
HTML = "HTML 3.2"

ALL = "yyyyyyyy"
# Gmail's apps remove the styles of mail that they fetch from other providers.
APPS = "yyaayyyy"
UNSTYLED = "it is readable without styles"
SPACE = "only the space between parts changes"
DARK = "the light colours remain, or the program makes its own dark ones"

FEATURES = {
    "<!doctype html>": Feature("html-doctype", "2019-07", "nyyyyyun", "no quirk is needed"),
    **dict.fromkeys(("<html>", "<head>", "<meta>", "<title>", "<a>", "<b>", "<i>"),
                    Feature(HTML, "", ALL)),
    "<body>": Feature("html-body", "2021-11", "yaaayyyy", "a div replaces it"),
    "<style>": Feature("html-style", "2019-06", "aaaayyuy", UNSTYLED),
    "<div>": Feature("html-div", "2020-05", "yyyyyyuy"),
    "<p>": Feature("html-p", "2020-05", ALL),
    "<span>": Feature("html-span", "2020-05", ALL),
    **dict.fromkeys(("<h1>", "<h2>", "<h3>"), Feature("html-h1-h6", "2020-05", "yyyyyyuy")),
    # Word shows its text without the background.
    "<mark>": Feature("html-mark", "2024-11", "ayyyyyyu", "a mark only adds to the text"),
    "<pre>": Feature("html-pre", "2023-04", "yyyyyyyy"),
    **dict.fromkeys(("<table>", "<tr>", "<td>", "<tbody>"),
                    Feature("html-table", "2019-09", "yyyyyyuy")),
    **dict.fromkeys(("cellpadding=", "cellspacing="), Feature(HTML, "", ALL)),
    "width=": Feature("html-width", "2019-09", "yyyyyyuy"),
    **dict.fromkeys(("<ol>", "<ul>", "<li>"), Feature(
        "html-lists", "2024-02", "aaaayyyy", "only reversed and value are missing")),
    "class=": Feature("css-selector-class", "2019-10", APPS, UNSTYLED),
    "style=": Feature(GOOGLE, "2026-11", ALL),
    "dir=": Feature("html-dir", "2021-11", "ayyyyyuy", "wrong on links only"),
    "lang=": Feature("html-lang", "2020-10", "yyyyyyuy"),
    "role=": Feature("html-role", "2019-06", "yyyyyyuy"),
    "start=": Feature(HTML, "", ALL),
    "href=https": Feature(HTML, "", ALL),
    "href=http": Feature(HTML, "", ALL),
    "href=mailto": Feature("html-mailto-links", "2021-05", "yyyyyyyy"),
    "charset=": Feature(HTML, "", ALL),
    "name=viewport": Feature(HTML, "", "nnnnyyyy", "only browsers need it"),
    "name=color-scheme": Feature("html-meta-color-scheme", "2023-09", "nnnnynyy", DARK),
    "name=supported-color-schemes": Feature("html-meta-color-scheme", "2023-09",
                                         "nnnnyyun", DARK),
    "selector type": Feature("css-selector-type", "2019-10", "yyaayyuy", UNSTYLED),
    "selector class": Feature("css-selector-class", "2019-10", APPS, UNSTYLED),
    "selector descendant": Feature("css-selector-descendant", "2019-10", "yyaayyuy",
                                UNSTYLED),
    "selector list": Feature("css-selector-grouping", "2019-10", APPS, UNSTYLED),
    "selector :root": Feature("css-color-scheme", "2023-09", "nnnnyyyy", DARK),
    "@media (prefers-color-scheme: dark)": Feature(
        "css-at-media-prefers-color-scheme", "2023-03", "nnnnyyun", DARK),
    "px": Feature("css-unit-px", "2020-02", ALL),
    "em": Feature("css-unit-em", "2020-02", "yyyyyyuy"),
    "%": Feature("css-unit-percent", "2020-02", "yyyyyyuy"),
    "color": Feature(f"{GOOGLE} {MICROSOFT}", "2026-11", ALL),
    "background-color": Feature("css-background-color", "2019-02", ALL),
    "border-color": Feature("css-border", "2021-07", "ayyyyyyy", "headings separate papers"),
    "border-top": Feature("css-border", "2021-07", "ayyyyyyy", "headings separate papers"),
    "color-scheme": Feature("css-color-scheme", "2023-09", "nnnnyyyy", DARK),
    "display:none": Feature("css-display", "2021-12", "ayyyyyuy",
                         "Word hides text by mso-hide"),
    "display:inline-block": Feature("css-display", "2021-12", "nyyyyyuy",
                                 "only the space between links changes"),
    "font": Feature("css-font", "2019-02", "yyaayyuy", UNSTYLED),
    "font-family": Feature("css-font", "2019-02", "yyaayyuy", UNSTYLED),
    "font-size": Feature("css-font-size", "2024-02", "ayyyyyyy", "only rem is missing"),
    "font-weight": Feature("css-font-weight", "2022-06", "ayyyyyyy",
                        "normal and bold are the same everywhere"),
    "line-height": Feature("css-line-height", "2021-10", "ayyyyyuy",
                        "no unit, where Word differs least"),
    "margin": Feature("css-margin", "2019-10", "aaaayyyy", SPACE),
    "margin:auto": Feature("css-margin", "2019-10", "nyyyyyyy", "Word gets a table"),
    "max-height": Feature("css-max-height", "2021-11", "nyyyyyyy",
                       "Word hides text by mso-hide"),
    "max-width": Feature("css-max-width", "2019-08", "nyyyyyuy", "Word gets a table"),
    "overflow": Feature("css-overflow", "2019-02", "nyyyayuy", "Word hides text by mso-hide"),
    "overflow-wrap": Feature("css-overflow-wrap", "2022-08", "nnnnnnyu",
                          "only a very long word is then cut or scrolls"),
    "padding": Feature("css-padding", "2019-07", "ayyyyyyy", SPACE),
    "text-decoration": Feature("css-text-decoration", "2019-02", "ayaayyuy",
                            "one value; without it links are underlined"),
    "width": Feature("css-width", "2022-03", "ayyyyyyy", "Word gets an attribute"),
    "white-space": Feature("css-white-space", "2019-02", "nyaayyuy",
                           "a long line then scrolls"),
    "mso-hide": Feature(MICROSOFT, "2020", "ynnnnnnn", "for Word only"),
}
FEATURES |= {f"{name}-{side}": FEATURES[name] for name in ("margin", "padding")
          for side in ("top", "bottom", "left", "right")}
# In comments for Word.
WORD_FEATURES = {
    "align=": Feature(HTML, "", ALL),
}
VALUES = ("display", "margin")  # whose words are features of their own


def find_missing():
    """Why a mail cannot be parsed here, or None."""
    for module in ("tinycss2", "html5lib"):
        if not importlib.util.find_spec(module):
            return f"python3-{module} is not installed"
    return None


def find_problem(feature):
    """Why a mail should not use a feature, or None."""
    is_word = feature.startswith(WORD + " ")
    name = feature.removeprefix(WORD + " ")
    known = FEATURES.get(name) or (WORD_FEATURES.get(name) if is_word else None)
    if not known:
        return f"{feature} is not in the table of supported features"
    marks = known.support[:1] if is_word else known.support
    lacking = [client for client, mark in zip(CLIENTS, marks) if mark in "na"]
    if lacking and not known.reason:
        return f"{feature} is not supported by {', '.join(lacking)}"
    return None


# ---- what a mail uses ---------------------------------------------------------


def find_features(html):
    """Names of FEATURES for each element, attribute, selector, property and unit.

    Raises AssertionError for HTML or CSS that is not well-formed.
    """
    import html5lib

    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse(html)
    assert not parser.errors, parser.errors
    assert html.lower().startswith("<!doctype html>"), html[:40]
    found = {"<!doctype html>"}
    for element in tree.iter():
        if isinstance(element.tag, str):
            found |= _of_element(element)
        else:
            found |= {f"{WORD} {name}" for name in _of_comment(element.text)}
    return found


def _of_comment(text):
    """Features of a comment that Word reads; its elements may end in another one."""
    inner = re.fullmatch(r"\[if mso\]>(.*)<!\[endif\]", text, re.S)
    assert inner, f"a comment in a mail: {text}"
    found = set()
    for name, attributes in re.findall(r"<([a-z]+)([^>]*)>", inner[1]):
        found.add(f"<{name}>")
        for key, value in re.findall(r'([a-z]+)="([^"]*)"', attributes):
            found |= _of_attribute(key, value)
    for css in re.findall(r"<style>(.*?)</style>", inner[1], re.S):
        found |= of_stylesheet(css)
    return found


def _of_element(element):
    found = {f"<{element.tag}>"}
    for key, value in element.attrib.items():
        if element.tag == "meta" and key in ("name", "content"):
            found |= {f"name={value}"} if key == "name" else set()
        else:
            found |= _of_attribute(key, value)
    if element.tag == "style":
        found |= of_stylesheet(element.text)
    return found


def _of_attribute(key, value):
    if key == "href":
        return {f"href={value.partition(':')[0]}"}
    if key == "style":
        return {"style="} | _of_declarations(value)
    return {f"{key}="}


def of_stylesheet(css):
    import tinycss2

    found = set()
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        assert rule.type in ("qualified-rule", "at-rule"), rule
        if rule.type == "at-rule":
            prelude = tinycss2.serialize(rule.prelude).strip()
            found.add(f"@{rule.at_keyword} {prelude}")
            inner = tinycss2.serialize(rule.content or [])
            assert "@" not in inner, "Gmail removes styles with nested @"
            found |= of_stylesheet(inner)
        else:
            found |= _of_selector(rule.prelude)
            found |= _of_declarations(tinycss2.serialize(rule.content))
    return found


def _of_selector(tokens):
    import tinycss2

    found = set()
    for selector in tinycss2.serialize(tokens).split(","):
        selector = selector.strip()
        parts = re.findall(r"\s*[>+~]\s*|\s+|::?[a-z-]+|\.[a-z0-9-]+|[a-z][a-z0-9]*|.",
                           selector)
        for part in parts:
            if part.isspace():
                found.add("selector descendant")
            elif part[0] == ".":
                found.add("selector class")
            elif part[0].isalpha():
                found.add("selector type")
            else:
                found.add(f"selector {part.strip()}")
    return found | ({"selector list"} if "," in tinycss2.serialize(tokens) else set())


def _of_declarations(css):
    import tinycss2

    found = set()
    for item in tinycss2.parse_declaration_list(css, skip_comments=True,
                                                skip_whitespace=True):
        assert item.type == "declaration", f"{item} in {css}"
        words = {token.value for token in item.value if token.type == "ident"}
        if item.name != "display":
            found.add(item.name)
        if item.name in VALUES:
            found |= {f"{item.name}:{word}" for word in words}
        for token in item.value:
            if token.type == "dimension":
                found.add(token.unit)
            elif token.type == "percentage":
                found.add("%")
            elif token.type == "function":
                found.add(f"{token.name}()")
            if getattr(token, "value", None) == "important" or item.important:
                found.add("!important")
            if token.type in ("dimension", "percentage", "number") and token.value < 0:
                found.add(f"{item.name} below zero")
    return found
