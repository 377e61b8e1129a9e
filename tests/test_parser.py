#!/usr/bin/env python3
"""test_parser.py - bombs, the sandbox, reports and headers.

Each bomb is parsed or rejected by a process of at most 64 MB; without the prescan the
process crashes, as a control.
"""

import base64
import ctypes
import os
import random
import re
import resource
import sys

import lib  # the path
import parser_output
from mime_bombs import BOMBS, CONTROLS, HEAD, multipart, zip_of_bombs
from tap import Skip, Tap, read

PEAK_KIB = 64 * 1024
UNSCANNED = "tests/helper_parser_unscanned"


def is_sanitized():
    """Builds with sanitizers limit neither memory nor system calls."""
    return b"__asan_init" in read(parser_output.program())


def test_bomb(make, refusal):
    result = parser_output.run(make())
    assert result.code == 0, f"status {result.code}"
    assert is_sanitized() or result.peak_kib <= PEAK_KIB, f"{result.peak_kib} KiB"
    refused = result.all("refused")
    if refusal is None:
        assert not refused, refused
    else:
        assert refused and re.search(refusal, refused[0]), refused
        assert len(result.records) == 1


def test_zip():
    """the text beside a zip bomb is read"""
    assert parser_output.run(zip_of_bombs()).one("text") == "list\n"


def test_control(make):
    result = parser_output.run(make(), UNSCANNED)
    # a sanitizer reports the stack overflow and exits
    assert result.code < 0 or is_sanitized() and result.code == 1, result.code
    assert is_sanitized() or result.peak_kib <= PEAK_KIB, f"{result.peak_kib} KiB"


def test_control_works():
    """without prescan a plain message is parsed"""
    assert parser_output.run(HEAD + b"\nlist\n", UNSCANNED).one("text") == "list\n"


# ---- the sandbox --------------------------------------------------------------


def test_filtered():
    """system calls are filtered"""
    if is_sanitized():
        raise Skip("not in a build with a sanitizer")
    result = parser_output.run(HEAD + b"\nlist\n")
    if not result.all("filtered"):
        raise Skip("built without seccomp, or the kernel has none")


def forbid_seccomp():
    """Deny seccomp(2) like a unit with SystemCallFilter= and EPERM."""
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    allow, deny = 0x7FFF0000, 0x00050000 | 1
    context = ctypes.c_void_p(library.seccomp_init(allow))
    call = library.seccomp_syscall_resolve_name(b"seccomp")
    assert library.seccomp_rule_add(context, deny, call, 0) == 0
    assert library.seccomp_load(context) == 0


def test_forbidden():
    """prctl(2) is used where seccomp(2) is denied"""
    if is_sanitized():
        raise Skip("not in a build with a sanitizer")
    if not parser_output.run(HEAD + b"\nlist\n").all("filtered"):
        raise Skip("built without seccomp, or the kernel has none")
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError as missing:
        raise Skip(str(missing)) from missing
    wrap = [sys.executable, "-B", os.path.abspath(__file__), "--without-seccomp"]
    result = parser_output.run(HEAD + b"\nlist\n", wrap=wrap)
    assert result.one("text") == "list\n"
    assert result.all("filtered"), result.output


def test_limits():
    """stricter inherited limits are kept"""
    wrap = [sys.executable, "-B", os.path.abspath(__file__), "--little-time"]
    result = parser_output.run(HEAD + b"\nlist\n", wrap=wrap)
    assert result.one("text") == "list\n"


def test_cut():
    """a message truncated anywhere is parsed or rejected"""
    path = os.path.join(os.environ.get("top_srcdir", "."), "tests", "messages")
    chosen = random.Random(6)
    for name in ("gmail-japanese.eml", "related-html.eml", "outlook-web-plain.eml"):
        raw = read(os.path.join(path, name))
        for _ in range(10):
            result = parser_output.run(raw[: chosen.randrange(len(raw))])
            assert result.code == 0
            assert result.records


# ---- reports ------------------------------------------------------------------

