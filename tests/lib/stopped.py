"""stopped.py - one thread of another program stands still, as under a debugger.

    with Stopped(find_thread(pid, "mailer")):
        ...
"""

import ctypes
import os

from tap import Skip

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # __WALL: threads too


def find_thread(pid, name):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii") as file:
            if file.read().strip() == name:
                return int(tid)
    raise AssertionError(f"no thread {name}")


class Stopped:
    """One thread of another program stands still, as under a debugger."""

    def __init__(self, tid):
        self.tid = tid
        self.is_gone = False
        self.libc = ctypes.CDLL(None, use_errno=True)

    def ptrace(self, request):
        if self.libc.ptrace(request, self.tid, None, None) != 0:
            raise Skip(f"ptrace does not work here: {os.strerror(ctypes.get_errno())}")

    def __enter__(self):
        self.ptrace(PTRACE_SEIZE)
        self.ptrace(PTRACE_INTERRUPT)
        os.waitpid(self.tid, WALL)
        return self

    def bury(self):
        """Once its process was killed it is ours to bury. @return whether it is gone"""
        if not self.is_gone:
            pid, status = os.waitpid(self.tid, WALL | os.WNOHANG)
            self.is_gone = pid != 0 and not os.WIFSTOPPED(status)
        return self.is_gone

    def __exit__(self, *_):
        if not self.is_gone:
            self.ptrace(PTRACE_DETACH)
