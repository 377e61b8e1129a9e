#!/usr/bin/env python3
"""test_bounces_mta.py - bounces that Postfix, Exim and OpenSMTPD write.

Each is the relay of a paperboyd, forwards to a scripted server and to a Dovecot with a
quota, and delivers its reports to paperboyd by LMTP.  tests/bounces has reports that Exim
and OpenSMTPD wrote; GOLDEN_WRITE=1 replaces them.  PAPERBOY_LONG=1: weeks with all three.
"""

import glob
import json
import os
import re
import smtplib

import lib  # the path
import relays
from conversations import HOME, PARSER
from daemon import Instance, at_hour, days_after
from peers import Ca, Dovecot, Postfix
from smtp_fixture import Relay
from tap import IS_LONG, Tap, free_port, read, run, save, top_builddir, top_srcdir

DAY = "2026-11-16"
LIFETIME_S = 2  # in the queue, instead of five days
REPORTS = os.path.join(top_srcdir(), "tests", "bounces")

GOOD = "good@example.org"
# Subscribers: class and status of their bounces.
CASES = {
    "dead@example.org": ("dead", "5.1.1"),
    "full@quota.example": ("full", "5.2.2"),
    "spam@example.org": ("sender", "5.7.1"),
    "format@example.org": ("sender", "5.6.0"),
    "grey@example.org": ("temporary", "4.2.0"),
}
REPLIES = {
    ("RCPT", "dead"): "550 5.1.1 <{}>: Recipient address rejected: User unknown",
    ("RCPT", "grey"): "450 4.2.0 <{}>: Recipient address rejected: Greylisted for 300 s",
    (".", "spam"): "554 5.7.1 Message rejected as spam by the content filter",
    (".", "format"): "554 5.6.0 Message content rejected: invalid MIME structure",
}
QUOTA = """\
protocol lmtp {{
  mail_plugins = quota
}}
plugin {{
  quota = maildir:User quota
  quota_rule = *:messages=1
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {}
  }}
}}
"""


def make_postfix(directory, ca, routes):
    listed = ", ".join(
        f"{{{domain} = {protocol}:inet:127.0.0.1:{port}}}" if protocol == "lmtp"
        else f"{{{domain} = {protocol}:[127.0.0.1]:{port}}}"
        for domain, (protocol, port) in routes.items())
    return Postfix(directory, ca, settings={
        "transport_maps": f"inline:{{{listed}}}", "relay_domains": " ".join(routes),
        "virtual_mailbox_domains": "", "maximal_queue_lifetime": f"{LIFETIME_S}s",
        "bounce_queue_lifetime": "1h",
    })


def make_opensmtpd(directory, _, routes):
    return relays.OpenSmtpd(directory, routes, lifetime_s=LIFETIME_S)


def make_exim(directory, _, routes):
    return relays.Exim(directory, routes, lifetime_s=LIFETIME_S)


SERVERS = {"Postfix": make_postfix, "Exim": make_exim, "OpenSMTPD": make_opensmtpd}