DELIVERY = multipart(
    b"Content-Type: text/plain; charset=utf-8\n\nYour message could not be delivered.\n",
    b"Content-Type: message/delivery-status\n\n"
    b"Reporting-MTA: dns; mx.people.example\nX-Queue-ID: 4711\n"
    b"Original-Envelope-Id: 815\n\n"
    b"Final-Recipient: rfc822; eva@people.example\n"
    b"Original-Recipient: rfc822;eva@people.example\nAction: failed\nStatus: 5.1.1\n"
    b"Diagnostic-Code: smtp; 550 5.1.1\n <eva@people.example>: unknown\n\n"
    b"Final-Recipient: rfc822; max@people.example\nAction: delayed\nStatus: 4.2.2\n",
    b"Content-Type: message/rfc822\n\nMessage-ID: <digest.1@papers.example>\n"
    b"Subject: =?utf-8?q?5_papers_=E2=80=93_today?=\n\nthe digest\n",
    kind=b"report; report-type=delivery-status",
    head=b"Return-Path: <>\nFrom: MAILER-DAEMON@mx.people.example\n"
    b"Auto-Submitted: auto-replied\nSubject: Undelivered\n",
)


def groups(result):
    found = []
    for tag, text in result.records:
        if tag == "report-group":
            found.append([])
        elif tag == "report-field":
            found[-1].append(text)
    return found


def test_delivery():
    """a delivery report (RFC 3464) is parsed group by group"""
    result = parser_output.run(DELIVERY)
    assert result.one("report") == "delivery"
    reported = groups(result)
    assert [len(group) for group in reported] == [3, 5, 3], reported
    assert reported[0][0] == "Reporting-MTA: dns; mx.people.example"
    assert reported[1][4] == (
        "Diagnostic-Code: smtp; 550 5.1.1 <eva@people.example>: unknown"
    )
    assert reported[2][2] == "Status: 4.2.2"
    assert result.all("returned") == [
        "Message-ID: <digest.1@papers.example>",
        "Subject: 5 papers – today",
    ]
    assert result.one("return-path") == ""
    assert result.one("mark") == "Auto-Submitted: auto-replied"
    assert result.one("text") == "Your message could not be delivered.\n"


def test_delivery_encoded():
    """an encoded delivery report with returned headers only is parsed"""
    status = base64.encodebytes(
        b"Reporting-MTA: dns; a\r\n\r\nFinal-Recipient: rfc822; b@c.example\r\n"
        b"Action: failed\r\nStatus: 5.2.1\r\n"
    )
    result = parser_output.run(multipart(
        b"\nsorry\n",
        b"Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n"
        + status,
        b"Content-Type: text/rfc822-headers\n\nMessage-ID: <x@y>\nFrom: a@b.example\n",
        kind=b"report; report-type=delivery-status",
    ))
    assert [len(group) for group in groups(result)] == [1, 3]
    assert result.all("returned") == ["Message-ID: <x@y>", "From: a@b.example"]


def test_feedback():
    """a feedback report (RFC 5965) is parsed"""
    result = parser_output.run(multipart(
        b"Content-Type: text/plain\n\nThis is a report of abuse.\n",
        b"Content-Type: message/feedback-report\n\nFeedback-Type: abuse\n"
        b"User-Agent: Loop/1.0\nVersion: 1\n",
        b"Content-Type: message/rfc822\n\nMessage-ID: <digest.1@papers.example>\n\nx\n",
        kind=b"report; report-type=feedback-report",
    ))
    assert result.one("report") == "feedback"
    assert groups(result) == [
        ["Feedback-Type: abuse", "User-Agent: Loop/1.0", "Version: 1"]
    ]
    assert result.all("returned") == ["Message-ID: <digest.1@papers.example>"]


def test_disposition():
    """a disposition notification (RFC 8098) is parsed"""
    result = parser_output.run(multipart(
        b"\nread\n",
        b"Content-Type: message/disposition-notification\n\n"
        b"Final-Recipient: rfc822;eva@people.example\n"
        b"Disposition: manual-action/MDN-sent-manually; displayed\n",
        kind=b"report; report-type=disposition-notification",
    ))
    assert result.one("report") == "disposition"
    assert len(groups(result)) == 1


def test_other_report():
    """another kind of report has no fields"""
    result = parser_output.run(multipart(b"\nx\n", kind=b"report; report-type=odd"))
    assert result.one("report") == "other"
    assert not groups(result)


def test_mixed_report():
    """the parts of a report are found in a multipart/mixed, too"""
    result = parser_output.run(DELIVERY.replace(
        b"multipart/report; report-type=delivery-status", b"multipart/mixed"))
    assert result.one("report") == "delivery"
    assert [len(group) for group in groups(result)] == [3, 5, 3]
    assert result.all("returned")[0] == "Message-ID: <digest.1@papers.example>"


