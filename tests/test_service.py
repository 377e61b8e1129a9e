#!/usr/bin/env python3
#
# test_service.py - install, run, upgrade and purge the Debian packages under systemd.
#
# All steps use one container and build on each other.  PAPERBOY_LONG=1: also with a database
# server, whose packages take as long to install as all others, and with the optimizer.

import email
import email.policy
import glob
import json
import os
import re
import shutil

import lib  # the path
from container import Container, make_root, need_root
from paperserver import element
from readme import blocks
from stopped import Stopped, find_thread
from tap import (
    IS_LONG, Skip, Tap, need_programs, read, read_process, read_text, run, save,
    top_builddir,
)

EXPOSURE = 1.1  # maximum, as computed by systemd-analyze security
UNIT = "paperboyd.service"
PEOPLE = 40  # subscribers with a queued digest during the upgrade
SERVERS = ["postfix", "dovecot-core", "dovecot-lmtpd"] + ["postgresql"] * IS_LONG


def build(directory):
    """Build the packages as doc/install.md says, without tests.

    @return their paths: paperboy, paperboy-postgresql
    """
    need_programs("dpkg-buildpackage", "dh", "lintian")
    output = os.path.join(directory, "package")
    tree = os.path.join(output, "paperboy")
    os.makedirs(output)
    run(["make", "-s", "-C", top_builddir(), "distdir", f"distdir={tree}"], 300)
    environment = dict(os.environ)
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CFLAGS"):
        environment.pop(name, None)
    (block,) = [text for text in blocks("doc/install.md") if "dpkg-buildpackage" in text]
    (command,) = re.findall(r"^.*dpkg-buildpackage .*$", block, re.M)
    assert "apt-get install --no-install-recommends" in block, block
    # Without the optimizer, which takes longer than all that is tested here.
    if not IS_LONG:
        command = command.replace("=nocheck", "='nocheck noopt parallel=2'")
    said = run(["sh", "-ec", command], 900, cwd=tree, env=environment)
    assert "Testsuite summary" not in said, said
    return [path for name in ("paperboy", "paperboy-postgresql")
            for path in glob.glob(os.path.join(output, f"{name}_*.deb"))]


def renamed(package, directory):
    """Repack a package as a later version."""
    tree = os.path.join(directory, "later")
    run(["dpkg-deb", "-R", package, tree], 60)
    path = os.path.join(tree, "DEBIAN", "control")
    text = read_text(path)
    save(path, re.sub(r"^Version: (.*)$", r"Version: \1+later", text, flags=re.M))
    later = os.path.join(directory, "later.deb")
    run(["dpkg-deb", "--root-owner-group", "-b", tree, later], 60)
    return later


def lintian_finds_nothing(packages):
    """lintian finds no error in the packages"""
    found = run(["lintian", "--fail-on", "none", "--allow-root", *packages], 120)
    assert not re.search("^E:", found, re.M), found


def links_libpq_alone(packages):
    """only paperboy-postgresql depends on libpq"""
    depends = [run(["dpkg", "-f", package, "Depends"]) for package in packages]
    assert ["libpq5" in text for text in depends] == [False, True], depends


def copy_package(machine, package):
    """Copy a package into the container."""
    shutil.copy(package, machine.path("/root"))
    return f"/root/{os.path.basename(package)}"


def prepare_mail(machine):
    """Let Postfix deliver mail for users of the container to their Maildirs."""
    machine.shell(
        "useradd -m reader && useradd -m other && useradd -m eva"
        " && postconf -e mydestination=container.example home_mailbox=Maildir/"
        " myhostname=container.example inet_interfaces=loopback-only inet_protocols=ipv4"
        " recipient_delimiter=+"
        " && newaliases && systemctl restart postfix@-.service"
    )


def configure(machine, **more):
    machine.write("/srv/papers/README", "days\n")
    machine.write("/etc/paperboy/paperboy.conf", f"""
mail: {{ from = "paperboy@machine.example"; owner = "root@machine.example"; }};
smtp: {{ host = "127.0.0.1"; tls = "off"; }};
sources = ( {{ name = "hf"; kind = "huggingface"; url = "file:///srv/papers"; }} );
{more.get("text", "")}
""")


def write_day(machine, numbers):
    day = machine.run("date", "-u", "+%F").strip()
    machine.write(f"/srv/papers/daily_papers-{day}.json",
              json.dumps([element(number) for number in numbers]))


