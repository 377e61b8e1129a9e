#!/usr/bin/env python3
"""layers.py - check the layers of src, and rules that a compiler does not check.

check_tree(src) reads all *.c and *.h below src and returns the problems as
"path:line: text".  The tables below define the layers that HACKING describes.
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
    "web": ("base", "model", "config", "message", "render"),
    "daemon": CORE + ("service", "web", "ctl"),
    "ctl": CORE + ("service",),
}

# Floors inside a layer, the lowest first: a directory may include itself and those
# on lower floors, and never another one on its own floor.
FLOORS = {
    "query": (("query",), ("query/text",), ("query/parse",), ("query/eval",),
              ("query/taste",)),
    "store": (("store/core",), ("store/paper",), ("store/subscriber",), ("store/admin",),
              ("store/mail",)),
    "service": (
        ("service/log",),
        ("service/state", "service/match"),
        ("service/collect", "service/people", "service/taste"),
        ("service/digest",),
        ("service/advice", "service/delivery"),
        ("service/bounce", "service/command"),
        ("service/jobs",),
        ("service/inbound",),
        ("service/web",),
        ("service/setup",),
        ("service/admin", "service/health"),
    ),
}

# Third-party headers (a name, or a directory with its slash) and the layers that may
# include them.
HOMES = {
    "libconfig.h": ("config",),
    "sqlite3.h": ("store",),
    "libpq-fe.h": ("store",),
    "curl/": ("net",),
    "jansson.h": ("net", "sources", "ctl", "web"),
    "libetpan/": ("parser", "receive"),
    "expat.h": ("sources",),
    "seccomp.h": ("base",),
    "systemd/": ("base", "web"),
}
EVERYWHERE = ("glib.h", "glib-object.h", "glib-unix.h", "glib/", "gio/")

# Headers of the C library and the kernel; any layer may include them.
SYSTEM = frozenset(
    """assert complex ctype dirent dlfcn errno fcntl fenv fnmatch float ftw getopt glob grp
    inttypes iso646 langinfo libgen limits locale malloc math netdb poll pthread pwd
    regex sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool
    stddef stdint stdio stdio_ext stdlib stdnoreturn string strings sysexits syslog
    termios threads time tgmath uchar unistd utime wchar wctype""".split()
)
SYSTEM_DIRECTORIES = ("arpa/", "linux/", "net/", "netinet/", "sys/")

SQL = re.compile(
    r"\bSELECT\b.*\bFROM\b|^\s*SELECT\s+\w+\(|\bINSERT\s+(?:OR\s+\w+\s+)?INTO\b"
    r"|\bREPLACE\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b|^\s*PRAGMA\s+\w"
    r"|\b(?:CREATE|DROP|ALTER)\s+(?:TEMP\s+|UNIQUE\s+|VIRTUAL\s+)*"
    r"(?:TABLE|INDEX|TRIGGER|VIEW)\b|^\s*BEGIN\s+(?:IMMEDIATE|EXCLUSIVE|DEFERRED)\b",
    re.IGNORECASE | re.DOTALL,
)
EXIT = re.compile(r"(?<![\w.>])exit\s*\(")
# Log lines come from the table of events; only g_debug() may print anything.
LOGGING = re.compile(r"\bg_(?:message|warning|info|critical|error)\s*\(")
TYPEDEF = re.compile(r"\btypedef\s+(?:const\s+)?struct\b")
INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE
)

# Comments, strings and characters; the first to begin wins.
PIECE = re.compile(
    r"(?P<block>/\*.*?(?:\*/|\Z))"
    r"|(?P<line>//[^\n]*)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<character>'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)


def blanked(text):
    """Replace all characters but line ends by blanks."""
    return re.sub(r"[^\n]", " ", text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Source:
    """One file, split into code, comments and strings."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.line_comments = []  # offsets
        self.strings = []  # (offset, contents); adjacent literals are joined

        def piece(match):
            if match["line"]:
                self.line_comments.append(match.start())
            elif match["string"]:
                self.add_string(match)
            return blanked(match[0])

        # quotes and slashes of an include are neither string nor comment
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
        """All includes outside of comments, as (line, is_system, name)."""
        visible = re.sub(
            r"/\*.*?\*/", lambda match: blanked(match[0]), self.text, flags=re.DOTALL
        )
        for match in INCLUDE.finditer(visible):
            # the line of the name: the match may begin with blanks before "#"
            yield line_of(visible, match.start(2)), match[1] == "<", match[2]


