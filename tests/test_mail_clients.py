#!/usr/bin/env python3
"""test_mail_clients.py - digests use what mail programs support, and look right.

Digests of real papers (tests/lib/sample_digests.py), or without real data that of
the day that ships, in Chromium and axe-core.  PAPERBOY_SHOTS=DIRECTORY saves pictures.
PAPERBOY_LONG=1: all in dark colours, else every third.
"""

import colorsys
import os
import re

import lib  # the path
import browser
import mail_clients
import sample_digests
from tap import IS_LONG, Skip, Tap, save, use_debian_python

WIDTHS = (320, 390, 640, 1280)
SHOTS = os.environ.get("PAPERBOY_SHOTS")
STYLE = re.compile(r"<style>(.*?)</style>", re.S)
# Gmail keeps this much; https://github.com/hteumeuleu/email-bugs/issues/90 (2021)
STYLE_CHARS = 8192
# Of 20 papers, at 390 px.
HEIGHT_PX, HTML_BYTES = 6000, 60 * 1024
CLIPPED_BYTES = 102 * 1024  # Gmail shows so much of a mail
CONTRAST = 4.5  # WCAG 2.2, success criterion 1.4.3
# Place of the end of the fourth paper, of a digest with more.
FOUR_PX = 1300
SENTENCE_PX, LINK_PX = 16, 14
# Between the centres of two links; WCAG 2.2, success criterion 2.5.8.
APART_PX = 24


# ---- HTML and CSS -------------------------------------------------------------


def test_features(digests):
    "each element, attribute, selector, property and unit is in the table"
    found = {}
    for digest in digests:
        for feature in mail_clients.find_features(digest.html):
            found.setdefault(feature, digest.sample.name)
    problems = [f"{name}: {problem}" for feature, name in sorted(found.items())
                if (problem := mail_clients.find_problem(feature))]
    assert not problems, "\n".join(problems)
    assert len(found) > 40, found


def test_table():
    "features that some program lacks are found, also in comments for Word"
    page = "<!DOCTYPE html><html><head><title>x</title>{}</head><body>{}</body></html>"
    for head, body, wanted in (
            ("", "<nav>x</nav>", "<nav>"), ("", "<p id='x'>x</p>", "id="),
            ("", "<p style='margin:-1px'>x</p>", "margin below zero"),
            ("<style>p>a{color:red}</style>", "", "selector >"),
            ("<style>p{font-size:1rem}</style>", "", "rem"),
            ("<style>p{display:flex}</style>", "", "display:flex"),
            ("<style>@media print{p{color:red}}</style>", "", "@media print"),
            ("<style>p{color:var(--x)}</style>", "", "var()"),
            ("<!--[if mso]><style>p{float:left}</style><![endif]-->", "", "w float")):
        features = mail_clients.find_features(page.format(head, body))
        problems = [name for name in features if mail_clients.find_problem(name)]
        assert problems == [wanted], (problems, wanted)


def test_word(digests):
    "Word gets the width of each table, and space and lines of table cells only"
    import html5lib

    for digest in digests:
        html = re.sub(r"<!--\[if mso\]>(.*?)<!\[endif\]-->", r"\1", digest.html, flags=re.S)
        tree = html5lib.parse(html, namespaceHTMLElements=False)
        tables = list(tree.iter("table"))
        assert tables, digest.sample.name
        for table in tables:
            assert table.get("width") and table.get("role") == "presentation", table.attrib
        for part in tree.iter():
            # Of the counts it adds to a background that Word has.
            if part.tag not in ("div", "table", "td") and part.get("class") != "counts":
                css = part.get("style", "") + " ".join(
                    re.findall(rf"\.{part.get('class', '-')} {{([^}}]*)}}", digest.html)
                    + re.findall(rf"\n{part.tag} {{([^}}]*)}}", digest.html))
                assert not re.search("padding|border", css), (part.tag, part.attrib, css)
        assert all(cell.get("class") == "paper" for cell in tree.iter("td")
                   if cell.find("p") is not None), digest.sample.name