def mails(machine, user="reader"):
    """The mails in a user's Maildir."""
    found = []
    for path in sorted(glob.glob(machine.path(f"/home/{user}/Maildir/new/*"))):
        found.append(email.message_from_bytes(read(path), policy=email.policy.default))
    return found


def is_installed_and_started(machine, package):
    """the package installs and its unit is active, with Type=notify"""
    machine.run("dpkg", "-i", copy_package(machine, package))
    assert machine.show(UNIT, "ActiveState") == "active", machine.run("systemctl", "status", UNIT)
    assert machine.show(UNIT, "Type") == "notify"
    assert machine.show(UNIT, "StatusText"), "no status"
    assert machine.shell("stat -c '%U %a' /var/lib/paperboy").strip() == "paperboy 700"
    # 1: the addresses and sources of a fresh installation need an operator; 65 is damage.
    assert machine.shell("paperboyctl doctor || test $? -eq 1")


def is_exposed_little(machine):
    """systemd-analyze verify has no warning, and the exposure is low"""
    assert machine.run("systemd-analyze", "verify", "--man=no", UNIT) == ""
    output = machine.run("systemd-analyze", "security", "--no-pager", UNIT)
    exposure = float(re.search(r"exposure level for \S+: ([0-9.]+)", output).group(1))
    assert exposure <= EXPOSURE, output


def brings_a_digest(machine):
    """a digest is delivered to a local mailbox"""
    prepare_mail(machine)
    configure(machine)
    write_day(machine, range(3))
    machine.run("systemctl", "restart", UNIT)
    machine.run("paperboyctl", "subscriber", "add", "reader@container.example", "--filter", "paper",
            "--consent", "asked for it")
    machine.wait_for(lambda: mails(machine), "a digest")
    (digest,) = mails(machine)
    assert "Made-up paper number 1" in " ".join(
        digest.get_body(("plain",)).get_content().split())


def reloads(machine):
    """systemctl reload applies a valid configuration, and reports an invalid one"""
    configure(machine, text='log_level = "debug";')
    machine.run("systemctl", "reload", UNIT)
    assert "debug" in machine.run("paperboyctl", "config")
    configure(machine, text='log_levle = "debug";')
    status, output = machine.try_run("systemctl", "reload", UNIT)
    assert status != 0, output
    assert "log_levle" in machine.run("journalctl", "-u", UNIT, "-n", "20", "--no-pager")
    assert machine.show(UNIT, "ActiveState") == "active"
    configure(machine)
    machine.run("systemctl", "reload", UNIT)


def is_not_restarted_with_an_invalid_configuration(machine):
    """with an invalid configuration the start fails once and logs the error"""
    configure(machine, text='log_levle = "debug";')
    assert machine.try_run("systemctl", "restart", UNIT)[0] != 0
    machine.wait_for(lambda: machine.show(UNIT, "ActiveState") == "failed", "the failure")
    assert machine.show(UNIT, "ExecMainStatus") == "78"
    output = machine.run("journalctl", "-u", UNIT, "-n", "20", "--no-pager")
    assert "log_levle" in output and "Scheduled restart" not in output, output
    configure(machine)
    machine.run("systemctl", "start", UNIT)


def survives_a_reboot(machine):
    """after a reboot the service runs and mails nothing twice"""
    machine.reboot()
    machine.wait_for(lambda: machine.show(UNIT, "ActiveState") == "active", "the unit")
    machine.wait_for(
        lambda: "paperboyd    running" in machine.try_run("paperboyctl", "status")[1], "status")
    assert len(mails(machine)) == 1


