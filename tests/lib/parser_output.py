"""parser_output.py - a second implementation of the output format of paperboy-parser.

read(output) gives a list of (tag, text).  It is strict, and written from src/message/parser_proto.h alone.
"""

import os
import re
import resource
import subprocess
import threading

from tap import top_builddir, top_srcdir

with open(os.path.join(top_srcdir(), "src", "message", "parser_proto.h"), encoding="utf-8") as file:
    TAGS = [name.lower().replace("_", "-")
            for name in re.findall(r"\tPROTO_TAG_(\w+),", file.read())]


def program(name="paperboy-parser"):
    return os.path.join(top_builddir(), name)


def read(output):
    """Records in order; ValueError for what is not a GVariant of type a(ys)."""
    width = 1 if len(output) <= 0xff else 2 if len(output) <= 0xffff else 4
    at = int.from_bytes(output[-width:], "little")
    if not output or at >= len(output) or (len(output) - at) % width:
        raise ValueError(f"no end: {output[-40:]!r}")
    records = []
    begin = 0
    for place in range(at, len(output), width):
        end = int.from_bytes(output[place : place + width], "little")
        tag, text, nul = output[begin], output[begin + 1 : end - 1], output[end - 1 : end]
        if nul != b"\0" or 0 in text:
            raise ValueError(f"no text: {output[begin : end]!r}")
        records.append((TAGS[tag], text.decode("utf-8")))
        begin = end
    return records


class Result:
    """Exit status and records of the process."""

    def __init__(self, status, usage, output):
        self.code = os.waitstatus_to_exitcode(status)  # negative: a signal
        self.peak_kib = usage.ru_maxrss
        self.output = output

    @property
    def records(self):
        return read(self.output)

    def all(self, tag):
        return [text for name, text in self.records if name == tag]

    def one(self, tag):
        found = self.all(tag)
        if len(found) != 1:
            raise ValueError(f"{len(found)} of {tag}")
        return found[0]


def run(raw, name="paperboy-parser", wrap=()):
    """Give a message to the program, at once or as a list of its pieces.

    The memory of this process counts as the child's until it runs the program: so large
    input is passed in pieces.
    """
    pieces = [raw] if isinstance(raw, bytes) else raw
    child = subprocess.Popen(
        [*wrap, program(name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    )

    def feed():
        try:
            with child.stdin:
                for piece in pieces:
                    child.stdin.write(piece)
        except BrokenPipeError:
            pass  # it may stop reading

    feeder = threading.Thread(target=feed)
    feeder.start()
    output = child.stdout.read()
    feeder.join()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = 0  # already waited for
    child.stdout.close()
    return Result(status, usage, output)