def test_styles(digests):
    "styles are in the head, few, and nothing is loaded"
    for digest in digests:
        head, _, body = digest.html.partition("</head>")
        sheets = STYLE.findall(re.sub(r"<!--.*?-->", "", head, flags=re.S))
        assert len(sheets) == 1 and "<style" not in body, digest.sample.name
        assert len(sheets[0]) <= STYLE_CHARS, len(sheets[0])
        for sign in ("url(", "@import", "@font-face", "<img", "<link", "src="):
            assert sign not in digest.html, (digest.sample.name, sign)


def luminance(rgb):
    """Relative luminance (WCAG 2.2)."""
    red, green, blue = (value / 12.92 if value <= 0.04045 else
                        ((value + 0.055) / 1.055) ** 2.4 for value in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def read_colour(text):
    digits = text.strip("# ")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return tuple(int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4))


def invert(rgb):
    """The colour in a program that makes its own dark ones."""
    hue, light, saturation = colorsys.rgb_to_hls(*rgb)
    return colorsys.hls_to_rgb(hue, 1 - light, saturation)


# Background of the elements that have one of their own: the selectors of their texts.
BACKS = {"mark": ("mark",), ".counts": (".page",)}


def read_colours(css):
    """{selector: {property: colour}}"""
    found = {}
    for selectors, rules in re.findall(r"([^{}]+){([^{}]*)}", css):
        for selector in selectors.split(","):
            found.setdefault(selector.strip(), {}).update(
                re.findall(r"(?:^|[; \n])(color|background-color): (#\w+)", rules))
    return found


def test_contrast(digests):
    "texts have contrast in both schemes, and in colours inverted by a program"
    sheet = STYLE.search(digests[0].html)[1]
    light, _, dark = sheet.partition("@media (prefers-color-scheme: dark) {")
    for css in (light, light + dark):
        colours = read_colours(css)
        back = colours[".page"]["background-color"]
        pairs = {(rules["color"], back) for selector, rules in colours.items()
                 if "color" in rules and selector not in BACKS}
        pairs |= {(colours[text]["color"], colours[selector]["background-color"])
                  for selector, texts in BACKS.items() for text in texts}
        assert len(pairs) >= 5, pairs
        for text, behind in pairs:
            pair = read_colour(text), read_colour(behind)
            assert contrast(*pair) >= CONTRAST, (text, behind)
            assert contrast(*map(invert, pair)) >= CONTRAST, (text, behind)


# ---- in a browser ---------------------------------------------------------------


def open_digest(chromium, path, html):
    save(path, html)
    chromium.open(f"file://{path}")


def collect(chromium, path, digests, check, change=lambda html: html):
    """check(digest) on each page; fail with all that it returns."""
    found = []
    for digest in digests:
        open_digest(chromium, path, change(digest.html))
        found += [f"{digest.sample.name}: {text}" for text in check(digest)]
    assert not found, "\n".join(found)


def test_accessible(chromium, path, digests, is_dark):
    chromium.set_scheme(is_dark)
    chromium.resize(390)
    rules = browser.COLOURS if is_dark else None
    collect(chromium, path, digests, lambda _: chromium.violations(rules))
    chromium.set_scheme(False)


def check_widths(chromium):
    for width in WIDTHS:
        chromium.resize(width)
        if chromium.overflow() > 0:
            yield f"{chromium.overflow()} px too wide at {width} px"


def test_widths(chromium, path, digests):
    "no digest scrolls sideways at 320, 390, 640 and 1280 px"
    collect(chromium, path, digests, lambda _: check_widths(chromium))


def test_unstyled(chromium, path, digests):
    "without styles a digest is complete, hides the preheader, and fits"
    numbers = re.compile(r"\b\d+\.\s")  # of lists, whose place may change

    def read():
        return numbers.sub("", " ".join(chromium.text.split()))

    def check(digest):
        yield from check_widths(chromium)
        unstyled = read()
        open_digest(chromium, path, digest.html)
        assert read() == unstyled, (read(), unstyled)

    collect(chromium, path, digests, check, lambda html: STYLE.sub("", html))


