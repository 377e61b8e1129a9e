"""mime_bombs.py - messages designed to crash or stall a parser.

BOMBS: name, function, pattern of the error or None if it must be parsed. CONTROLS: bombs
that crash a parser without prescan.
"""

import base64
import io
import zipfile

HEAD = b"From: eva@people.example\nTo: paperboy@papers.example\nSubject: list\n"


def nested_messages(count):
    return HEAD + b"Content-Type: message/rfc822\n\n" * count + b"hi\n"


def nested_multiparts(count):
    lines = [HEAD]
    for i in range(count):
        lines.append(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i))
    return b"".join(lines) + b"\nhi\n"


def encoded_words(count):
    return HEAD + b"X-A: " + b" =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=\n" * count + b"\nx\n"


def multipart(*parts, kind=b"mixed", head=HEAD):
    out = head + b"Content-Type: multipart/%s; boundary=b\n\n" % kind
    return out + b"".join(b"--b\n" + part for part in parts) + b"--b--\n"


def zip_of_bombs():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("messages.eml", nested_messages(32000))
        archive.writestr("parts.eml", nested_multiparts(50000))
        archive.writestr("zeros", bytes(100_000_000))
    attached = base64.encodebytes(file.getvalue())
    return multipart(
        b"Content-Type: text/plain\n\nlist\n",
        b"Content-Type: application/zip; name=a.zip\n"
        b"Content-Disposition: attachment\n"
        b"Content-Transfer-Encoding: base64\n\n" + attached,
    )


# name, message, pattern of the error; None if it must be parsed
BOMBS = [
    ("32,000 messages within messages", lambda: nested_messages(32000)[:1048576],
     "content types|levels of nested parts"),
    ("100 messages within messages", lambda: nested_messages(100), "levels of nested parts"),
    ("50,000 multiparts within multiparts", lambda: nested_multiparts(50000), "bytes"),
    ("10,000 multiparts within multiparts", lambda: nested_multiparts(10000),
     "levels of nested parts"),
    ("150,000 parentheses in a field",
     lambda: HEAD + b"Cc: " + b"(" * 150000 + b"\n\nx\n", "bytes in a line"),
    ("60,000 parentheses in a field",
     lambda: HEAD + b"Cc: " + b"(" * 60000 + b"\n\nx\n", "parentheses"),
    ("60,000 parentheses on lines of one field",
     lambda: HEAD + b"Cc: a" + b"\n ((((((((((" * 6000 + b"\n\nx\n", "parentheses"),
    ("10,000 fields", lambda: HEAD + b"X: y\n" * 10000 + b"\nx\n", "fields in a header"),
    ("a header of a megabyte",
     lambda: HEAD + (b"X: " + b"y" * 9000 + b"\n") * 110 + b"\nx\n", "in a header"),
    ("a NUL in the header", lambda: HEAD + b"X: \0\n\nx\n", "NUL"),
    ("a NUL in the body", lambda: HEAD + b"\nx\0y\n", "NUL"),
    ("a CR within the header", lambda: HEAD + b"X: a\rFrom: b@c.example\n\nx\n", "CR"),
    ("a CR within the body", lambda: HEAD + b"\nx\ry\n", None),
    ("CRs before each LF", lambda: (HEAD + b"\nx\n").replace(b"\n", b"\r\r\n"), None),
    ("a line without end", lambda: HEAD + b"\n" + b"x" * 1000000, "bytes in a line"),
    ("more than a megabyte", lambda: HEAD + b"\n" + b"x\n" * 600000, "bytes"),
    ("100 megabytes", lambda: [HEAD, b"\n"] + [b"x\n" * 50_000] * 1000, "bytes"),
    ("a boundary of 10,000 bytes",
     lambda: HEAD + b"Content-Type: multipart/mixed; boundary=" + b"b" * 10000 +
     b"\n\nx\n", "bytes in a boundary"),
    ("1,000 boundaries",
     lambda: HEAD + b"Content-Type: multipart/mixed" + b";\n boundary=b" * 1000 +
     b"\n\nx\n", "boundaries"),
    ("5,000 parameters in pieces (RFC 2231)",
     lambda: HEAD + b"Content-Type: text/plain" +
     b"".join(b";\n a*%d=xxx" % i for i in range(4000)) + b"\n\nlist\n", None),
    ("a flood of encoded words", lambda: encoded_words(1600), None),
    ("a flood of encoded words that never end",
     lambda: HEAD + b"X-A:" + b" =?utf-8?q?\n" * 5000 + b"\nx\n", None),
    ("5,000 addresses",
     lambda: HEAD + b"Cc: a@b.example" + b",\n a@b.example" * 4000 + b"\n\nx\n", None),
    ("5,000 parts", lambda: multipart(*[b"\nx\n"] * 5000), "parts"),
    ("boundaries that contain each other", lambda: HEAD +
     b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" +
     b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 50, "levels of nested parts"),
    ("a boundary that is empty",
     lambda: HEAD + b'Content-Type: multipart/mixed; boundary=""\n\n--\nx\n----\n', None),
    ("HTML of 30,000 open elements", lambda: HEAD + b"Content-Type: text/html\n\n" +
     b"<div>\n" * 30000 + b"list", None),
    ("HTML of 30,000 quotes in quotes", lambda: HEAD + b"Content-Type: text/html\n\n" +
     b"<blockquote>x\n" * 30000, None),
    ("HTML of tags that never end", lambda: HEAD + b"Content-Type: text/html\n\n" +
     b"<a b='\n" * 60000, None),
    ("60,000 lines that may be attributions", lambda: HEAD + b"\n" +
     b"On 1.1 (wrote\n" * 60000, None),
    ("a base64 message of 20,000 messages", lambda: HEAD +
     b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n\n" +
     base64.encodebytes(b"Content-Type: message/rfc822\n\n" * 20000), None),
    ("a zip of bombs", zip_of_bombs, None),
    ("nothing at all", lambda: b"", None),
    ("nothing but a header", lambda: b"Subject: x", None),
]

# These crash the process without prescan.
CONTROLS = [
    ("32,000 messages within messages", lambda: nested_messages(32000)),
    ("50,000 multiparts within multiparts", lambda: nested_multiparts(50000)),
    ("150,000 parentheses in a field",
     lambda: HEAD + b"Cc: " + b"(" * 150000 + b"\n\nx\n"),
]
