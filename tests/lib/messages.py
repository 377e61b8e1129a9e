"""messages.py - check messages against RFC 5322, MIME and the rules for digests.

check(raw) returns problems as texts.  raw is the message on the wire: lines end in
CRLF, dots are unstuffed.
"""

import email
import email.policy
import html.parser
import re

REQUIRED = ("Date", "From", "To", "Subject", "Message-ID", "MIME-Version")
# Additional headers of a digest.
DIGEST = REQUIRED + ("List-Id", "List-Unsubscribe", "Auto-Submitted")
# Headers that occur at most once (RFC 5322 section 3.6, RFC 2045).
SINGLE = (
    "Sender", "Reply-To", "Cc", "Bcc", "In-Reply-To", "References", "Content-Type",
    "Content-Transfer-Encoding", "List-Unsubscribe-Post", "Precedence",
)
MAX_LINE = 998

LINK = re.compile(r"https?://[^\s<>\"]+")
PAPER = re.compile(
    r"https?://(?:[a-z]+\.)?(?:arxiv\.org/(?:abs|pdf|html)/|huggingface\.co/papers/"
    r"|doi\.org/)(?P<id>[^\s?#]+)"
)


def parse(raw):
    """Parse a message; check() reports its `defects`."""
    return email.message_from_bytes(raw, policy=email.policy.default)


def subject(raw):
    """The subject, decoded, on one line."""
    return str(parse(raw)["Subject"] or "")


def text_of(part):
    """Decode a text part; ValueError if it is not valid in its charset."""
    charset = part.get_content_charset() or "us-ascii"
    data = part.get_payload(decode=True)
    try:
        return data.decode(charset).replace("\r\n", "\n")
    except LookupError:
        raise ValueError(f"unknown charset {charset}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not {charset}: {error}") from None


def parts(raw):
    """The decoded bodies (text/plain, text/html); None if missing."""
    message = parse(raw)
    plain = html_part = None
    for part in message.walk():
        if part.get_content_type() == "text/plain" and plain is None:
            plain = text_of(part)
        elif part.get_content_type() == "text/html" and html_part is None:
            html_part = text_of(part)
    return plain, html_part


def links_of_text(text):
    """http(s) links in order, without duplicates and trailing punctuation."""
    found = []
    for link in LINK.findall(text):
        link = link.rstrip(".,;:!?'")
        while link.endswith(")") and link.count("(") < link.count(")"):
            link = link[:-1]
        found.append(link)
    return list(dict.fromkeys(found))


class _Anchors(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.links = []
        self.unread = None  # element whose text is not displayed
        self.is_overview = False  # in one of its titles, which have links in HTML only

    def handle_starttag(self, tag, attributes):
        if tag in ("style", "script", "title"):
            self.unread = tag
        if tag == "p":
            self.is_overview = dict(attributes).get("class") == "best"
        if tag == "a" and not self.is_overview:
            href = dict(attributes).get("href") or ""
            if href.lower().startswith(("http://", "https://")):
                self.links.append(href)

    def handle_endtag(self, tag):
        if tag == self.unread:
            self.unread = None
        if tag == "p":
            self.is_overview = False

    def handle_data(self, data):
        if not self.unread:
            self.links += links_of_text(data)


def links_of_html(text):
    """http(s) targets of <a href> and URLs in visible text, without duplicates.

    Links of titles in the overview are left out: each follows with its paper.

    Mail programs turn a URL in an abstract into a link in both parts.
    """
    anchors = _Anchors()
    anchors.feed(text)
    anchors.close()
    return list(dict.fromkeys(anchors.links))


def paper_links(raw):
    """Links to papers in the text part, in order."""
    plain, _ = parts(raw)
    return [link for link in links_of_text(plain or "") if PAPER.match(link)]


def paper_ids(raw):
    """Ids of these papers without arXiv versions and duplicates."""
    found = []
    for link in paper_links(raw):
        name = PAPER.match(link)["id"].removesuffix(".pdf").rstrip("/")
        found.append(re.sub(r"(?<=\d)v\d+$", "", name))
    return list(dict.fromkeys(found))


# ---- the checks -------------------------------------------------------------


def check_bytes(raw):
    problems = []
    if re.search(rb"(?<!\r)\n", raw):
        problems.append("a line feed without carriage return")
    if re.search(rb"\r(?!\n)", raw):
        problems.append("a carriage return without line feed")
    if not raw.endswith(b"\r\n"):
        problems.append("the last line is not terminated")
    longest = max(len(line) for line in raw.split(b"\r\n"))
    if longest > MAX_LINE:
        problems.append(f"a line of {longest} bytes")
    if any(byte > 0x7F for byte in raw):
        problems.append("not 7-bit")
    if b"\0" in raw:
        problems.append("a NUL")
    if b"\r\n\r\n" not in raw:
        problems.append("no blank line after the header")
    return problems


def check_headers(message, required):
    problems = []
    for name in required:
        count = len(message.get_all(name, []))
        if count != 1:
            problems.append(f"{name}: {count} times")
        elif not str(message[name]).strip():
            problems.append(f"{name}: empty")
    for name in SINGLE:
        if name not in required and len(message.get_all(name, [])) > 1:
            problems.append(f"{name}: more than once")
    for part in message.walk():
        problems += [f"defect: {defect!r}" for defect in part.defects]
        for name, value in part.items():
            problems += [f"{name}: defect {defect!r}" for defect in value.defects]
    message_id = str(message["Message-ID"] or "")
    if not re.fullmatch(r"<[^\s<>@]+@[^\s<>@]+>", message_id.strip()):
        problems.append(f"Message-ID: invalid {message_id!r}")
    if message["Date"] and getattr(message["Date"], "datetime", None) is None:
        problems.append("Date: not a date")
    return problems


def check_alternative(message):
    problems = []
    if message.get_content_type() != "multipart/alternative":
        return [f"{message.get_content_type()}, not multipart/alternative"]
    children = list(message.iter_parts())
    types = [part.get_content_type() for part in children]
    if types != ["text/plain", "text/html"]:
        return [f"parts are {types}, not text then html"]
    texts = []
    for part in children:
        kind = part.get_content_type()
        if (part.get_content_charset() or "") != "utf-8":
            problems.append(f"{kind}: charset {part.get_content_charset()}")
        try:
            texts.append(text_of(part))
        except ValueError as error:
            problems.append(f"{kind}: {error}")
    if len(texts) == 2:
        of_text, of_html = links_of_text(texts[0]), links_of_html(texts[1])
        # The text has one link per paper; the HTML has those to PDF and code, too.
        for link in of_text:
            if link not in of_html:
                problems.append(f"link only in the text: {link}")
        if of_text != [link for link in of_html if link in of_text] and not problems:
            problems.append("the HTML has the links in another order")
        if not texts[0].strip():
            problems.append("text/plain: empty")
    return problems


def check(raw, required=REQUIRED, is_alternative=True):
    """All problems of a message.

    required: headers that occur exactly once (DIGEST for digests);
    is_alternative: False for a reply in plain text.
    """
    problems = check_bytes(raw)
    message = parse(raw)
    problems += check_headers(message, required)
    if is_alternative:
        problems += check_alternative(message)
    return problems