def test_language(chromium, path, digests):
    "the language is named; one h1, then h2, then h3"

    def check(digest):
        wanted = digest.sample.preferences.get("language", "en")
        if chromium.run_script("return document.documentElement.lang") != wanted:
            yield f"the language is not {wanted}"
        levels = chromium.run_script(
            "return [...document.querySelectorAll('h1,h2,h3,h4')]"
            ".map(heading => Number(heading.tagName[1]))")
        if levels[0] != 1 or levels.count(1) != 1 or any(
                after > before + 1 for before, after in zip(levels, levels[1:])):
            yield f"headings {levels}"

    collect(chromium, path, digests, check)


# Blocks with their direction; for each line of numbers and labels whether its first
# parenthesis or digit is on the left of its last letter, if both are on one line; and
# whether the number of a filter is on the right of its name.
DIRECTIONS = """
function place(node, at) {
  const range = document.createRange();
  range.setStart(node, at); range.setEnd(node, at + 1);
  return range.getBoundingClientRect();
}
const blocks = [...document.querySelectorAll('.paper h2, .paper p:not([class])')].map(
  block => [block.textContent.trim(), getComputedStyle(block).direction]);
const labels = [...document.querySelectorAll('.ai, .meta a')].map(label => {
  const node = label.firstChild;
  const first = place(node, 0), last = place(node, node.data.length - 1);
  return [label.textContent, first.top != last.top || first.left < last.left];
});
const counts = [...document.querySelectorAll('.counts b, .filters b')].map(name => {
  const after = name.nextSibling;
  if (!after || !/\\d/.test(after.data)) return [name.textContent, true];
  const number = place(after, after.data.search(/\\d/));
  const label = name.getBoundingClientRect();
  return [after.data, label.top + label.height < number.top + number.height ||
    label.right <= number.left];
});
return [blocks, labels, counts];
"""
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u07ff]")


def test_directions(chromium, path, digest):
    "right-to-left titles and sentences are; numbers and labels beside them are not"
    chromium.resize(800)
    open_digest(chromium, path, digest.html)
    blocks, labels, numbers = chromium.run_script(DIRECTIONS)
    counts = {"rtl": 0, "ltr": 0}
    for text, direction in blocks:
        first = next((c for c in text if c.isalpha()), "x")
        assert direction == ("rtl" if RIGHT_TO_LEFT.match(first) else "ltr"), text
        counts[direction] += 1
    assert min(counts.values()) >= 3, counts
    wrong = [text for text, is_right in labels + numbers if not is_right]
    assert len(labels) > len(blocks) / 2 and not wrong, wrong


MEASURES = """
const papers = [...document.querySelectorAll('td.paper')];
const size = node => parseFloat(getComputedStyle(node).fontSize);
const links = [...document.querySelectorAll('.meta a, .foot a, .top a')];
const boxes = links.map(link => link.getBoundingClientRect());
let apart = 1000;
boxes.forEach((one, i) => boxes.slice(i + 1).forEach(other => {
  const x = Math.abs(one.left + one.right - other.left - other.right) / 2;
  const y = Math.abs(one.top + one.bottom - other.top - other.bottom) / 2;
  apart = Math.min(apart, Math.max(x, y));
}));
return {
  height: document.documentElement.scrollHeight,
  fourth: papers.length > 4 ? papers[3].getBoundingClientRect().bottom : 0,
  sentence: Math.min(...[...document.querySelectorAll('.paper p:not([class]), .notice, .note')].map(size)),
  link: Math.min(...links.map(size)),
  apart: apart,
};
"""


