#!/usr/bin/env python3
#
# test_service.py - the Debian package, under a systemd of its own.
#
# One container, from the first installation to the purge: each step goes on from the
# one before.

import email
import email.policy
import glob
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from container import Container, make_root, need_root
from paperserver import element
from stopped import Stopped, find_thread
from tap import Skip, Tap, need_programs, run, top_builddir

EXPOSURE = 1.1  # at most, as systemd-analyze reckons
UNIT = "paperboyd.service"
PEOPLE = 40  # whose digests wait while the package is upgraded
SERVERS = ["postfix", "dovecot-core", "dovecot-lmtpd"]


def build(folder):
    """The package of this tree. @return its file"""
    need_programs("dpkg-buildpackage", "dh", "lintian")
    place = os.path.join(folder, "package")
    tree = os.path.join(place, "paperboy")
    os.makedirs(place)
    run(["make", "-s", "-C", top_builddir(), "distdir", f"distdir={tree}"], 300)
    environment = dict(os.environ, DEB_BUILD_OPTIONS="nocheck noautodbgsym")
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CFLAGS"):
        environment.pop(name, None)
    run(["dpkg-buildpackage", "-us", "-uc", "-b"], 900, cwd=tree, env=environment)
    (package,) = glob.glob(os.path.join(place, "paperboy_*.deb"))
    return package


def renamed(package, folder):
    """The same package as a later version, without another build."""
    tree = os.path.join(folder, "later")
    run(["dpkg-deb", "-R", package, tree], 60)
    path = os.path.join(tree, "DEBIAN", "control")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^Version: (.*)$", r"Version: \1+later", text, flags=re.M))
    later = os.path.join(folder, "later.deb")
    run(["dpkg-deb", "--root-owner-group", "-b", tree, later], 60)
    return later


def lintian_finds_nothing(package):
    """lintian finds no error in the package"""
    found = run(["lintian", "--fail-on", "none", "--allow-root", package], 120)
    assert not re.search("^E:", found, re.M), found


def bring(lab, package):
    """Put a package where the container can install it."""
    shutil.copy(package, lab.path("/root"))
    return f"/root/{os.path.basename(package)}"


def prepare_mail(lab):
    """Postfix takes mail for users of the container, into a Maildir of theirs."""
    lab.shell(
        "useradd -m reader && useradd -m other && useradd -m eva"
        " && postconf -e mydestination=lab.example home_mailbox=Maildir/"
        " myhostname=lab.example inet_interfaces=loopback-only inet_protocols=ipv4"
        " recipient_delimiter=+"
        " && newaliases && systemctl restart postfix@-.service"
    )


def configure(lab, **more):
    lab.write("/srv/papers/README", "days\n")
    lab.write("/etc/paperboy/paperboy.conf", f"""
mail: {{ from = "paperboy@lab.example"; owner = "root@lab.example"; }};
smtp: {{ host = "127.0.0.1"; tls = "off"; }};
huggingface: {{ url = "file:///srv/papers"; }};
{more.get("text", "")}
""")


def write_day(lab, numbers):
    day = lab.run("date", "-u", "+%F").strip()
    lab.write(f"/srv/papers/daily_papers-{day}.json",
              json.dumps([element(number) for number in numbers]))


def mails(lab, user="reader"):
    """What is in a user's Maildir, parsed."""
    found = []
    for path in sorted(glob.glob(lab.path(f"/home/{user}/Maildir/new/*"))):
        with open(path, "rb") as file:
            found.append(email.message_from_bytes(file.read(), policy=email.policy.default))
    return found


def is_installed_and_started(lab, package):
    """the package installs, and is a notified, active unit at once"""
    lab.run("dpkg", "-i", bring(lab, package))
    assert lab.show(UNIT, "ActiveState") == "active", lab.run("systemctl", "status", UNIT)
    assert lab.show(UNIT, "Type") == "notify"
    assert lab.show(UNIT, "StatusText"), "no status"
    assert lab.shell("stat -c '%U %a' /var/lib/paperboy").strip() == "paperboy 700"
    assert lab.shell("paperboyctl doctor")


def is_exposed_little(lab):
    """systemd-analyze has nothing to say against the unit"""
    assert lab.run("systemd-analyze", "verify", "--man=no", UNIT) == ""
    told = lab.run("systemd-analyze", "security", "--no-pager", UNIT)
    exposure = float(re.search(r"exposure level for \S+: ([0-9.]+)", told).group(1))
    assert exposure <= EXPOSURE, told


