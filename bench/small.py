"""small.py - a mailing and an idle daemon on a small machine.

The programs run in a control group with a quarter of a core and 128 MB, and a sync takes
20 ms longer, as on a memory card.  The sink is outside of it.  Before the mailing they
fetch arXiv's list of cs and 20 feeds, whose papers nobody's filters find.
"""

import contextlib
import os

from harness import Row, program
from idle import bench_idle
from mailing import open_runner
from tap import Skip

ROOT = "/sys/fs/cgroup"
PEOPLE = 1000
FEEDS, IN_FEED, IN_LIST = 20, 30, 700  # feeds, papers in each, and in the list of cs
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
        preload = f"LD_PRELOAD={os.path.abspath(program('slow_sync.so'))}"
        yield ["/bin/sh", "-c", f'{join}{preload} exec "$@"', "sh"]
    finally:
        remove(groups)


def remove(groups):
    for group in groups:
        if os.path.isdir(group):
            os.rmdir(group)


def write_sources(directory):
    """Write the lists.  @return settings for them"""
    def write(name, count, item):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write("<rss xmlns:dc='http://purl.org/dc/elements/1.1/' version='2.0'>"
                       "<channel><pubDate>Fri, 20 Nov 2026 00:00:00 -0500</pubDate>")
            for number in range(count):
                file.write(f"<item><title>Zymurgy {name} {number}</title>"
                           f"{item(f'2611.{number:05}', 'xylem phloem ' * 100)}</item>")
            file.write("</channel></rss>")

    url = f"file://{directory}"
    write("cs.xml", IN_LIST, lambda paper, abstract: (
        f"<description>arXiv:{paper}v1 Announce Type: new \nAbstract: {abstract}"
        f"</description><guid>oai:arXiv.org:{paper}v1</guid><category>cs.CL</category>"
        "<dc:creator>Ada Lovelace, Alan Turing</dc:creator>"))
    settings = {"sources__arxiv__kind": "arxiv", "sources__arxiv__categories": ["cs"],
                "sources__arxiv__url": url}
    for feed in range(FEEDS):
        write(f"feed{feed}.xml", IN_FEED, lambda paper, abstract, feed=feed: (
            f"<link>https://journal.example/{feed}/{paper}</link>"
            f"<description>{abstract}</description>"))
        settings |= {f"sources__feed{feed}__kind": "feed",
                     f"sources__feed{feed}__url": f"{url}/feed{feed}.xml"}
    return settings


def bench_small(options):
    with small_group() as prefix:
        with open_runner(options, PEOPLE) as runner:
            runner.prefix = prefix
            lists = os.path.join(options.directory, "lists")
            os.mkdir(lists)
            runner.settings = write_sources(lists)
            values = runner.deliver()
            yield Row(f"whole mailing on a small machine, {PEOPLE:,} people",
                      values["wall"], "s", 60, f"{runner.digests:,} digests,"
                      f" {IN_LIST + FEEDS * IN_FEED:,} papers of {FEEDS + 1} lists")
            yield Row("  peak memory", values["peak_kb"] / 1024, "MB", 64)
        options.crowd = [PEOPLE]
        yield from bench_idle(options, prefix)
