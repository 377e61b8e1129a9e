"""sample_mail.py - made-up messages of all kinds, by people and programs.

    for number, raw in enumerate(sample_mails(200)):
        ...

Each has a Message-ID of its own, CRLF line ends, and no line longer than mail servers preserve.
"""

import base64
import glob
import os
import quopri
import re

from tap import read, top_srcdir

LINE_BYTES = 998  # RFC 5322 section 2.1.1

WORDS = "Grüße: señor, 日本語の手紙, письмо, diffusion -survey\n"


def part(kind, body, *more):
    return b"Content-Type: %s\n%s\n%s\n" % (kind, b"".join(more), body)


def encoded(kind, text, charset, encoding):
    content = text.encode(charset, "replace")
    if encoding == "base64":
        content = base64.encodebytes(content)
    elif encoding == "quoted-printable":
        content = quopri.encodestring(content)
    return part(b"%s; charset=%s" % (kind, charset.encode()), content,
                b"Content-Transfer-Encoding: %s\n" % encoding.encode())


def multipart(kind, *parts):
    body = b"".join(b"--cut-here\n" + one for one in parts) + b"--cut-here--\n"
    return part(b'multipart/%s; boundary="cut-here"' % kind, body)


MADE_UP = [
    part(b"text/plain", b"list\n"),
    part(b"text/plain", b""),
    part(b"text/plain", b"\n\nlist\n\n\n\n"),
    part(b"text/plain", b".\n..\n. a dot\n.\n\nlist\n.\n"),
    part(b"text/plain", b"From here on\n>From there on\nlist\n"),
    part(b"text/plain", b"a line without end"),
    part(b"text/plain", b"x" * 900 + b"\n" + b"y z " * 240 + b"\n"),
    part(b"text/plain", b"list\n" * 5000),
    part(b"text/plain; format=flowed; delsp=yes", b"filter add diff \nusion\n"),
    part(b"text/html", b"<p>list<br>stop &amp; go</p>\n"),
    encoded(b"text/plain", WORDS, "utf-8", "8bit"),
    encoded(b"text/plain", WORDS, "utf-8", "base64"),
    encoded(b"text/plain", WORDS, "utf-8", "quoted-printable"),
    encoded(b"text/plain", WORDS, "koi8-r", "8bit"),
    encoded(b"text/plain", WORDS, "iso-2022-jp", "8bit"),
    encoded(b"text/plain", WORDS, "gb18030", "base64"),
    encoded(b"text/html", "<p>" + WORDS, "windows-1252", "quoted-printable"),
    multipart(b"alternative", part(b"text/plain", b"list\n"),
              part(b"text/html", b"<b>list</b>\n")),
    multipart(b"mixed", part(b"text/plain", b"list\n"),
              part(b"application/octet-stream; name=a.bin",
                   base64.encodebytes(bytes(range(256)) * 40),
                   b"Content-Transfer-Encoding: base64\n")),
    multipart(b"report; report-type=delivery-status", part(b"text/plain", b"sorry\n"),
              part(b"message/delivery-status",
                   b"Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822;"
                   b" eva@people.example\nAction: failed\nStatus: 5.1.1\n"),
              part(b"message/rfc822", b"Subject: what was sent\n\nhello\n")),
    multipart(b"report; report-type=feedback-report", part(b"text/plain", b"spam\n"),
              part(b"message/feedback-report", b"Feedback-Type: abuse\nVersion: 1\n")),
]


def samples():
    """The replies in tests/messages."""
    for path in sorted(glob.glob(os.path.join(top_srcdir(), "tests", "messages", "*.eml"))):
        raw = read(path).replace(b"\r\n", b"\n")
        if max(map(len, raw.split(b"\n"))) <= LINE_BYTES:
            yield raw


def with_id(raw, number):
    """The message with another Message-ID and without trace fields."""
    head, _, body = raw.partition(b"\n\n")
    head = re.sub(rb"(?mi)^(message-id|received|return-path|delivered-to|x-original-to)"
                  rb":.*(\n[ \t].*)*\n?", b"", head + b"\n")
    head += b"Message-ID: <letter.%d@people.example>\n" % number
    return (head + b"\n" + body).replace(b"\n", b"\r\n")


def sample_mails(count):
    """Messages of all kinds in turn."""
    heads = [b"From: Eva Example <eva@people.example>\nTo: paperboy@papers.example\n"
             b"Subject: number %d\nDate: Fri, 20 Nov 2026 10:56:00 +0000\n"
             b"MIME-Version: 1.0\n"]
    kinds = [heads[0] % 0 + made for made in MADE_UP] + list(samples())
    return [with_id(kinds[number % len(kinds)], number) for number in range(count)]
