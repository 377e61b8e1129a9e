"""engines.py - which script tests run on PostgreSQL, too.

All scripts that use a store do, with $PAPERBOY_TEST_STORE, but for those listed here.
"""

import os
import re

from tap import read_text, top_builddir, top_srcdir

OWN_SERVER = "has servers of its own"
FILE = "is about the file of a store"
NO_STORE = "uses no store"
WRITES = "writes configurations of its own"

# Scripts, or functions of scripts, that are not run, and why.
SQLITE_ONLY = {
    "test_bounce_reports": NO_STORE,
    "test_config_errors": NO_STORE,
    "test_ctl": {"test_read_only": FILE, "test_state_directory": FILE},
    "test_ctl_instances": OWN_SERVER,
    "test_damage": dict.fromkeys((
        "truncated", "header_flipped", "page_flipped", "empty", "foreign", "newer",
        "log_without_store", "no_store", "not_a_file", "wrong_modes", "unreadable",
        "locks_are_held"), FILE),
    "test_damaged_rows": FILE,
    "test_dist": NO_STORE,
    "test_doctor": {"broken_files": FILE},
    "test_engines_scripts": OWN_SERVER,
    "test_failover": OWN_SERVER,
    "test_fleet": OWN_SERVER,
    "test_health": {"old_backup": FILE},
    "test_inbox": {"survives_a_full_disk": FILE},
    "test_key": {"missing_store": FILE, "key_from_backup": FILE},
    "test_imap_bad": NO_STORE,
    "test_language": NO_STORE,
    "test_layers": NO_STORE,
    "test_log": dict.fromkeys(("at_info", "at_debug"),
                              "fetches papers beside a daemon, which has that job"),
    "test_machines": OWN_SERVER,
    "test_man": NO_STORE,
    "test_oauth": {"attempts_are_few": "its fast clock ends connections to the server",
                   "backups": FILE},
    "test_relay": dict.fromkeys(("disk_full_behind_the_dot", "daemon_disk_full"), FILE),
    "test_restore": FILE,
    "test_service": "starts the system in a container, with the shipped configuration",
    "test_setup": WRITES,
    "test_stale": FILE,
    "test_stem_agreement": NO_STORE,
    "test_store_copy": OWN_SERVER,
    "test_subscriber_csv": {"test_erase": FILE},
    "test_upgrade": FILE,
}


def has_libpq():
    return "-DHAVE_POSTGRESQL=1" in read_text(os.path.join(top_builddir(), "Makefile"))


def scripts():
    """The names of all script tests."""
    with open(os.path.join(top_srcdir(), "tests", "Makefile.inc"), encoding="utf-8") as file:
        block = re.search(r"^SCRIPT_TESTS = (.*?[^\\])\n", file.read(), re.M | re.S)[1]
    return re.findall(r"tests/(\w+)\.py", block)


def load_text(*names):
    return read_text(os.path.join(top_srcdir(), "tests", *names))


def find_modules(name):
    """The modules of tests/lib that a script imports, also by way of others."""
    found, left = set(), [load_text(f"{name}.py")]
    while left:
        text = left.pop()
        for module in re.findall(r"^\s*(?:import|from) (\w+)", text, re.M):
            is_ours = os.path.exists(os.path.join(top_srcdir(), "tests", "lib", f"{module}.py"))
            if is_ours and module not in found:
                found.add(module)
                left.append(load_text("lib", f"{module}.py"))
    return found


def portable():
    """Scripts that run on PostgreSQL, perhaps without some of their tests."""
    return [name for name in scripts() if "stores" in find_modules(name)
            and not isinstance(SQLITE_ONLY.get(name), str)]


def makes_stores(name):
    return re.search(r"\b(Instance|Paperboy|Simulation|\w*Network)\(|stores\.create",
                     load_text(f"{name}.py"))


def runs_program(name):
    return re.search(r'"paperboy(d|ctl)"', load_text(f"{name}.py"))


def why_not(script, function):
    """Why a function of a script is not run on PostgreSQL; None: it is."""
    reason = SQLITE_ONLY.get(script)
    return reason.get(function) if isinstance(reason, dict) else reason
