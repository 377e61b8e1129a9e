"""mail_network.py - Postfix, Dovecot and an instance of paperboy that gets mail.

    with Network(tap, "name") as network:
        network.start()
        network.write(HOME, "help")
        (reply,) = network.read(1)
"""

import email.utils
import os
import smtplib

import conversations
from conversations import EVA, HOME, PARSER
from daemon import Instance, parse
from peers import PASSWORD, Ca, Dovecot, Postfix
from tap import free_port, save, wait_until


class Network:
    """Postfix, Dovecot with the users' mailboxes, and paperboy behind LMTP."""

    commands = HOME

    def __init__(self, tap, name, dovecot="", **settings):
        directory = tap.subdirectory(name)
        for part in ("ca", "dovecot", "postfix", "paperboy"):
            os.makedirs(os.path.join(directory, part), exist_ok=True)
            os.chmod(os.path.join(directory, part), 0o755)
        self.ca = Ca(os.path.join(directory, "ca"))
        self.dovecot = Dovecot(
            os.path.join(directory, "dovecot"), self.ca, extra=dovecot)
        self.lmtp_port = free_port()
        self.postfix = Postfix(
            os.path.join(directory, "postfix"), self.ca, lmtp=self.dovecot.lmtp,
            settings={
                "transport_maps":
                    f"inline:{{news.example=lmtp:inet:127.0.0.1:{self.lmtp_port}}}",
                "relay_domains": "news.example",
            },
        )
        self.instance = Instance(
            os.path.join(directory, "paperboy"), port=self.postfix.port,
            commands__address=HOME,
            receive__lmtp_listen=f"127.0.0.1:{self.lmtp_port}",
            receive__parser=PARSER,
            **settings,
        )
        self.daemon = None
        self.count = 0

    def __enter__(self):
        self.dovecot.start()
        self.postfix.start()
        return self

    def start(self):
        self.daemon = self.instance.start()
        self.daemon.wait_port(self.lmtp_port)

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.stop()
        self.postfix.stop()
        self.dovecot.stop()

    def send(self, sender, recipients, mail):
        with smtplib.SMTP("127.0.0.1", self.postfix.port) as smtp:
            smtp.sendmail(sender, recipients, mail.as_bytes())

    def write(self, recipient, subject="", text="", sender=EVA, envelope=None, **headers):
        """Send a mail; in names of headers "_" stands for the dash.

        envelope: its sender; None: that of From
        """
        self.count += 1
        step = conversations.make_step("", "", subject, text, sender=sender, **headers)
        mail = conversations.compose(100 + self.count, step, recipient)
        mail["Date"] = email.utils.formatdate()
        self.send(envelope or sender, [recipient], mail)

    def play(self, steps):
        return conversations.play(steps, self.instance, self.commands, self.send, self.read)

    def read(self, count, user=EVA):
        """All mails of a user, once there are count of them."""
        return [parse(raw) for raw in self.dovecot.wait_mails(user, count)]

    def wait_verdicts(self, count):
        """The verdicts on all mails, once count of them are processed."""
        sql = "SELECT verdict FROM inbox WHERE state = 'done' ORDER BY id"
        wait_until(lambda: len(self.instance.rows(sql)) >= count, "mails are handled")
        return [verdict for (verdict,) in self.instance.rows(sql)]


BOX = "reader@example.org"


class HostedNetwork(Network):
    """Paperboy has a mailbox at a provider: IMAP, and submission with a login.

    postfix and dovecot: more settings of the provider's servers.
    """

    commands = BOX

    def __init__(self, tap, name, postfix=None, dovecot="", **settings):
        super().__init__(tap, name, dovecot)
        self.postfix = Postfix(
            self.postfix.directory, self.ca, lmtp=self.dovecot.lmtp,
            sasl=self.dovecot.sasl,
            settings=(postfix or {}) | {
                # a login may send with its own address only, +tag included
                "smtpd_sender_login_maps": f"inline:{{{BOX}={BOX}}}",
                "smtpd_sender_restrictions": "reject_sender_login_mismatch",
            },
        )
        secret = os.path.join(self.instance.directory, "password")
        save(secret, PASSWORD + "\n")
        os.chmod(secret, 0o600)
        login = {
            f"{group}{name}": value
            for group in ("smtp__", "receive__imap_")
            for name, value in {
                "host": "localhost", "ca_file": self.ca.cert, "user": BOX,
                "password_file": secret,
            }.items()
        }
        self.instance.set(
            mail__from=BOX, commands__address=BOX, smtp__port=self.postfix.port,
            smtp__tls="starttls", receive__lmtp_listen=None,
            receive__imap_port=self.dovecot.imaps_port, receive__imap_tls="implicit",
            **login, **settings,
        )

    def start(self):
        self.daemon = self.instance.start()
        self.daemon.wait_line("started")
