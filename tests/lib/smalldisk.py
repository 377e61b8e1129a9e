"""smalldisk.py - mount a file system of a few megabytes, and fill it."""

import contextlib
import os

from tap import Skip, need_programs, run


@contextlib.contextmanager
def small_disk(tap, name, megabytes=32):
    """Mount a tmpfs.  @return its directory"""
    if os.geteuid() != 0:
        raise Skip("mounting needs root")
    mount, umount = need_programs("mount", "umount")
    directory = tap.subdirectory(name)
    try:
        run([mount, "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", directory])
    except AssertionError as problem:
        raise Skip(f"no tmpfs: {problem}") from None
    try:
        yield directory
    finally:
        run([umount, directory])


def fill(directory):
    """Use up all free space."""
    path = os.path.join(directory, "filler")
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 4096):
            pass
    return path
