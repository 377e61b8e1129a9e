"""stopped.py - stop one thread of another process with ptrace(2).

    with Stopped(find_thread(pid, "mailer")):
        ...
"""

import ctypes
import os

from tap import Skip, read_process, wait_until

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # __WALL: threads too


def find_thread(pid, name):
    """The thread of a process with a name, which it gives itself once it runs."""
    def find():
        for tid in os.listdir(f"/proc/{pid}/task"):
            if read_process(pid, f"task/{tid}/comm").strip() == name:
                return int(tid)
        return None

    return wait_until(find, f"a thread named '{name}'")


class Stopped:
    """A stopped thread of another process; it continues at the end of the block."""

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

    def reap(self):
        """Reap the thread of a killed process, as its tracer.  @return whether it ended"""
        if not self.is_gone:
            pid, status = os.waitpid(self.tid, WALL | os.WNOHANG)
            self.is_gone = pid != 0 and not os.WIFSTOPPED(status)
        return self.is_gone

    def __exit__(self, *_):
        if not self.is_gone:
            self.ptrace(PTRACE_DETACH)
