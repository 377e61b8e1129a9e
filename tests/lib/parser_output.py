"""parser_output.py - a second implementation of the output format of paperboy-parser.

read(output) gives a list of (tag, text).  It is strict, and written from src/message/parser_proto.h alone.
"""

import os
import re
import resource
import subprocess
import threading

from tap import top_builddir

FIRST = b"paperboy-parser 1\n"
HEAD = re.compile(rb"([a-z-]+) (0|[1-9][0-9]*)\n")


def program(name="paperboy-parser"):
    return os.path.join(top_builddir(), name)


def read(output):
    """Records in order, without the end; ValueError for anything else."""
    if not output.startswith(FIRST):
        raise ValueError(f"no beginning: {output[:40]!r}")
    at = len(FIRST)
    records = []
    while True:
        head = HEAD.match(output, at)
        if not head:
            raise ValueError(f"no record at {at}: {output[at : at + 40]!r}")
        begin, size = head.end(), int(head[2])
        text = output[begin : begin + size]
        if len(text) != size or output[begin + size : begin + size + 1] != b"\n":
            raise ValueError(f"a length that is not true at {at}")
        at = begin + size + 1
        if head[1] == b"end":
            if size or at != len(output):
                raise ValueError("an end that is none")
            return records
        records.append((head[1].decode(), text.decode("utf-8")))


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