def brings_a_digest(lab):
    """configured and reloaded, it brings a digest into a mailbox there"""
    prepare_mail(lab)
    configure(lab)
    write_day(lab, range(3))
    lab.run("systemctl", "restart", UNIT)
    lab.run("paperboyctl", "subscriber", "add", "reader@lab.example", "--filter", "paper",
            "--consent", "asked for it")
    lab.wait_for(lambda: mails(lab), "a digest")
    (digest,) = mails(lab)
    assert "Made-up paper number 1" in " ".join(
        digest.get_body(("plain",)).get_content().split())


def reloads(lab):
    """a good change is taken by systemctl reload, a bad one is refused and told"""
    configure(lab, text='log_level = "debug";')
    lab.run("systemctl", "reload", UNIT)
    assert "debug" in lab.run("paperboyctl", "config")
    configure(lab, text='log_levle = "debug";')
    status, output = lab.try_run("systemctl", "reload", UNIT)
    assert status != 0, output
    assert "log_levle" in lab.run("journalctl", "-u", UNIT, "-n", "20", "--no-pager")
    assert lab.show(UNIT, "ActiveState") == "active"
    configure(lab)
    lab.run("systemctl", "reload", UNIT)


def is_not_started_over_with_a_wrong_configuration(lab):
    """started with a wrong configuration it fails once, and says where it is wrong"""
    configure(lab, text='log_levle = "debug";')
    assert lab.try_run("systemctl", "restart", UNIT)[0] != 0
    lab.wait_for(lambda: lab.show(UNIT, "ActiveState") == "failed", "the failure")
    assert lab.show(UNIT, "ExecMainStatus") == "78"
    told = lab.run("journalctl", "-u", UNIT, "-n", "20", "--no-pager")
    assert "log_levle" in told and "Scheduled restart" not in told, told
    configure(lab)
    lab.run("systemctl", "start", UNIT)


def survives_a_reboot(lab):
    """after a reboot it is there again, and mails nothing twice"""
    lab.reboot()
    lab.wait_for(lambda: lab.show(UNIT, "ActiveState") == "active", "the unit")
    lab.wait_for(lambda: "running" in lab.run("paperboyctl", "status").lower(), "status")
    assert len(mails(lab)) == 1


def write_letter(lab, recipient, subject, text):
    """A letter of eva's, as her mail program hands it in."""
    lab.run("/usr/sbin/sendmail", "-f", "eva@lab.example", recipient, text=(
        f"From: eva@lab.example\nTo: {recipient}\nSubject: {subject}\n\n{text}\n"))


def subscribes_by_mail(lab):
    """a letter through its Postfix, an answer, and the first digest is in a mailbox there"""
    lab.shell(
        "usermod -aG paperboy postfix"
        " && printf 'paperboy  unix - - n - - lmtp\\n' >>/etc/postfix/master.cf"
        " && postconf -e 'transport_maps = inline:{ paperboy@lab.example="
        "paperboy:unix:/run/paperboy/lmtp }' 'lmtp_line_length_limit = 0'"
        " && systemctl restart postfix@-.service")
    configure(lab, text="""
commands: { address = "paperboy@lab.example"; };
mailbox: { lmtp_socket = "/run/paperboy/lmtp"; lmtp_group = "paperboy"; };
""")
    lab.run("systemctl", "reload", UNIT)
    write_letter(lab, "paperboy@lab.example", "subscribe", "add name=papers paper")
    lab.wait_for(lambda: mails(lab, "eva"), "a confirmation")
    (asked,) = mails(lab, "eva")
    assert asked["Reply-To"].startswith("paperboy+c-"), asked["Reply-To"]
    write_letter(lab, asked["Reply-To"], "Re: " + asked["Subject"], "ok")
    lab.wait_for(lambda: [mail for mail in mails(lab, "eva") if mail["List-Id"]],
                 "the first digest")
    told = lab.run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager")
    assert re.search("letter handled .*road=lmtp filtered=yes", told), told
    assert "filtered=no" not in told
    status = lab.run("stat", "-c", "%U %G %a", "/run/paperboy/lmtp").strip()
    assert status == "paperboy paperboy 660", status


def main_pid(lab):
    """The service's process, as this machine numbers it."""
    inside = lab.show(UNIT, "MainPID")
    for path in glob.glob("/proc/[0-9]*/status"):
        try:
            with open(path, encoding="ascii") as file:
                told = file.read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        numbers = re.search(r"^NSpid:\t(.*)$", told, re.M).group(1).split()
        if told.startswith("Name:\tpaperboyd\n") and numbers[1:] == [inside]:
            return int(numbers[0])
    raise AssertionError(f"no process {inside}")


