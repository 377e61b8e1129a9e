#!/usr/bin/env python3
"""test_format.py - check the format of C files, and names and sizes of tracked files."""

import os
import re
import shutil
import subprocess

import lib  # the path
from layers import source_files
from tap import Skip, Tap, run, save, top_srcdir

MAX_BYTES = 512 * 1024

DEBRIS = re.compile(
    r"(?:\.(?:o|a|lo|la|so|orig|rej|swp|swo|bak|tmp|log|trs|pyc|gcda|gcno|db|db-wal"
    r"|db-shm|sqlite|gz|xz|zip|deb)|~|(?:^|/)(?:core|a\.out|vgcore\.\d+|\.DS_Store"
    r"|nohup\.out|Makefile\.in|configure|config\.(?:h|h\.in|log|status)))$"
    r"|(?:^|/)(?:__pycache__|autom4te\.cache|\.deps|node_modules)/"
)
# Names without special meaning to file systems, make and shells.
PLAIN_NAME = re.compile(r"[A-Za-z0-9._+@-]+(?:/[A-Za-z0-9._+@-]+)*")


def find_clang_format():
    """The path of version 14; other versions format differently."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and re.search(r"version 14\.", run([path, "--version"])):
            return path
    raise Skip("clang-format 14 is not installed")


def complaints(program, top, files):
    """Changes that clang-format would make, as it reports them."""
    if not files:
        return ""
    done = subprocess.run(
        [program, "--style=file", "--dry-run", "-Werror", *files],
        cwd=top,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert bool(done.stdout.strip()) == (done.returncode != 0), done
    return done.stdout


def c_files(top):
    return [
        os.path.join(directory, path)
        for directory in ("src", "tests", "bench", "fuzz")
        for path in source_files(os.path.join(top, directory))
    ]


def test_formatter_sees(tap):
    """a badly formatted file is reported"""
    program = find_clang_format()
    directory = tap.subdirectory("format")
    shutil.copy(os.path.join(top_srcdir(), ".clang-format"), directory)
    for name, text in (
        ("good.c", "int\nmain(void)\n{\n\treturn 0;\n}\n"),
        ("bad.c", "int main(void) {\n    return 0;\n}\n"),
    ):
        save(os.path.join(directory, name), text)
    assert complaints(program, directory, ["good.c"]) == ""
    assert "bad.c:1" in complaints(program, directory, ["good.c", "bad.c"])


def test_format():
    """all C files are formatted by clang-format 14"""
    program = find_clang_format()
    files = c_files(top_srcdir())
    assert len(files) > 3, files
    found = complaints(program, top_srcdir(), files)
    assert not found, found


def untidy(rows):
    """Problems of (name, size) rows."""
    problems = []
    for name, size in rows:
        if DEBRIS.search(name):
            problems.append(f"{name}: debris")
        if not PLAIN_NAME.fullmatch(name):
            problems.append(f"{name!r}: not a plain name")
        if size > MAX_BYTES:
            problems.append(f"{name}: {size} bytes, more than {MAX_BYTES}")
    folded = {}
    for name, _ in rows:
        other = folded.setdefault(name.lower(), name)
        if other != name:
            problems.append(f"{name}: differs from {other} only in case")
    return problems


def tracked_files(top):
    """Tracked files as [(name, size)]; Skip outside of a git work tree."""
    if not shutil.which("git") or not os.path.exists(os.path.join(top, ".git")):
        raise Skip("not a git work tree")
    git = ["git", "-c", "safe.directory=*", "-C", top]
    names = run([*git, "ls-files", "-z"]).split("\0")
    paths = [(name, os.path.join(top, name)) for name in names if name]
    return [
        (name, os.lstat(path).st_size) for name, path in paths if os.path.lexists(path)
    ]


def test_tidy_sees():
    """build products, special names and large files are reported, others are not"""
    good = ["src/base/error.c", "tests/lib/tap.py", ".gitignore", "configure.ac",
            "tests/data/a+b.eml", "Makefile.am", "src/core/core.c"]
    assert untidy([(name, MAX_BYTES) for name in good]) == []
    bad = ["src/a.o", "a.c.orig", "a.c~", "core", "tests/core", "x/__pycache__/a.pyc",
           "configure", "Makefile.in", "config.h", "a b.c", "ä.c", "paperboy.db"]
    for name in bad:
        assert untidy([(name, 1)]), name
    assert untidy([("a.c", MAX_BYTES + 1)])
    assert untidy([("README", 1), ("readme", 1)])


def test_tidy():
    """tracked files have plain names, are small, and are no build products"""
    problems = untidy(tracked_files(top_srcdir()))
    assert not problems, "\n".join(problems)


with Tap() as tap:
    tap.run(test_formatter_sees, tap)
    tap.run(test_format)
    tap.run(test_tidy_sees)
    tap.run(test_tidy)
