"""slots.py - when a subscriber's digests are due, computed with Python's time zones.

A second implementation of src/model/schedule.h: a local time that a clock change
skips is due at the end of the gap, a repeated one the second time.
"""

import bisect
import datetime
import functools
import zoneinfo

DAY_S = 86400
ONE_DAY = datetime.timedelta(days=1)
WORKING = 0x1F
ALL = 0x7F


@functools.lru_cache(maxsize=None)
def zone_of(name):
    return zoneinfo.ZoneInfo(name)


def utc(text):
    """Seconds of "2026-11-20T09:00"."""
    return int(datetime.datetime.fromisoformat(text + "+00:00").timestamp())


def offset_at(zone, at):
    """UTC offset, s."""
    time = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    return int(time.astimezone(zone).utcoffset().total_seconds())


def first_change(zone, low, high):
    """The first second in (low, high] whose offset differs from that of low."""
    before = offset_at(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        if offset_at(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high


def instant(zone, date, minute):
    """The second at which a local time is due."""
    local = datetime.datetime.combine(date, datetime.time(minute // 60, minute % 60))
    wall = int(local.replace(tzinfo=datetime.timezone.utc).timestamp())
    found = {}
    for fold in (0, 1):
        offset = local.replace(tzinfo=zone, fold=fold).utcoffset()
        found[fold] = wall - int(offset.total_seconds())
    valid = [at for at in found.values() if at + offset_at(zone, at) == wall]
    if valid:
        return max(valid)
    return first_change(zone, min(found.values()), max(found.values()))


def changes(zone, begin, end):
    """Clock changes as [(second, minutes skipped; negative: repeated)]."""
    found = []
    for at in range(begin, end, DAY_S):
        if offset_at(zone, at) != offset_at(zone, at + DAY_S):
            when = first_change(zone, at, at + DAY_S)
            moved = offset_at(zone, when) - offset_at(zone, when - 1)
            found.append((when, moved // 60))
    return found


class Schedule:
    """All slots of a subscriber from begin to end, as (second, name).

    weekdays has a bit for each day, bit 0 is Monday.
    """

    def __init__(self, zone, weekdays, minute, begin, end):
        self.zone = zone_of(zone)
        date = datetime.date.fromtimestamp(begin) - 9 * ONE_DAY
        last = datetime.date.fromtimestamp(end) + 16 * ONE_DAY
        self.slots = []
        while date <= last:
            if weekdays & 1 << date.weekday():
                name = f"{date}T{minute // 60:02}:{minute % 60:02}"
                self.slots.append((instant(self.zone, date, minute), name))
            date += ONE_DAY
        assert self.slots == sorted(self.slots)

    def next_after(self, at):
        return self.slots[bisect.bisect(self.slots, (at, "~"))]

    def latest_at(self, at):
        return self.slots[bisect.bisect(self.slots, (at, "~")) - 1]