def test_pictures(tap, chromium, path, digests):
    "20 papers take at most 6,000 px and 60 KB, four 1,300 px; text and links are large"
    problems = []
    for digest in digests:
        name = digest.sample.name
        measures = {}
        open_digest(chromium, path, digest.html)
        for width in WIDTHS[1:]:
            chromium.resize(width)
            measures[width] = chromium.run_script(MEASURES)
            for is_dark in (True, False) if SHOTS else ():
                chromium.set_scheme(is_dark)
                scheme = "dark" if is_dark else "light"
                chromium.save(os.path.join(SHOTS, f"{name}-{width}-{scheme}.png"))
        phone, size = measures[WIDTHS[1]], len(digest.html.encode())
        # Without a font of the script, narrow boxes stand for the characters of links.
        is_apart = phone["apart"] >= APART_PX or name == "chinese"
        limits = {"fourth": phone["fourth"] <= FOUR_PX,
                  "link": phone["link"] >= LINK_PX, "apart": is_apart,
                  "sentence": (phone["sentence"] or SENTENCE_PX) >= SENTENCE_PX,
                  "bytes": size <= CLIPPED_BYTES}
        if digest.sample.count == 20:
            limits |= {"height": phone["height"] <= HEIGHT_PX, "size": size <= HTML_BYTES}
        problems += [f"{name}: {limit}: {phone}" for limit, is_met in limits.items()
                     if not is_met]
        heights = ", ".join(f"{measures[width]['height']} px at {width}"
                            for width in WIDTHS[1:])
        tap.diag(f"{name}: {digest.sample.count} papers, {heights}, the fourth ends at "
                 f"{phone['fourth']:.0f}, HTML {size} bytes, text "
                 f"{len(digest.text.encode())}")
    assert not problems, "\n".join(problems)


# ---- all --------------------------------------------------------------------------


# In which the catalogs are complete, with the links that digests may have.
LANGUAGES = tuple(sample_digests.Sample(
    name, 20, preferences={"language": language, "feedback": "on"}, settings={"max": 8})
    for name, language in (("french", "fr"), ("chinese", "zh")))


def build_all(tap):
    digests = [sample_digests.build_shipped(tap.subdirectory("shipped"))]
    try:
        elements = sample_digests.load_elements()
    except Skip:
        return digests
    for sample in sample_digests.SAMPLES + LANGUAGES:
        digests.append(sample_digests.build(
            sample, tap.subdirectory(sample.name), sample_digests.choose(sample, elements)))
    if SHOTS:
        os.makedirs(SHOTS, exist_ok=True)
        for digest in digests:
            for kind, text in (("html", digest.html), ("txt", digest.text)):
                save(os.path.join(SHOTS, f"{digest.sample.name}.{kind}"), text)
    return digests


def main():
    use_debian_python("selenium")
    with Tap() as tap:
        digests = build_all(tap)
        missing = mail_clients.find_missing()
        if missing:
            tap.skip("the table of supported features", missing)
        else:
            tap.run(test_table)
            tap.run(test_features, digests)
            tap.run(test_word, digests)
        tap.run(test_styles, digests)
        tap.run(test_contrast, digests)
        missing = browser.find_missing()
        if missing:
            tap.skip("digests in Chromium", missing)
            return
        chromium = tap.enter(browser.Browser())
        path = os.path.join(tap.subdirectory("pages"), "digest.html")
        for is_dark in (False, True):
            test_accessible.__doc__ = (
                f"axe-core finds nothing in {'dark' if is_dark else 'light'} digests")
            step = 1 if IS_LONG or not is_dark else 3
            tap.run(test_accessible, chromium, path, digests[::step], is_dark)
        tap.run(test_language, chromium, path, digests)
        tap.run(test_widths, chromium, path, digests)
        tap.run(test_unstyled, chromium, path, digests)
        if len(digests) > 1:
            (scripts,) = [digest for digest in digests if digest.sample.texts]
            tap.run(test_directions, chromium, path, scripts)
            tap.run(test_pictures, tap, chromium, path, digests)
        else:
            tap.skip("heights of digests", "no real data")


if __name__ == "__main__":
    main()
