"""clock.py - the simulated time that tests pass to the programs.

    clock = Clock()                    # starts at START and advances from there
    run([..., "--now", clock.now()])
"""

import datetime
import time

DAY = "2026-11-20"
START = f"{DAY}T12:00:00Z"


class Clock:
    """A clock that starts at START and runs at normal speed."""

    def __init__(self, start=START):
        self.set(start)

    def set(self, start):
        self._start = datetime.datetime.fromisoformat(start.replace("Z", "+00:00"))
        self._began = time.monotonic()

    def advance(self):
        """Advance by a second.  The clock of the program before was rounded to seconds
        and may have been up to one second ahead of this one."""
        self._start += datetime.timedelta(seconds=1)
        return self.now()

    def now(self):
        """The time for --now."""
        elapsed = datetime.timedelta(seconds=int(time.monotonic() - self._began))
        return (self._start + elapsed).strftime("%Y-%m-%dT%H:%M:%SZ")