def test_mixed_message():
    """a message with an attached message is not a report; its header is passed"""
    result = parser_output.run(multipart(
        b"\nsee below\n",
        b"Content-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: eva@b.example\n\nx\n",
    ))
    assert not result.all("report")
    assert result.all("returned") == ["X-HmXmrOriginalRecipient: eva@b.example"]


def test_no_report():
    """a report within a message is not a report"""
    inner = b"Content-Type: multipart/report; boundary=c\n\n--c\n\nx\n--c--\n"
    assert not parser_output.run(multipart(inner)).all("report")


# ---- headers ----

# header lines, tag, records
HEADERS = [
    (b"From: Eva <eva@B.example>, max@c.example", "from",
     ["eva@b.example Eva", "max@c.example "]),
    (b"From: =?utf-8?q?J=C3=BCrgen?= <j@b.example>", "from", ["j@b.example Jürgen"]),
    (b"From: \"Doe, J.\" (there) <j@b.example>", "from", ["j@b.example Doe, J. (there)"]),
    (b"From: j\xc3\xbcrgen@m\xc3\xbcller.example", "from",
     ["jürgen@xn--mller-kva.example "]),
    (b"From: nobody", "from", []),
    (b"From: <>", "from", []),
    (b"From: \"\"@x", "from", []),
    (b"From: a%b@c.example", "from", []),
    (b"From: a@b.example\nFrom: c@d.example", "from-fields", ["2"]),
    (b"From: a@b.example\nFrom: c@d.example", "from",
     ["a@b.example ", "c@d.example "]),
    (b"Sender: a@b.example", "sender", ["a@b.example "]),
    (b"Reply-To: R <r@b.example>", "reply-to", ["r@b.example R"]),
    (b"To: g: a@b.example, c@d.example;, e@f.example", "to",
     ["a@b.example ", "c@d.example ", "e@f.example "]),
    (b"To: undisclosed-recipients:;", "to", []),
    (b"Cc: a@b.example,\n\tc@d.example", "cc", ["a@b.example ", "c@d.example "]),
    (b"Subject: =?koi8-r?B?68nU?= =?koi8-r?Q?=C1=CA?=", "subject", ["Китай"]),
    (b"Subject: =?utf-8?B?5pel5pw=?=\n =?utf-8?B?rA==?=", "subject", ["日本"]),
    (b"Subject: a =?utf-8?q?x=0D=0ABcc:_v@x?= b", "subject", ["a x Bcc: v@x b"]),
    (b"Subject: =?utf-8?q?not ended", "subject", ["=?utf-8?q?not ended"]),
    (b"Subject: =?utf-8*en?q?a?=b=?x-no?q?=FC?=", "subject", ["abü"]),
    (b"Subject: raw \xc3\xbc", "subject", ["raw ü"]),
    (b"Subject: raw \xfc", "subject", ["raw ü"]),
    (b"Subject: \xe2\x80\xaeturned\xe2\x80\xac", "subject", ["turned"]),
    (b"Subject: one\nSubject: two", "subject", ["one"]),
    (b"Subject : one", "subject", []),
    (b"Message-ID: <a.b@c>", "message-id", ["a.b@c"]),
    (b"Message-ID: a.b@c", "message-id", []),
    (b"Message-ID: <a b@c>", "message-id", []),
    (b"In-Reply-To: your mail <a@b>", "in-reply-to", ["a@b"]),
    (b"References: <a@b>\n <c@d> <e", "reference", ["a@b", "c@d"]),
    (b"Date: Fri, 20 Nov 2026 10:00:00 +0100", "date", ["1795165200"]),
    (b"Date: 20 Nov 2026 10:00:00 -0530 (there)", "date", ["1795188600"]),
    (b"Date: Fri, 20 Nov 2026 09:00:60 GMT", "date", ["1795165259"]),
    (b"Date: Fri, 31 Feb 2026 09:00:00 +0000", "date", []),
    (b"Date: Thu, 1 Jan 1960 00:00:00 +0000", "date", []),
    (b"Date: yesterday", "date", []),
    (b"Return-Path: <eva@b.example>", "return-path", ["eva@b.example"]),
    (b"Return-Path: <>", "return-path", [""]),
    (b"Return-Path: x", "return-path", []),
    (b"Delivered-To: a@b.example\nDelivered-To: c@d.example", "delivered-to",
     ["a@b.example"]),
    (b"X-Original-To: a+t@b.example", "original-to", ["a+t@b.example"]),
    (b"Received: a\nReceived: b\n c", "received", ["2"]),
    (b"Precedence: bulk\nList-Id: <l.b.example>\nX: y\nlist-unsubscribe: <mailto:a>",
     "mark", ["Precedence: bulk", "List-Id: <l.b.example>",
              "list-unsubscribe: <mailto:a>"]),
    (b"X-Auto-Response-Suppress: All\nAuto-Submitted: auto-generated (x)", "mark",
     ["X-Auto-Response-Suppress: All", "Auto-Submitted: auto-generated (x)"]),
    (b"List-: x\nXList-Id: x", "mark", []),
    (b"Authentication-Results: mx.B.example; none", "auth-server", ["mx.b.example"]),
    (b"Authentication-Results: mx.b.example; none", "auth-result", []),
    (b"Authentication-Results: mx.b.example 1; dkim=pass\n"
     b" header.d=c.example; dmarc = Pass (p=none; dis=none) header.from=c.example",
     "auth-result", ["dkim pass header.d=c.example", "dmarc pass header.from=c.example"]),
    (b"Authentication-Results: a; x=pass reason=\"a;b (c\" d.e=f; y/2=fail", "auth-result",
     ["x pass reason=a;b (c d.e=f", "y fail "]),
    (b"Authentication-Results: a (((; x=pass", "auth-result", []),
    (b"Authentication-Results: (c) a; x=pass\nAuthentication-Results: b; x=fail",
     "auth-server", ["a", "b"]),
    (b"Authentication-Results : a; x=pass", "authentication", []),
    (b"Authentication-Results:", "auth-server", [""]),
]