def run_sql(machine, sql):
    return machine.run("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                       "psql", "-X", "-q", "-A", "-t", "-c", sql, "paperboy")


def uses_a_database_server(machine, module):
    """with paperboy-postgresql the store is moved to a server, reached by a Unix socket and
    by TCP with a credential, and back, in the same sandbox"""
    before = machine.run("paperboyctl", "subscriber", "export")
    digests = len(mails(machine)) + len(mails(machine, "eva"))
    machine.shell("setpriv --reuid=postgres --regid=postgres --clear-groups sh -ec '"
                  "createuser paperboy && createdb -O paperboy -T template0 -E UTF8 paperboy'")
    run_sql(machine, "ALTER ROLE paperboy PASSWORD 'secret'")
    file, url = "/var/lib/paperboy/paperboy.db", "postgresql:///paperboy?host=/run/postgresql"
    store = f'store: {{ url = "{url}"; }};'
    machine.run("systemctl", "stop", UNIT)
    configure(machine, text=store)
    output = machine.try_run("paperboyctl", "status")[1]
    assert "paperboy-postgresql" in output, output
    machine.run("dpkg", "-i", copy_package(machine, module))
    machine.run("paperboyctl", "store", "copy", file, url)
    machine.run("systemctl", "start", UNIT)
    assert machine.run("paperboyctl", "subscriber", "export") == before
    assert "on a database server" in machine.try_run("paperboyctl", "status")[1]
    is_exposed_little(machine)
    # By TCP, with the password of the role.
    drop_in = "/etc/systemd/system/paperboyd.service.d/secret.conf"
    machine.write("/root/secret", "secret\n")
    machine.write(drop_in, "[Service]\nLoadCredential=store-password:/root/secret\n")
    configure(machine, text='store: { url = "postgresql://paperboy@127.0.0.1/paperboy";'
                            ' password_file = "store-password"; };')
    machine.shell(f"systemctl daemon-reload && systemctl restart {UNIT}")
    machine.wait_for(lambda: run_sql(
        machine, "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'paperboy'"
        " AND client_addr = '127.0.0.1'") == "t\n", "a connection by TCP")
    machine.shell(f"systemctl stop {UNIT} && rm {drop_in} && systemctl daemon-reload")
    configure(machine)
    machine.shell(f"rm {file}*")
    machine.run("paperboyctl", "store", "copy", url, file)
    machine.run("dpkg", "--purge", "paperboy-postgresql")
    machine.run("systemctl", "start", UNIT)
    assert machine.run("paperboyctl", "subscriber", "export") == before
    assert len(mails(machine)) + len(mails(machine, "eva")) == digests


def write_message(machine, recipient, subject, text):
    """Submit a mail from eva with sendmail(1)."""
    machine.run("/usr/sbin/sendmail", "-f", "eva@container.example", recipient, text=(
        f"From: eva@container.example\nTo: {recipient}\nSubject: {subject}\n\n{text}\n"))


def subscribes_by_mail(machine):
    """a user subscribes by mail through Postfix and gets the first digest"""
    machine.shell(
        "usermod -aG paperboy postfix"
        " && printf 'paperboy  unix - - n - - lmtp\\n' >>/etc/postfix/master.cf"
        " && postconf -e 'transport_maps = inline:{ paperboy@container.example="
        "paperboy:unix:/run/paperboy/lmtp }' 'lmtp_line_length_limit = 0'"
        " && systemctl restart postfix@-.service")
    configure(machine, text="""
commands: { address = "paperboy@container.example"; };
receive: { lmtp_socket = "/run/paperboy/lmtp"; lmtp_group = "paperboy"; };
""")
    machine.run("systemctl", "reload", UNIT)
    write_message(machine, "paperboy@container.example", "subscribe", "add name=papers paper")
    machine.wait_for(lambda: mails(machine, "eva"), "a confirmation")
    (asked,) = mails(machine, "eva")
    assert asked["Reply-To"].startswith("paperboy+c-"), asked["Reply-To"]
    write_message(machine, asked["Reply-To"], "Re: " + asked["Subject"], "ok")
    machine.wait_for(lambda: [mail for mail in mails(machine, "eva") if mail["List-Id"]],
                 "the first digest")
    output = machine.run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager")
    assert re.search("inbox handled .*receiver=lmtp filtered=yes", output), output
    assert "filtered=no" not in output
    status = machine.run("stat", "-c", "%U %G %a", "/run/paperboy/lmtp").strip()
    assert status == "paperboy paperboy 660", status


def main_pid(machine):
    """The main PID of the service, in the PID namespace of this machine."""
    inside = machine.show(UNIT, "MainPID")
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        status = read_process(pid, "status")
        if (status.startswith("Name:\tpaperboyd\n")
                and re.search(rf"^NSpid:\t{pid}\t{inside}$", status, re.M)):
            return int(pid)
    raise AssertionError(f"no process {inside}")


def is_restarted_when_a_thread_is_stuck(machine):
    """a stuck thread makes the watchdog restart the service, and nothing is lost"""
    drop_in = "/etc/systemd/system/paperboyd.service.d/soon.conf"
    machine.write(drop_in, "[Service]\nWatchdogSec=6s\nRestartSec=1s\n")
    machine.shell(f"systemctl daemon-reload && systemctl restart {UNIT}")
    digests = len(mails(machine, "eva"))
    with Stopped(find_thread(main_pid(machine), "mailer")) as thread:
        machine.run("paperboyctl", "subscriber", "add", "eva+hung@container.example",
                "--filter", "paper", "--consent", "asked for it")
        machine.wait_for(lambda: "eva+hung" in machine.run("paperboyctl", "queue", "list", "--all"),
                     "a digest that waits")
        machine.wait_for(thread.reap, "the watchdog")
    machine.wait_for(lambda: machine.show(UNIT, "NRestarts") == "1", "the restart")
    machine.wait_for(lambda: len(mails(machine, "eva")) > digests, "the digest that waited")
    output = machine.run("journalctl", "-u", UNIT, "-o", "cat", "--no-pager")
    assert "thread stuck thread=mailer" in output and "atchdog" in output, output
    assert machine.show(UNIT, "ActiveState") == "active"
    machine.shell(f"rm {drop_in} && systemctl daemon-reload && systemctl restart {UNIT}")
    assert len(mails(machine, "eva")) == digests + 1
    machine.run("paperboyctl", "subscriber", "remove", "eva+hung@container.example", "--yes")


def is_upgraded_with_a_full_queue(machine, package):
    """an upgrade with a full queue loses nothing and sends nothing twice"""
    machine.run("systemctl", "stop", "postfix@-.service")
    for number in range(PEOPLE):
        machine.run("paperboyctl", "subscriber", "add", f"other+{number}@container.example",
                "--filter", "paper", "--consent", "asked for it")

    machine.wait_for(
        lambda: machine.run("paperboyctl", "queue", "list", "--all").count("other+") == PEOPLE,
        "a full queue")
    before = machine.run("paperboyctl", "subscriber", "export")
    machine.run("dpkg", "-i", copy_package(machine, package))
    assert machine.show(UNIT, "ActiveState") == "active"
    assert "+later" in machine.run("dpkg-query", "-W", "-f", "${Version}", "paperboy")
    assert machine.run("paperboyctl", "subscriber", "export") == before
    machine.run("systemctl", "start", "postfix@-.service")
    machine.run("paperboyctl", "queue", "retry", "all")
    machine.wait_for(lambda: len(mails(machine, "other")) >= PEOPLE, "all digests")
    recipients = [mail["To"] for mail in mails(machine, "other")]
    assert len(set(recipients)) == len(recipients) == PEOPLE, recipients


def is_purged(machine):
    """a purge leaves nothing"""
    machine.run("dpkg", "--remove", "paperboy")
    assert os.path.exists(machine.path("/var/lib/paperboy/paperboy.db"))
    machine.run("dpkg", "--purge", "paperboy")
    left = machine.shell(
        "find / /run -xdev \\( -path /proc -o -path /run/systemd -o -path /sys -o -path /root -o -path /home"
        " -o -path /var/log -o -path /var/spool/postfix -o -path /run/log \\) -prune -o -iname '*paperboy*' -print")
    assert left == "", left
    assert machine.try_run("getent", "passwd", "paperboy")[0] != 0
    assert machine.try_run("systemctl", "cat", UNIT)[0] != 0


def run_steps(tap, package, module):
    """Run all steps in a container."""
    depends = run(["dpkg", "-f", package, "Depends"])
    needed = [re.split(r"[ |(]", one.strip())[0] for one in depends.split(",")]
    root = make_root(tap.directory, sorted({*needed, *SERVERS}))
    with Container(root) as machine:
        tap.run(is_installed_and_started, machine, package)
        tap.run(is_exposed_little, machine)
        tap.run(brings_a_digest, machine)
        tap.run(subscribes_by_mail, machine)
        tap.run(reloads, machine)
        tap.run(is_not_restarted_with_an_invalid_configuration, machine)
        tap.run(is_restarted_when_a_thread_is_stuck, machine)
        tap.run(survives_a_reboot, machine)
        if IS_LONG:
            tap.run(uses_a_database_server, machine, module)
        tap.run(is_upgraded_with_a_full_queue, machine, renamed(package, tap.directory))
        tap.run(is_purged, machine)


with Tap() as tap:
    try:
        need_root()
        packages = build(tap.directory)
        tap.run(lintian_finds_nothing, packages)
        tap.run(links_libpq_alone, packages)
        run_steps(tap, *packages)
    except Skip as why:
        tap.skip("the service in a container", str(why))
