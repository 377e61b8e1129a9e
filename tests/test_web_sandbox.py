#!/usr/bin/env python3
"""test_web_sandbox.py - paperboy-web under its unit, and what an intruder can do there.

systemd runs in a container that shares /usr with this machine.
"""

import glob
import json
import os
import re
import shutil

import lib  # the path
from container import Container, make_shared_root
from paperserver import element
from tap import Skip, Tap, need_programs, read_text, run, save, top_builddir
from web_server import is_sanitized

UNIT = "paperboy-web.service"
# Maxima, as computed by systemd-analyze security.
EXPOSURES = {UNIT: 0.3, "paperboyd.service": 1.2}
PAGE = "http://127.0.0.1:8080"
URL = "https://papers.example.org"
# Attempts that only the program itself prevents, not its unit.
CONFINED_ONLY = 3

CONFIG = f"""
state_dir = "/var/lib/paperboy";
mail: {{ from = "paperboy@machine.example"; owner = "root@machine.example"; }};
commands: {{ address = "commands@machine.example"; }};
delivery: {{ method = "maildir"; maildir = "/var/lib/paperboy/Maildir"; }};
sources = ( {{ name = "hf"; kind = "huggingface"; url = "file:///srv/papers"; }} );
receive: {{ lmtp_socket = "/run/paperboy/lmtp"; }};
web: {{ url = "{URL}"; }};
"""


def has_little_exposure(tap):
    """the units are valid and have little exposure"""
    (analyze,) = need_programs("systemd-analyze")
    # A unit refers to installed programs.
    names = [*EXPOSURES, "paperboy-web.socket"]
    for name in names:
        text = read_text(os.path.join(top_builddir(), "systemd", name))
        with open(os.path.join(tap.directory, name), "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^ExecStart=.*$", "ExecStart=/bin/true",
                              re.sub(r"(?m)^ExecReload=.*\n", "", text)))
    paths = [os.path.join(tap.directory, name) for name in names]
    verdict = run([analyze, "verify", "--man=no", *paths])
    assert verdict.strip() == "", verdict
    for (name, most), path in zip(EXPOSURES.items(), paths):
        output = run([analyze, "security", "--offline=yes", "--no-pager", path])
        exposure = float(re.search(rf"exposure level for {name}: ([0-9.]+)", output)[1])
        assert exposure <= most, output


def confines_itself():
    """what the program gives up by itself is gone without a unit, too"""
    helper = os.path.join(top_builddir(), "tests", "helper_intruder")
    output = run([helper, "--confined"], check=False)
    if is_sanitized() or "no filter" in output:
        raise Skip("a build with sanitizers, or without libseccomp")
    results = dict(re.findall(r"^(.*): (fails|SUCCEEDS)$", output, re.M))
    assert len(results) >= 20 and set(results.values()) == {"fails"}, output


def install(directory):
    """Install paperboy into a directory.  @return the directory"""
    installed = os.path.join(directory, "installed")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    run(["make", "-s", "-C", top_builddir(), "install", f"DESTDIR={installed}"], 300,
        env=environment)
    if not os.path.exists(os.path.join(installed, "usr/local/sbin/paperboy-web")):
        raise Skip("configured for another prefix than /usr/local")
    path = os.path.join(installed, "usr/local/etc/paperboy/paperboy.conf")
    save(path, CONFIG)
    return installed


