#!/usr/bin/env python3
"""test_dist.py - the archive is complete, and the programs are hardened."""

import os
import platform
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from tap import Skip, Tap, need_programs, run, top_builddir, top_srcdir

# Only useful in a clone.
LEFT_OUT = (".ci/run", ".gitignore", ".github/")


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


def programs_are_hardened():
    """the compiler is asked for stack protector, FORTIFY and CET"""
    (make,) = need_programs("make")
    rule = ("include Makefile\n"
            "flags:;@echo $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)\n")
    done = subprocess.run(
        [make, "-s", "-C", top_builddir(), "-f", "-", "flags"], input=rule,
        env=make_environment(), stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    flags = done.stdout.split()
    if "-fsanitize=address,undefined" in flags or platform.machine() != "x86_64":
        raise Skip("a build with sanitizers, or another machine")
    for wanted in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-fcf-protection"):
        assert flags.count(wanted) == 1, (wanted, flags)


with Tap() as tap:
    tap.run(programs_are_hardened)
    tap.run(every_file_goes_along, tap)
