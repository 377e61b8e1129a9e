#!/usr/bin/env python3
"""layers.py - the rules of the house that a compiler does not check.

check_tree(src) reads all *.c and *.h below src and lists problems as
"path:line: what"; an empty list is a clean house.  The tables below are the
layer picture: change them only together with it.
"""

import os
import re
import sys

# A layer may include itself and these.
CORE = ("base", "model", "config", "query", "store", "net", "sources", "message",
        "parser", "receive", "transport", "render")
MAY_USE = {
    "base": (),
    "model": ("base",),
    "config": ("base",),
    "query": ("base", "model"),
    "store": ("base", "model", "query"),
    "net": ("base",),
    "sources": ("base", "model", "net"),
    "message": ("base", "model"),
    "parser": ("base", "message"),
    "receive": ("base", "model", "net", "message"),
    "transport": ("base", "model", "net", "message"),
    "render": ("base", "model", "message"),
    "service": CORE,
    "web": CORE + ("service",),
    "daemon": CORE + ("service", "web", "ctl"),
    "ctl": CORE + ("service",),
}

# Floors inside a layer, the lowest first: a directory may include itself and those
# on lower floors, and never another one on its own floor.
FLOORS = {
    "query": (("query",), ("query/text",), ("query/parse",), ("query/eval",)),
    "store": (("store/core",), ("store/paper",), ("store/subscriber",), ("store/mail",)),
    "service": (
        ("service/log",),
        ("service/state", "service/match"),
        ("service/setup",),
        ("service/collect", "service/people"),
        ("service/digest",),
        ("service/explain", "service/delivery"),
        ("service/command",),
        ("service/inbound",),
        ("service/health",),
    ),
}

# Third-party headers (a name, or a folder with its slash) and who may see them.
HOMES = {
    "libconfig.h": ("config",),
    "sqlite3.h": ("store",),
    "curl/": ("net",),
    "jansson.h": ("sources", "ctl"),
    "libetpan/": ("parser", "receive"),
    "expat.h": ("sources",),
    "seccomp.h": ("parser",),
    "microhttpd.h": ("web",),
    "systemd/": ("daemon",),
}
EVERYWHERE = ("glib.h", "glib-object.h", "glib-unix.h", "glib/", "gio/")

# The C library and the kernel: what has no home and needs none.
SYSTEM = frozenset(
    """assert complex ctype dirent errno fcntl fenv fnmatch float ftw getopt glob grp
    inttypes iso646 langinfo libgen limits locale malloc math netdb poll pthread pwd
    regex sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool
    stddef stdint stdio stdio_ext stdlib stdnoreturn string strings sysexits syslog
    termios threads time tgmath uchar unistd utime wchar wctype""".split()
)
SYSTEM_FOLDERS = ("arpa/", "linux/", "net/", "netinet/", "sys/")

MAX_LINES = 1000

SQL = re.compile(
    r"\bSELECT\b.*\bFROM\b|^\s*SELECT\s+\w+\(|\bINSERT\s+(?:OR\s+\w+\s+)?INTO\b"
    r"|\bREPLACE\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b|^\s*PRAGMA\s+\w"
    r"|\b(?:CREATE|DROP|ALTER)\s+(?:TEMP\s+|UNIQUE\s+|VIRTUAL\s+)*"
    r"(?:TABLE|INDEX|TRIGGER|VIEW)\b|^\s*BEGIN\s+(?:IMMEDIATE|EXCLUSIVE|DEFERRED)\b",
    re.IGNORECASE | re.DOTALL,
)
EXIT = re.compile(r"(?<![\w.>])exit\s*\(")
# Lines of the log come from the table of events; g_debug() may tell anything.
LOGGING = re.compile(r"\bg_(?:message|warning|info|critical|error)\s*\(")
TYPEDEF = re.compile(r"\btypedef\s+(?:const\s+)?struct\b")
INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE
)

