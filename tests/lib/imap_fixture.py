"""imap_fixture.py - the IMAP receiver under test, and messages of all kinds.

    with Reader(tap.subdirectory("one"), port=dovecot.imaps_port, ...) as reader:
        reader.wait_messages(3)     # their bytes, in order of arrival
"""

import glob
import os
import re

from peers import PASSWORD
from programs import built
from tap import DEADLINE_S, Child, read, top_srcdir

LINE_END = re.compile(rb"\r\n|\r|\n")


class Reader(Child):
    """tests/helper_imap on a server; ends when its input is closed."""

    def __init__(self, home, port, host="localhost", tls="implicit", ca=None,
                 user="ada@example.org", password=PASSWORD, **options):
        self.out = os.path.join(home, "messages")
        os.makedirs(self.out, exist_ok=True)
        options |= {"host": host, "port": port, "tls": tls, "user": user,
                    "password": password, "out": self.out}
        if ca:
            options["ca"] = ca
        arguments = []
        for name, value in options.items():
            name = "--" + name.replace("_", "-")
            arguments += [name] if value is True else [f"{name}={value}"]
        read_end, self.input = os.pipe()
        super().__init__([built("tests", "helper_imap"), *arguments], stdin=read_end)
        os.close(read_end)

    def said(self, word):
        return [line.partition(" ")[2] for line in list(self.lines)
                if line.partition(" ")[0] == word]

    def stored_messages(self):
        found = []
        for path in self.said("take"):
            found.append(read(path))
        return found

    def wait_messages(self, count, deadline_s=DEADLINE_S):
        self.wait_fact(lambda: len(self.said("take")) >= count, f"{count} messages",
                       deadline_s)
        return self.stored_messages()

    def wait_said(self, word, deadline_s=DEADLINE_S):
        """All lines with this word, once there is one."""
        return self.wait_fact(lambda: self.said(word), f"a line of {word!r}", deadline_s)

    def wait_note(self, pattern, deadline_s=DEADLINE_S):
        """The first note matching the pattern."""
        def find():
            return [text for text in self.said("note") if re.search(pattern, text)]

        return self.wait_fact(find, f"a note of {pattern!r}", deadline_s)[0]

    def end(self, deadline_s=DEADLINE_S):
        """Close its input and wait.  @return peak memory, KiB"""
        if self.input is not None:
            os.close(self.input)
            self.input = None
        status = self.wait_exit(deadline_s)
        assert status == 0, f"status {status}\n{self.output}"
        return int(self.said("end")[0].split()[1])

    def __exit__(self, *_):
        if self.input is not None:
            os.close(self.input)
            self.input = None
        self.stop()


def with_line_ends(raw):
    return LINE_END.sub(b"\r\n", raw)


def all_kinds(count):
    """Different messages of all kinds in wire format."""
    found = []
    for path in sorted(glob.glob(os.path.join(top_srcdir(), "tests", "messages",
                                              "*.eml"))):
        found.append(with_line_ends(read(path)))
    shapes = [
        lambda n: b"Subject: plain %d\r\n\r\nhelp\r\n" % n,
        lambda n: b"Subject: no end %d\r\n\r\nlast line" % n,
        lambda n: b"Subject: head only %d\r\n\r\n" % n,
        lambda n: b"no header at all %d\r\n" % n,
        lambda n: b"Subject: bytes %d\r\n\r\n" % n + bytes(
            byte for byte in range(1, 256) if byte not in b"\r\n") + b"\r\n",
        lambda n: b"Subject: long line %d\r\n\r\n" % n + b"x" * 20000 + b"\r\n",
        lambda n: b"Subject: like IMAP %d\r\n\r\n" % n
        + b"* BYE\r\n)\r\n1 OK done\r\n{100000}\r\n* 1 FETCH (((((((\r\n",
        lambda n: b"Subject: large %d\r\n\r\n" % n + b"seventy columns\r\n" * 20000,
        lambda n: b"Subject: braces %d\r\n\r\n" % n + b"(" * 5000 + b"{9}\r\n",
        lambda n: b"Subject: =?utf-8?q?caf=C3=A9?= %d\r\n\r\n\xc3\xa9\r\n" % n,
    ]
    number = 0
    while len(found) < count:
        found.append(shapes[number % len(shapes)](number))
        number += 1
    return found[:count]


def put_all(dovecot, user, raws, folder="INBOX"):
    """Append messages to a folder over one connection."""
    imap = dovecot.login(user)
    try:
        for raw in raws:
            kind, answer = imap.append(folder, None, None, raw)
            assert kind == "OK", answer
    finally:
        imap.logout()


def keywords(dovecot, user, folder="INBOX"):
    """The flags of each message, in order: a list of sets."""
    imap = dovecot.login(user)
    try:
        imap.select(folder, readonly=True)
        _, rows = imap.fetch("1:*", "(FLAGS)") if has_any(imap) else ("", [])
        return [set(re.search(rb"FLAGS \(([^)]*)\)", row)[1].decode().split())
                for row in rows if row]
    finally:
        imap.logout()


def has_any(imap):
    _, rows = imap.search(None, "ALL")
    return bool(rows[0])