class Network:
    """A relay, the servers behind it, and paperboyd with a subscriber for each case."""

    def __init__(self, tap, name, make_server, **settings):
        directory = tap.subdirectory(name)
        parts = {}
        for part in ("ca", "dovecot", "server", "paperboy"):
            parts[part] = os.path.join(directory, part)
            os.makedirs(parts[part])
            os.chmod(parts[part], 0o755)
        ca = Ca(parts["ca"])
        self.remote = Relay()
        self.remote.act = self.answer
        self.is_greylisting = True
        self.lmtp_port, self.quota_port = free_port(), free_port()
        self.dovecot = Dovecot(parts["dovecot"], ca, extra=QUOTA.format(self.quota_port))
        self.server = make_server(parts["server"], ca, {
            "example.org": ("smtp", self.remote.port),
            "quota.example": ("lmtp", self.quota_port),
            HOME.rpartition("@")[2]: ("lmtp", self.lmtp_port),
        })
        self.instance = Instance(
            parts["paperboy"], port=self.server.port, commands__address=HOME,
            receive__lmtp_listen=f"127.0.0.1:{self.lmtp_port}",
            **{"receive__parser": PARSER} | settings)
        for address in (GOOD, *CASES):
            self.instance.add_person(address, now=at_hour(DAY, 6))
        self.days = 0

    def __enter__(self):
        try:
            self.dovecot.start()
            with smtplib.LMTP("127.0.0.1", self.quota_port) as lmtp:
                lmtp.sendmail("", "full@quota.example", "Subject: the only one\n\n")
            self.server.__enter__()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if getattr(self.server, "child", None):
            self.server.__exit__()
        self.dovecot.stop()
        self.remote.close()

    def answer(self, verb, text):
        """The scripted replies of the server of example.org."""
        address = text.partition("<")[2].partition(">")[0] or text
        local = address.partition("@")[0]
        reply = REPLIES.get((verb, local))
        if not reply or (local == "grey" and not self.is_greylisting):
            return None
        return (reply.format(address) + "\r\n").encode()

    def start(self, hour=12):
        """Start the daemon on the next day, which has a paper."""
        day = days_after(DAY, self.days)
        self.days += 1
        self.instance.write_day(day, [self.days])
        daemon = self.instance.start(now=at_hour(day, hour))
        daemon.wait_port(self.lmtp_port)
        return daemon

    def wait_mail(self, daemon):
        """Wait until all mail of the day is sent, and all reports are stored."""
        daemon.wait_fact(lambda: self.remote.recipients().count(GOOD) >= self.days,
                         "the digest of another subscriber")
        # Digests that were refused for our fault wait to be sent again.
        daemon.wait_fact(lambda: not self.instance.value(
            "SELECT count(*) FROM outbox WHERE state IN ('NEW', 'SENDING')"
            " OR (state = 'DEFERRED' AND returned = 0)"), "all mail sent")
        self.server.wait_empty()

    def wait_done(self, daemon):
        daemon.wait_fact(lambda: not self.instance.value(
            "SELECT count(*) FROM inbox WHERE state <> 'done'"), "all reports processed")

    def run_day(self):
        """Send the mail of a day and process its reports; decide again later."""
        with self.start() as daemon:
            self.wait_mail(daemon)
            self.wait_done(daemon)
        self.instance.once(at_hour(days_after(DAY, self.days - 1), 18), wanted=0)

    def states(self):
        """{address: state} of all subscribers."""
        return dict(self.instance.rows("SELECT address, state FROM subscriber"))

    def evidence(self):
        """{address: [(class, is_scored)]}, oldest first."""
        found = {}
        for address, *row in self.instance.rows(
                "SELECT address, class, is_scored FROM bounce JOIN subscriber s"
                " ON s.id = subscriber_id ORDER BY bounce.id"):
            found.setdefault(address, []).append(tuple(row))
        return found


# ---- reports ----------------------------------------------------------------


def find_case(raw):
    (address,) = [address for address in CASES if address.encode() in raw]
    return address


def explain(*paths):
    """The objects that `bounce explain` prints, by file name."""
    text = run([os.path.join(top_builddir(), "paperboyctl"), "--now", at_hour(DAY),
                "bounce", "explain", *paths])
    found = [json.loads(line) for line in text.splitlines()]
    return {os.path.basename(one["file"]): one for one in found}


def check_explained(found, name, address):
    class_, status = CASES[address]
    assert found["kind"] == "bounce" and found["class"] == class_, (name, found)
    # OpenSMTPD reports that the message expired, without the last reply.
    assert found["status"] in (status, "4.4.7"), (name, found)
    assert found["recipients"] == [address], (name, found)


def saved_reports_are_classified(tap):
    """reports that Exim and OpenSMTPD wrote are classified"""
    del tap
    paths = sorted(glob.glob(os.path.join(REPORTS, "*.eml")))
    assert len(paths) == 2 * len(CASES), paths
    for name, found in explain(*paths).items():
        check_explained(found, name, find_case(read(os.path.join(REPORTS, name))))