def test_header(lines, tag, reported):
    result = parser_output.run(lines + b"\n\nx\n")
    assert result.all(tag) == reported, result.all(tag)


def test_mbox_line():
    """a line "From " before the header is skipped"""
    result = parser_output.run(b"From eva Fri Nov 20\n" + HEAD + b"\nlist\n")
    assert result.one("subject") == "list"


def test_cut_text():
    """text beyond its bound is cut at a line, and flagged"""
    result = parser_output.run(HEAD + b"\n" + b"0123456789\n" * 1600)
    assert len(result.one("text")) == 16384 // 11 * 11
    assert result.all("text-cut") == [""]
    assert not parser_output.run(HEAD + b"\n" + b"0123456\n" * 2048).all("text-cut")


def delivery_fields(count):
    lines = b"".join(b"X: %d\n" % i + b"\n" * (i % 100 == 99) for i in range(count))
    return multipart(b"Content-Type: message/delivery-status\n\n" + lines + b"\n",
                     kind=b"report")


# Truncated items: the bound, a message with that many, the tag, how to count.
CUT = [
    ("addresses", 100, lambda n: b"To: " + b",".join([b"a@b.example"] * n) + b"\n\nx\n",
     "to", len),
    ("references", 50, lambda n: b"References:" + b" <a@b>" * n + b"\n\nx\n",
     "reference", len),
    ("marks", 50, lambda n: b"List-Id: a\n" * n + b"\nx\n", "mark", len),
    ("bytes of a subject", 4096, lambda n: b"Subject: " + b"x" * n + b"\n\nx\n",
     "subject", lambda reported: len(reported[0])),
    ("bytes of a display name", 200, lambda n: b"From: " + b"x" * n +
     b" <a@b.example>\n\nx\n", "from", lambda reported: len(reported[0]) - 12),
    ("bytes of a body", 65536, lambda n: b"A: b\n\n" +
     ((b"x" * 63 + b"\n") * 1025)[:n], "body",
     lambda reported: len(reported[0])),
    ("bytes of a text", 16384, lambda n: b"A: b\n\n" + b"x" * (n - 1) + b"\n", "text",
     lambda reported: len(reported[0])),
    ("bytes of a message id", 250, lambda n: b"References: <a> <" + b"x" * n +
     b">\n\nx\n", "reference", lambda reported: len(reported[-1]) if reported[-1] != "a" else 250),
    ("results", 100, lambda n: b"Authentication-Results: a" + b"; b=c" * n + b"\n\nx\n",
     "auth-result", len),
    ("fields of a report", 500, delivery_fields, "report-field", len),
]


def test_bound(bound, make, tag, count):
    for given in (bound - 1, bound, bound + 1):
        reported = parser_output.run(make(given)).all(tag)
        assert count(reported) == min(given, bound), (given, count(reported))


def test_last_references():
    """the last of too many references are kept"""
    ids = b" ".join(b"<%d@a>" % i for i in range(60))
    reported = parser_output.run(b"References: " + ids + b"\n\nx\n").all("reference")
    assert reported == [f"{i}@a" for i in range(10, 60)]


