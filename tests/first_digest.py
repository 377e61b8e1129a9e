#!/usr/bin/env python3
"""first_digest.py - from an empty container to the first digest, as doc/install.md says.

A step of `make check-long`: it builds the package in a fresh Debian, and needs the
network for that.  The mailbox is at Postfix and Dovecot of the container.
"""

import email
import email.policy
import glob
import json
import os
import shutil
import subprocess
import time

import lib  # the path
from container import ENVIRONMENT, Container, make_root, need_root
from paperserver import element
from peers import Ca
from readme import blocks
from tap import Tap, need_programs, read, run, top_builddir

LIMIT_S = 600
BOX, USER, SECRET = "papers@container.example", "eva@container.example", "hunter2"

# Before step 1 of doc/install.md.
PREPARE = """
export DEBIAN_FRONTEND=noninteractive
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/yes
apt-get -qq update
cd /srv/paperboy
"""

DOVECOT = """
ssl_cert = </etc/ssl/mail.pem
ssl_key = </etc/ssl/mail.key
auth_username_format = %Ln
mail_location = maildir:~/Maildir
service auth {
  unix_listener /var/spool/postfix/private/auth {
    mode = 0666
  }
}
"""

SUBMISSION = """
submission inet n - y - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
"""


def prepare_provider(machine, ca):
    """The mailbox, and the user's one, at a provider with TLS."""
    cert = ca.make_cert("localhost")
    for source, target in ((cert.cert, "/etc/ssl/mail.pem"), (cert.key, "/etc/ssl/mail.key"),
                           (ca.cert, "/usr/local/share/ca-certificates/test.crt")):
        os.makedirs(os.path.dirname(machine.path(target)), exist_ok=True)
        shutil.copy(source, machine.path(target))
    machine.write("/etc/dovecot/local.conf", DOVECOT)
    with open(machine.path("/etc/postfix/master.cf"), "a", encoding="ascii") as file:
        file.write(SUBMISSION)
    machine.shell(
        "chown root:root /etc/ssl/mail.* && chmod 600 /etc/ssl/mail.key"
        " && update-ca-certificates && useradd -m papers && useradd -m eva"
        f" && echo papers:{SECRET} | chpasswd"
        " && postconf -e mydestination=container.example home_mailbox=Maildir/"
        " myhostname=container.example inet_interfaces=loopback-only inet_protocols=ipv4"
        " recipient_delimiter=+ smtpd_sasl_type=dovecot smtpd_sasl_path=private/auth"
        " smtpd_tls_cert_file=/etc/ssl/mail.pem smtpd_tls_key_file=/etc/ssl/mail.key"
        " && newaliases && systemctl restart dovecot postfix@-.service")
    machine.wait_for(lambda: machine.try_run("sh", "-c", "ss -ltn | grep -q :587.*")[0] == 0
                     and machine.try_run("sh", "-c", "ss -ltn | grep -q :993.*")[0] == 0,
                     "the provider's ports")
    day = machine.run("date", "-u", "+%F").strip()
    machine.write(f"/srv/papers/daily_papers-{day}.json",
                  json.dumps([element(number) for number in range(3)]))


def read_mails(machine):
    found = []
    for path in sorted(glob.glob(machine.path("/home/eva/Maildir/new/*")), key=os.path.getmtime):
        found.append(email.message_from_bytes(read(path), policy=email.policy.default))
    return found


def wait_mails(machine, count):
    machine.wait_for(lambda: len(read_mails(machine)) >= count, f"{count} mails")
    return read_mails(machine)


def write_mail(machine, recipient, subject, text, reference=""):
    machine.run("/usr/sbin/sendmail", "-f", USER, recipient, text=(
        f"From: {USER}\nTo: {recipient}\nSubject: {subject}\n"
        f"{reference and f'In-Reply-To: {reference}'}\n\n{text}\n".replace("\n\n\n", "\n\n")))


def set_up(machine):
    """paperboyctl setup, and a restart of the service."""
    machine.run("install", "-o", "paperboy", "-g", "paperboy", "-m", "600", "/dev/stdin",
                "/etc/paperboy/password", text=SECRET + "\n")
    machine.write("/root/answers", f"""
owner: {USER}
mailbox: {BOX}
servers: localhost localhost
password_file: /etc/paperboy/password
subscribers: anyone
time: 07:30 Europe/Berlin
categories: none
""")
    print("# " + machine.run("paperboyctl", "setup", "--answers", "/root/answers", "--yes",
                             "--set", "sources.hf.url=file:///srv/papers",
                             "--set", "smtp.tls=starttls", "--set", "receive.imap_tls=implicit",
                             ).replace("\n", "\n# "), flush=True)
    machine.run("systemctl", "restart", "paperboyd")


def digest_in_time(tap):
    """the package is built and installed, set up, and sends a first digest in time"""
    need_root()
    need_programs("systemd-nspawn")
    ca = Ca(tap.subdirectory("ca"))
    root = make_root(tap.subdirectory("debian"),
                     ["postfix", "dovecot-imapd", "iproute2", "ca-certificates"])
    run(["make", "-s", "-C", top_builddir(), "distdir",
         f"distdir={os.path.join(root, 'srv', 'paperboy')}"], 300)
    (install,) = [text for text in blocks("doc/install.md") if "dpkg-buildpackage" in text]
    with Container(root) as machine:
        prepare_provider(machine, ca)
    started = time.monotonic()
    done = subprocess.run(
        ["systemd-nspawn", "-q", "-D", root, "--register=no", "--keep-unit", "--pipe",
         "--resolv-conf=copy-host", "sh", "-ec", PREPARE + install.replace("sudo ", "")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=LIMIT_S * 2, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-3000:]
    print(f"# built and installed after {time.monotonic() - started:.0f} s", flush=True)
    with Container(root) as machine:
        set_up(machine)
        write_mail(machine, BOX, "subscribe", "add paper")
        (asked,) = [mail for mail in wait_mails(machine, 2) if mail["Reply-To"]]
        write_mail(machine, asked["Reply-To"].addresses[0].addr_spec,
                   "Re: " + asked["Subject"], "yes", asked["Message-ID"])
        machine.wait_for(lambda: [mail for mail in read_mails(machine) if mail["List-Id"]],
                         "the digest")
        took_s = time.monotonic() - started
    print(f"# first digest after {took_s:.0f} s", flush=True)
    assert took_s < LIMIT_S, took_s


with Tap() as tap:
    tap.run(digest_in_time, tap)