def home_of(name):
    """Layers that may include a third-party header, or None for other headers."""
    for known, layers in HOMES.items():
        if name == known or (known.endswith("/") and name.startswith(known)):
            return layers
    return None


def check_include(layer, directory, base, name, is_system, src):
    """Report the problem of one #include, or None."""
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
        if name.startswith(SYSTEM_DIRECTORIES) or name.removesuffix(".h") in SYSTEM:
            return None
        return f"<{name}> has no home in the table"
    if ".." in name.split("/"):
        return f'"{name}": expected a path from src'
    if "/" not in name:
        if os.path.exists(os.path.join(base, name)):
            return None
        return f'"{name}": expected a path from src'
    target = name.split("/")[0]
    if target == layer and layer in FLOORS:
        return check_floor(layer, directory, os.path.dirname(name))
    if target == layer or target in MAY_USE[layer]:
        return None
    if target not in MAY_USE:
        return f'"{name}" is in no known layer'
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


def upward_edges(edges):
    """Edges of an include graph that the tables of layers and floors do not allow."""
    upward = []
    for start, end in sorted(edges):
        layer, target = start.split("/")[0], end.split("/")[0]
        if layer == target and layer in FLOORS:
            is_allowed = check_floor(layer, start, end) is None
        else:
            is_allowed = layer == target or target in MAY_USE.get(layer, ())
        if not is_allowed:
            upward.append((start, end))
    return upward


def count_floors(edges):
    """Number of floors of an include graph without cycles: its longest path."""
    heights = {}

    def height(directory):
        if directory not in heights:
            below = [height(end) for start, end in edges if start == directory]
            heights[directory] = 1 + max(below, default=0)
        return heights[directory]

    return max((height(start) for start, _ in edges), default=0)


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


def same_names(top, directories):
    """Names of code files in more than one directory: {name: [path]}."""
    places = {}
    for start in directories:
        for directory, _, names in os.walk(os.path.join(top, start)):
            for name in names:
                if name.endswith((".c", ".h", ".py")) and name != "main.c":
                    path = os.path.relpath(os.path.join(directory, name), top)
                    places.setdefault(name, []).append(path)
    return {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}


def check_purpose(source):
    """Report a file whose first two lines do not give its name and purpose, or None."""
    lines = source.text.split("\n", 2)
    name = re.escape(os.path.basename(source.path))
    if len(lines) < 2 or lines[0] != "/*":
        return 'the first line is not "/*"'
    if not re.fullmatch(rf" \* {name} - \S.*", lines[1]):
        return f'the second line is not " * {os.path.basename(source.path)} - purpose"'
    return None


def check_file(src, path):
    """Problems of one file as [(line, text)]; path is relative to src."""
    full = os.path.join(src, path)
    with open(full, encoding="utf-8") as file:
        source = Source(path, file.read())
    layer = path.split(os.sep)[0]
    problems = []
    if layer not in MAY_USE or os.sep not in path:
        return [(1, f"{layer} is in no known layer")]

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

    purpose = check_purpose(source)
    if purpose:
        problems.append((1, purpose))
    return sorted(problems)


def source_files(src):
    """All *.c and *.h below src, sorted and relative to it."""
    found = []
    for directory, below, names in os.walk(src):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in names:
            if name.endswith((".c", ".h")):
                found.append(os.path.relpath(os.path.join(directory, name), src))
    return sorted(found)


def check_tree(src):
    """All problems below src, as "path:line: text"."""
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