# The name of an attached file, and its headers.
FILES = ("Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=a.BIB",
         "Content-Type: text/plain; name=a.ris\nContent-Disposition: inline",
         "Content-Type: application/x-bibtex; charset=utf-16",
         "Content-Type: text/x-research-info-systems\nContent-Disposition: attachment",
         "Content-Disposition: attachment; filename*0=\"a b\"; filename*1=c.ris",
         "Content-Type: text/plain\nContent-Disposition: attachment;\n"
         " filename=\"=?utf-8?B?w7wuYmli?=\"")


def test_works():
    """files of reference managers are read in each encoding, and are not the text"""
    path = os.path.join(os.environ.get("top_srcdir", "."), "tests", "tables", "bibliography.tsv")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line[0] != "#"]
    chosen = random.Random(40)
    for _, text, wanted in rows:
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
        for charset in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
            data = (text + "\n% \xfc\n").encode(charset)
            body, encoding = chosen.choice((
                (base64.encodebytes(data), b"base64"),
                (b"=\n".join(b"".join(b"=%02X" % byte for byte in data[at : at + 24])
                             for at in range(0, len(data), 24)), b"quoted-printable")))
            head = chosen.choice(FILES).encode() + b"\nContent-Transfer-Encoding: " + encoding
            result = parser_output.run(multipart(
                head + b"\n\n" + body + b"\n", b"Content-Type: text/plain\n\nknown\n"))
            unnamed, *works = wanted.split("|")
            assert result.all("work") == [one for one in works if one], (head, result.records)
            assert result.all("unnamed") == [unnamed] * (unnamed != "0"), (head, result.records)
            assert result.one("text") == "known\n", (head, result.records)


def test_works_of_other_names():
    """a file of another name is read if it starts like one; no file is read as commands"""
    for data, works in (("TY  - JOUR\nDO  - 10.5555/1\nER  - \n", ["doi:10.5555/1"]),
                        ("@misc{a, doi={10.5555/1}}\n", ["doi:10.5555/1"]),
                        ("See @misc{a, doi={10.5555/1}}\n", [])):
        result = parser_output.run(multipart(
            b"Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\n" +
            data.encode(), b"Content-Type: text/plain\n\nknown\n"))
        assert result.all("work") == works, result.records
        assert result.one("text") == "known\n", result.records


def test_large_works():
    """of two large files 5,000 works are read; of a file without an entry none"""
    one = b"Content-Type: text/x-bibtex\n\n" + b"".join(
        b"@a{k,doi={10.5555/%d}}\n" % i for i in range(5003))
    result = parser_output.run(multipart(one, one))
    assert (len(result.all("work")), result.all("unnamed")) == (5000, ["5006"])
    for fill in (b"\n", b"@a{", b"TY  -\n", b"{", b"@a{b,note={10.1/1 "):
        result = parser_output.run(multipart(
            b"Content-Type: text/x-bibtex\n\n" + (fill * 99 + b"\n") * (9000 // len(fill))))
        assert result.code == 0 and len(result.records) > 1, (fill, result.code)


def main(tap):
    for name, bound, make, tag, count in CUT:
        test_bound.__doc__ = f"at most {bound} {name} are reported"
        tap.run(test_bound, bound, make, tag, count)
    for name, make, refusal in BOMBS:
        test_bomb.__doc__ = name + (" are refused" if refusal else " are read")
        tap.run(test_bomb, make, refusal)
    for name, make in CONTROLS:
        test_control.__doc__ = f"without the look before parsing it dies: {name}"
        tap.run(test_control, make)
    for lines, tag, reported in HEADERS:
        test_header.__doc__ = f"{tag} of {lines.decode('latin-1')!r}"
        tap.run(test_header, lines, tag, reported)
    for function in (test_zip, test_control_works, test_filtered, test_forbidden,
                     test_limits, test_cut, test_delivery, test_delivery_encoded,
                     test_feedback, test_disposition, test_other_report,
                     test_mixed_report, test_mixed_message, test_no_report,
                     test_mbox_line, test_cut_text,
                     test_last_references, test_works,
                     test_works_of_other_names, test_large_works):
        tap.run(function)


if "--without-seccomp" in sys.argv:
    forbid_seccomp()
    os.execv(sys.argv[2], sys.argv[2:])
if "--little-time" in sys.argv:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    os.execv(sys.argv[2], sys.argv[2:])
with Tap() as tap:
    main(tap)