# Comments, strings, characters: whichever begins first is one.
PIECE = re.compile(
    r"(?P<block>/\*.*?(?:\*/|\Z))"
    r"|(?P<line>//[^\n]*)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)


def blanked(text):
    """Text of the same shape with every character but line ends a blank."""
    return re.sub(r"[^\n]", " ", text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Source:
    """One file: its code without comments and strings, and those apart."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.line_comments = []  # places
        self.strings = []  # (place, contents); neighbours are one string

        def piece(match):
            if match["line"]:
                self.line_comments.append(match.start())
            elif match["string"]:
                self.add_string(match)
            return blanked(match[0])

        # an include's own quotes or slashes are neither string nor comment
        shielded = INCLUDE.sub(lambda match: blanked(match[0]), text)
        self._last_end = None
        self._shielded = shielded
        self.code = PIECE.sub(piece, shielded)

    def add_string(self, match):
        between = "x" if self._last_end is None else (
            PIECE.sub("", self._shielded[self._last_end : match.start()])
        )
        contents = match[0][1:-1].replace("\\n", "\n").replace("\\t", "\t")
        if self.strings and not between.strip():
            place, before = self.strings.pop()
            self.strings.append((place, before + contents))
        else:
            self.strings.append((match.start(), contents))
        self._last_end = match.end()

    def includes(self):
        """(line, is in angle brackets, name), comments left out."""
        visible = re.sub(
            r"/\*.*?\*/", lambda match: blanked(match[0]), self.text, flags=re.DOTALL
        )
        for match in INCLUDE.finditer(visible):
            # the line of the name: the match may begin with blanks before "#"
            yield line_of(visible, match.start(2)), match[1] == "<", match[2]


def home_of(name):
    """Layers that may include a third-party header; None when it is not one."""
    for known, layers in HOMES.items():
        if name == known or (known.endswith("/") and name.startswith(known)):
            return layers
    return None


def check_include(layer, directory, base, name, is_system, src):
    """What is wrong with one #include, or None."""
    home = home_of(name)
    if home is not None:
        if layer not in home:
            return f"<{name}> belongs to {' and '.join(home)}, not to {layer}"
        return None
    if name == "config.h" or any(
        name == known or (known.endswith("/") and name.startswith(known))
        for known in EVERYWHERE
    ):
        return None
    if is_system:
        if name.startswith(SYSTEM_FOLDERS) or name.removesuffix(".h") in SYSTEM:
            return None
        return f"<{name}> has no home in the table"
    if ".." in name.split("/"):
        return f'"{name}" climbs: name it from src'
    if "/" not in name:
        if os.path.exists(os.path.join(base, name)):
            return None
        return f'"{name}" has no layer: name it from src'
    target = name.split("/")[0]
    if target == layer and layer in FLOORS:
        return check_floor(layer, directory, os.path.dirname(name))
    if target == layer or target in MAY_USE[layer]:
        return None
    if target not in MAY_USE:
        return f'"{name}" is of no known layer'
    return f'"{name}": {layer} may not use {target}'


def floor_of(layer, directory):
    """The number of a directory's floor, or None."""
    for number, floor in enumerate(FLOORS[layer]):
        if directory in floor:
            return number
    return None


def check_floor(layer, directory, target):
    """Report an include within a layer that does not point down, or None."""
    if directory == target:
        return None
    above, below = floor_of(layer, directory), floor_of(layer, target)
    if above is None:
        return f"{directory} is on no floor of {layer}"
    if below is None:
        return f"{target} is on no floor of {layer}"
    if below < above:
        return None
    return f"{directory} (floor {above + 1}) may not use {target} (floor {below + 1})"


def include_graph(src):
    """Number of includes from one directory to another: {(from, to): count}."""
    edges = {}
    for path in source_files(src):
        with open(os.path.join(src, path), encoding="utf-8") as file:
            source = Source(path, file.read())
        directory = os.path.dirname(path)
        for _, is_system, name in source.includes():
            target = os.path.dirname(name)
            if not is_system and target and target != directory:
                edges[directory, target] = edges.get((directory, target), 0) + 1
    return edges


def find_cycles(edges):
    """Directories that reach themselves along the edges of an include graph."""
    reach = {}
    for start, end in edges:
        reach.setdefault(start, set()).add(end)
    changed = True
    while changed:
        changed = False
        for ends in reach.values():
            more = set().union(*(reach.get(end, ()) for end in ends)) - ends
            if more:
                ends |= more
                changed = True
    return sorted(start for start, ends in reach.items() if start in ends)


def same_names(src):
    """Names of files that stand in two directories, main.c excepted."""
    places = {}
    for path in source_files(src):
        places.setdefault(os.path.basename(path), []).append(path)
    return {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and name != "main.c"
    }


def check_purpose(source):
    """The first two lines say the file's name and what it is for."""
    lines = source.text.split("\n", 2)
    name = re.escape(os.path.basename(source.path))
    if len(lines) < 2 or lines[0] != "/*":
        return 'the first line is not "/*"'
    if not re.fullmatch(rf" \* {name} - \S.*", lines[1]):
        return f'the second line is not " * {os.path.basename(source.path)} - purpose"'
    return None


def check_file(src, path):
    """Problems of one file, path relative to src, as (line, text)."""
    full = os.path.join(src, path)
    with open(full, encoding="utf-8") as file:
        source = Source(path, file.read())
    layer = path.split(os.sep)[0]
    problems = []
    if layer not in MAY_USE or os.sep not in path:
        return [(1, f"{layer} is of no known layer")]

    for line, is_system, name in source.includes():
        problem = check_include(
            layer, os.path.dirname(path), os.path.dirname(full), name, is_system, src
        )
        if problem:
            problems.append((line, problem))

    if os.path.basename(path) != "main.c":
        for match in EXIT.finditer(source.code):
            line = line_of(source.code, match.start())
            problems.append((line, "exit() outside a main"))
    if layer != "store":
        for at, contents in source.strings:
            if SQL.search(contents):
                problems.append((line_of(source.text, at), "SQL outside src/store"))
    for match in LOGGING.finditer(source.code):
        problems.append((line_of(source.code, match.start()), "log by event_log()"))
    for match in TYPEDEF.finditer(source.code):
        problems.append((line_of(source.code, match.start()), "typedef struct"))
    for at in source.line_comments:
        problems.append((line_of(source.text, at), "a // comment"))

    count = source.text.count("\n")
    if count > MAX_LINES:
        problems.append((count, f"{count} lines, more than {MAX_LINES}"))
    purpose = check_purpose(source)
    if purpose:
        problems.append((1, purpose))
    return sorted(problems)


def source_files(src):
    """All *.c and *.h below src, relative to it, in order."""
    found = []
    for directory, folders, names in os.walk(src):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if name.endswith((".c", ".h")):
                found.append(os.path.relpath(os.path.join(directory, name), src))
    return sorted(found)


def check_tree(src):
    """All problems below src, "path:line: what"."""
    return [
        f"{path}:{line}: {text}"
        for path in source_files(src)
        for line, text in check_file(src, path)
    ]


def main(argv):
    src = argv[1] if len(argv) > 1 else "src"
    problems = check_tree(src)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
