"""small.py - a mailing and an idle daemon on a small machine.

The programs run in a control group with a quarter of a core and 128 MB; syncs are those
of the disk.  The sink is outside of it.
"""

import contextlib
import os

from harness import Row
from idle import bench_idle
from mailing import open_runner
from tap import Skip

ROOT = "/sys/fs/cgroup"
PEOPLE = 1000
# Files by controller, in version 1 and 2 of control groups.
LIMITS = ({"cpu": {"cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": 25000},
           "memory": {"memory.limit_in_bytes": 128 << 20}},
          {"": {"cpu.max": "25000 100000", "memory.max": 128 << 20}})


@contextlib.contextmanager
def small_group():
    """@return words before a command that run it in the group"""
    limits = LIMITS[os.path.exists(f"{ROOT}/cgroup.controllers")]
    groups = [f"{ROOT}/{name}/paperboy-bench-{os.getpid()}" for name in limits]
    try:
        for group, files in zip(groups, limits.values()):
            os.mkdir(group)
            for name, value in files.items():
                with open(f"{group}/{name}", "w", encoding="ascii") as file:
                    file.write(str(value))
    except OSError as error:
        remove(groups)
        raise Skip(f"no control group can be made here: {error}") from None
    join = "".join(f"echo $$ >{group}/cgroup.procs && " for group in groups)
    try:
        yield ["/bin/sh", "-c", join + 'exec "$@"', "sh"]
    finally:
        remove(groups)


def remove(groups):
    for group in groups:
        if os.path.isdir(group):
            os.rmdir(group)


def bench_small(options):
    with small_group() as prefix:
        with open_runner(options, PEOPLE) as runner:
            runner.prefix = prefix
            values = runner.deliver()
            yield Row(f"whole mailing on a small machine, {PEOPLE:,} people",
                      values["wall"], "s", 60, f"{runner.digests:,} digests")
            yield Row("  peak memory", values["peak_kb"] / 1024, "MB", 64)
        options.crowd = [PEOPLE]
        yield from bench_idle(options, prefix)
