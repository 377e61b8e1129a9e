"""clock.py - the time at which a test runs the programs, whatever day it is.

    clock = Clock()                    # starts at START and advances from there
    run([..., "--now", clock.now()])
"""

import datetime
import time

DAY = "2026-11-20"
START = f"{DAY}T12:00:00Z"


class Clock:
    """A clock that shows START when it is made, and advances normally."""

    def __init__(self, start=START):
        self.set(start)

    def set(self, start):
        self._start = datetime.datetime.fromisoformat(start.replace("Z", "+00:00"))
        self._began = time.monotonic()

    def advance(self):
        """A time for a program that follows another, whose clock had whole seconds and
        so may have been up to one second ahead of this."""
        self._start += datetime.timedelta(seconds=1)
        return self.now()

    def now(self):
        """The time for --now."""
        elapsed = datetime.timedelta(seconds=int(time.monotonic() - self._began))
        return (self._start + elapsed).strftime("%Y-%m-%dT%H:%M:%SZ")