def mails(machine, recipient):
    """Mails to an address as text, with joined lines."""
    found = []
    for path in glob.glob(machine.path("/var/lib/paperboy/Maildir/new/*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read().replace("=\n", "")
        if f"To: <{recipient}>" in text or f"To: {recipient}" in text:
            found.append(text)
    return found


def starts_on_demand(machine):
    """the first connection starts paperboy-web, which reaches paperboyd"""
    day = machine.run("date", "-u", "+%F").strip()
    machine.write(f"/srv/papers/daily_papers-{day}.json",
                  json.dumps([element(number) for number in range(3)]))
    machine.run("systemctl", "start", "paperboyd.service", "paperboy-web.socket")
    assert machine.show(UNIT, "ActiveState") == "inactive"
    status = machine.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                         f"{PAGE}/healthz")
    assert status == "200", machine.run("journalctl", "-n", "20", "--no-pager")
    assert machine.show(UNIT, "ActiveState") == "active"
    assert "<html" in machine.run("curl", "-s", f"{PAGE}/")


def restarts(machine):
    """requests wait for the restart of paperboy-web; without paperboyd they get 503"""
    machine.run("systemctl", "restart", UNIT)
    assert "<html" in machine.run("curl", "-s", f"{PAGE}/")
    machine.run("systemctl", "stop", "paperboyd.service")
    assert machine.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                       f"{PAGE}/u/abc") == "503"
    machine.run("systemctl", "start", "paperboyd.service")
    assert machine.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                       f"{PAGE}/healthz") == "200"


def find_token(machine):
    """A token of the digest of one of two subscribers."""
    for name in ("ada", "bob"):
        machine.run("/usr/local/bin/paperboyctl", "subscriber", "add", f"{name}@machine.example",
                    "--filter", "paper", "--consent", "asked for it")
    for name in ("ada", "bob"):
        machine.wait_for(lambda: mails(machine, f"{name}@machine.example"), "a digest")
    (digest,) = mails(machine, "ada@machine.example")
    return re.search(rf"{URL}/d/([a-z2-7]+)", digest)[1]


def attempt(machine, *arguments):
    """Run the intruder in place of paperboy-web.  @return {attempt: result}"""
    machine.write(f"/etc/systemd/system/{UNIT}.d/intruder.conf",
                  "[Service]\nType=oneshot\nExecStart=\n"
                  f"ExecStart=/usr/local/sbin/paperboy-web {' '.join(arguments)}\n")
    machine.run("systemctl", "stop", UNIT)
    machine.run("systemctl", "daemon-reload")
    cursor = machine.run("journalctl", "-n", "0", "--show-cursor", "--no-pager").split(
        "-- cursor: ")[1].strip()
    status, output = machine.try_run("systemctl", "start", UNIT)
    read = ("journalctl", "-u", UNIT, "-o", "cat", "--no-pager", "--after-cursor", cursor)
    assert status == 0, output + machine.run(*read)
    machine.wait_for(lambda: "\nend\n" in machine.run(*read), "the end")
    return dict(re.findall(r"^(.*): (fails|SUCCEEDS)$", machine.run(*read), re.M))


def holds_an_intruder(machine, installed, token):
    """all attempts of an intruder fail under the unit, and in the confined program"""
    program = os.path.join(installed, "usr/local/sbin/paperboy-web")
    os.unlink(program)  # it is running
    shutil.copy(os.path.join(top_builddir(), "tests", "helper_intruder"), program)
    counts = []
    for arguments in ([token], ["--confined", token]):
        results = attempt(machine, *arguments)
        for name, result in results.items():
            wanted = "SUCCEEDS" if name.startswith("CONTROL") else "fails"
            assert result == wanted, (arguments[0], name)
        counts.append(len(results))
    assert counts[0] >= 20 and counts[1] == counts[0] + CONFINED_ONLY, counts


def succeeds_outside(machine, token):
    """the same attempts succeed without the unit: they are real"""
    done = machine.run("/usr/local/sbin/paperboy-web", token)
    failed = set(re.findall(r"^(.*): fails$", done, re.M))
    assert failed <= {"read another person's page", "replace the daemon's socket"}, done


def run_steps(tap):
    if is_sanitized():
        raise Skip("a build with sanitizers")
    installed = install(tap.directory)
    root, options = make_shared_root(tap.directory, installed)
    with Container(root, options) as machine:
        tap.run(starts_on_demand, machine)
        tap.run(restarts, machine)
        token = find_token(machine)
        tap.run(holds_an_intruder, machine, installed, token)
        tap.run(succeeds_outside, machine, token)


with Tap() as tap:
    tap.run(has_little_exposure, tap)
    tap.run(confines_itself)
    try:
        run_steps(tap)
    except Skip as why:
        tap.skip("paperboy-web in a container", str(why))