def is_restarted_when_a_thread_hangs(lab):
    """a thread that stands still brings a watchdog restart, and nothing is lost"""
    drop_in = "/etc/systemd/system/paperboyd.service.d/soon.conf"
    lab.write(drop_in, "[Service]\nWatchdogSec=6s\nRestartSec=1s\n")
    lab.shell(f"systemctl daemon-reload && systemctl restart {UNIT}")
    digests = len(mails(lab, "eva"))
    with Stopped(find_thread(main_pid(lab), "post")) as post:
        lab.run("paperboyctl", "subscriber", "add", "eva+hung@lab.example",
                "--filter", "paper", "--consent", "asked for it")
        lab.wait_for(lambda: "eva+hung" in lab.run("paperboyctl", "queue", "list", "--all"),
                     "a digest that waits")
        lab.wait_for(post.bury, "the watchdog")
    lab.wait_for(lambda: lab.show(UNIT, "NRestarts") == "1", "the restart")
    lab.wait_for(lambda: len(mails(lab, "eva")) > digests, "the digest that waited")
    told = lab.run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager")
    assert "thread hangs thread=post" in told and "atchdog" in told, told
    assert lab.show(UNIT, "ActiveState") == "active"
    lab.shell(f"rm {drop_in} && systemctl daemon-reload && systemctl restart {UNIT}")
    assert len(mails(lab, "eva")) == digests + 1
    lab.run("paperboyctl", "subscriber", "remove", "eva+hung@lab.example", "--yes")


def is_upgraded_with_a_full_queue(lab, package):
    """upgraded while its queue is full, it loses nothing and sends nothing twice"""
    lab.run("systemctl", "stop", "postfix@-.service")
    for number in range(PEOPLE):
        lab.run("paperboyctl", "subscriber", "add", f"other+{number}@lab.example",
                "--filter", "paper", "--consent", "asked for it")

    lab.wait_for(
        lambda: lab.run("paperboyctl", "queue", "list", "--all").count("other+") == PEOPLE,
        "a full queue")
    before = lab.run("paperboyctl", "subscriber", "export")
    lab.run("dpkg", "-i", bring(lab, package))
    assert lab.show(UNIT, "ActiveState") == "active"
    assert "+later" in lab.run("dpkg-query", "-W", "-f", "${Version}", "paperboy")
    assert lab.run("paperboyctl", "subscriber", "export") == before
    lab.run("systemctl", "start", "postfix@-.service")
    lab.run("paperboyctl", "queue", "retry", "all")
    lab.wait_for(lambda: len(mails(lab, "other")) >= PEOPLE, "all digests")
    recipients = [mail["To"] for mail in mails(lab, "other")]
    assert len(set(recipients)) == len(recipients) == PEOPLE, recipients


def is_purged(lab):
    """purged, it leaves nothing"""
    lab.run("dpkg", "--remove", "paperboy")
    assert os.path.exists(lab.path("/var/lib/paperboy/paperboy.db"))
    lab.run("dpkg", "--purge", "paperboy")
    left = lab.shell(
        "find / -xdev \\( -path /proc -o -path /sys -o -path /root -o -path /home"
        " -o -path /var/log -o -path /var/spool/postfix -o -path /run/log \\) -prune -o -iname '*paperboy*' -print")
    assert left == "", left
    assert lab.try_run("getent", "passwd", "paperboy")[0] != 0
    assert lab.try_run("systemctl", "cat", UNIT)[0] != 0


def live(tap, package):
    """From the installation to the purge."""
    depends = run(["dpkg", "-f", package, "Depends"])
    needed = [re.split(r"[ |(]", one.strip())[0] for one in depends.split(",")]
    root = make_root(tap.folder, sorted({*needed, *SERVERS}))
    with Container(root) as lab:
        tap.run(is_installed_and_started, lab, package)
        tap.run(is_exposed_little, lab)
        tap.run(brings_a_digest, lab)
        tap.run(subscribes_by_mail, lab)
        tap.run(reloads, lab)
        tap.run(is_not_started_over_with_a_wrong_configuration, lab)
        tap.run(is_restarted_when_a_thread_hangs, lab)
        tap.run(survives_a_reboot, lab)
        tap.run(is_upgraded_with_a_full_queue, lab, renamed(package, tap.folder))
        tap.run(is_purged, lab)


with Tap() as tap:
    try:
        need_root()
        package = build(tap.folder)
        tap.run(lintian_finds_nothing, package)
        live(tap, package)
    except Skip as why:
        tap.skip("the service in a container", str(why))
