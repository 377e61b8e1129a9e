#!/usr/bin/env python3
"""test_dist.py - the archive that is handed on has all that is kept here."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from tap import Skip, Tap, need_programs, run, top_builddir, top_srcdir

# Of use in a clone only.
LEFT_OUT = {".ci/run", ".gitignore"}


def every_file_goes_along(tap):
    """every tracked file is in the archive, so that its tests can run there, too"""
    if not os.path.exists(os.path.join(top_srcdir(), ".git")):
        raise Skip("not a git work tree")
    (git,) = need_programs("git")
    tracked = run([git, "-c", "safe.directory=*", "-C", top_srcdir(),
                   "ls-files", "-z"]).split("\0")
    tree = os.path.join(tap.folder, "tree")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    run(["make", "-s", "-C", top_builddir(), "distdir", f"distdir={tree}"], 300,
        env=environment)
    missing = [name for name in tracked if name and name not in LEFT_OUT
               and os.path.exists(os.path.join(top_srcdir(), name))
               and not os.path.exists(os.path.join(tree, name))]
    assert not missing, f"not in EXTRA_DIST: {missing}"


with Tap() as tap:
    tap.run(every_file_goes_along, tap)
