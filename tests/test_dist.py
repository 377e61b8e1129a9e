#!/usr/bin/env python3
"""test_dist.py - the archive is complete, its version is one, and programs are hardened."""

import os
import platform
import re
import subprocess

import lib  # the path
from tap import Skip, Tap, need_programs, read_text, run, top_builddir, top_srcdir

# Only useful in a clone.
LEFT_OUT = (".ci/run", ".gitignore", ".github/")

# In readelf's output, of programs and modules: position-independent, no writable tables of
# addresses once it runs, no executable stack, calls of the stack protector.
HARDENED = (r"Type: +DYN ", r"GNU_RELRO ", r"\(FLAGS\) +.*BIND_NOW|\(FLAGS_1\).* NOW",
            r"GNU_STACK .* RW  0x", r"__stack_chk_fail")
FORTIFIED = r" __(?!stack)\w+_chk@"  # where there is a call whose size is not known
WEAK = (r"TEXTREL", r"\((RPATH|RUNPATH)\)", r"LOAD .* RWE ")


def make_environment():
    """The environment without the variables that make sets for its children."""
    return {name: value for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}


def every_file_goes_along(tap):
    """every tracked file is in the archive, so that its tests can run there, too"""
    if not os.path.exists(os.path.join(top_srcdir(), ".git")):
        raise Skip("not a git work tree")
    (git,) = need_programs("git")
    tracked = run([git, "-c", "safe.directory=*", "-C", top_srcdir(),
                   "ls-files", "-z"]).split("\0")
    tree = os.path.join(tap.directory, "tree")
    run(["make", "-s", "-C", top_builddir(), "distdir", f"distdir={tree}"], 300,
        env=make_environment())
    missing = [name for name in tracked if name and not name.startswith(LEFT_OUT)
               and os.path.exists(os.path.join(top_srcdir(), name))
               and not os.path.exists(os.path.join(tree, name))]
    assert not missing, f"not in EXTRA_DIST: {missing}"


def ask_make(expression):
    """Words of a variable of the build's Makefile."""
    (make,) = need_programs("make")
    done = subprocess.run(
        [make, "-s", "-C", top_builddir(), "-f", "-", "asked"],
        input=f"include Makefile\nasked:;@echo {expression}\n", env=make_environment(),
        stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return done.stdout.split()


def programs_are_hardened():
    """the compiler is asked for stack protector, FORTIFY and CET, and the files have what shows"""
    flags = ask_make("$(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)")
    if " -fsanitize=" in " ".join(flags) or platform.machine() != "x86_64":
        raise Skip("a build with sanitizers, or another machine")
    for wanted in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-fcf-protection"):
        assert flags.count(wanted) == 1, (wanted, flags)
    (readelf,) = need_programs("readelf")
    programs = ask_make("$(bin_PROGRAMS) $(sbin_PROGRAMS) $(pkglibexec_PROGRAMS)"
                        " $(module_PROGRAMS)")
    assert {"paperboyd", "paperboyctl", "paperboy-web", "paperboy-parser"} <= {*programs}
    for name in programs:
        said = run([readelf, "-W", "-h", "-l", "-d", "--dyn-syms",
                    os.path.join(top_builddir(), name)])
        for wanted in HARDENED:
            assert re.search(wanted, said), (name, wanted)
        for unwanted in WEAK:
            assert not re.search(unwanted, said), (name, unwanted)
        assert name.endswith(".so") or re.search(r"\(FLAGS_1\).* PIE", said), name
        assert name != "paperboyd" or re.search(FORTIFIED, said), name


def version_is_one():
    """NEWS and the packages have the version that the programs print"""
    (version,) = ask_make("$(PACKAGE_VERSION)")
    for name, pattern in (("NEWS", r"^paperboy (\S+) "), ("debian/changelog", r"\((.+)-\d+\)"),
                          ("contrib/rpm/paperboy.spec", r"^Version: +(\S+)"),
                          ("contrib/rpm/paperboy.spec", r"%changelog\n.* (\S+)-\d+\n")):
        found = re.search(pattern, read_text(os.path.join(top_srcdir(), name)), re.M)[1]
        assert found == version, (name, found, version)


with Tap() as tap:
    tap.run(version_is_one)
    tap.run(programs_are_hardened)
    tap.run(every_file_goes_along, tap)