def save_report(name, address, raw):
    path = os.path.join(REPORTS, f"{name.lower()}-{address.partition('@')[0]}.eml")
    os.makedirs(REPORTS, exist_ok=True)
    save(path, re.sub(rb"\r\n", b"\n", raw))


def check_reports(tap, name):
    """Each report is stored, explained, and recorded once."""
    directory = tap.subdirectory(f"{name}-reports")
    with Network(tap, f"{name}-day", SERVERS[name],
                 receive__parser="/nonexistent/parser") as network:
        instance = network.instance
        with network.start() as daemon:
            # Reports wait as long as they cannot be parsed.
            daemon.wait_fact(lambda: instance.value("SELECT count(*) FROM inbox")
                             >= len(CASES), "a report for each case")
            network.wait_mail(daemon)
            raws = {find_case(raw): raw for (raw,) in instance.rows(
                "SELECT raw FROM inbox WHERE state = 'new'")}
            assert raws.keys() == CASES.keys(), raws.keys()
            for address, raw in raws.items():
                save(os.path.join(directory, address), raw)
                if os.environ.get("GOLDEN_WRITE") and name != "Postfix":
                    save_report(name, address, raw)
            instance.set(receive__parser=PARSER)
            instance.ctl("reload")
            network.wait_done(daemon)
        for address, found in explain(*glob.glob(f"{directory}/*")).items():
            check_explained(found, name, address)
        assert network.evidence() == {
            address: [(class_, int(class_ != "sender"))]
            for address, (class_, _) in CASES.items()}, network.evidence()
        assert set(network.states().values()) == {"active"}, network.states()


def postfix_reports(tap):
    """a report of Postfix for each case is classified and recorded once"""
    check_reports(tap, "Postfix")


def exim_reports(tap):
    """a report of Exim for each case is classified and recorded once"""
    check_reports(tap, "Exim")


def opensmtpd_reports(tap):
    """a report of OpenSMTPD for each case is classified and recorded once"""
    check_reports(tap, "OpenSMTPD")


# ---- weeks ------------------------------------------------------------------


def check_weeks(tap, name):
    """Only a dead address is suspended within days, and a full mailbox within weeks."""
    suspended = {}  # address: day
    with Network(tap, f"{name}-weeks", SERVERS[name]) as network:
        for day in range(1, 34):
            network.is_greylisting = day <= 5
            network.run_day()
            for address, state in network.states().items():
                if state == "suspended":
                    suspended.setdefault(address, day)
        evidence = network.evidence()
        network.instance.check_store()
    assert suspended.pop("dead@example.org") == 3, suspended
    day = suspended.pop("full@quota.example")
    assert 28 < day <= 31, day
    assert not suspended, suspended
    attempts = [line for _, line in network.remote.commands if "RCPT TO:<dead@" in line]
    assert len(attempts) == 3, attempts
    assert evidence["grey@example.org"] == [("temporary", 1)] * 5, evidence
    for address in ("spam@example.org", "format@example.org"):
        assert set(evidence[address]) == {("sender", 0)}, evidence[address]
        assert len(evidence[address]) >= 20, evidence[address]
    assert network.remote.recipients().count("grey@example.org") == 28
    assert GOOD not in evidence


def postfix_weeks(tap):
    """with Postfix a dead address is suspended on the third day, a full one in week 5"""
    check_weeks(tap, "Postfix")


def exim_weeks(tap):
    """the same with Exim"""
    check_weeks(tap, "Exim")


def opensmtpd_weeks(tap):
    """the same with OpenSMTPD"""
    check_weeks(tap, "OpenSMTPD")


TESTS = (
    saved_reports_are_classified, postfix_reports, exim_reports, opensmtpd_reports,
    postfix_weeks,
)

with Tap() as tap:
    for test in TESTS + (exim_weeks, opensmtpd_weeks) * IS_LONG:
        tap.run(test, tap)
