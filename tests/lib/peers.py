"""peers.py - real mail servers for tests: smtp-sink, Postfix, Dovecot.

Each has its own directory and ports chosen by the kernel, and is a context manager. A
server that cannot run raises Skip with the reason. Postfix needs root.

    with Dovecot(tap.subdirectory("dovecot"), ca) as dovecot:
        with Postfix(tap.subdirectory("postfix"), ca, lmtp=dovecot.lmtp) as postfix:
            ...smtplib.SMTP("127.0.0.1", postfix.port)...
            dovecot.wait_mails("person@example.org", 1)
"""

import collections
import glob
import grp
import imaplib
import json
import os
import pwd
import re
import ssl

from tap import (
    DEADLINE_S, Child, Skip, free_port, is_listening, need_programs, read_text, run,
    save,
)

DOMAIN = "example.org"
PASSWORD = "correct-horse"
HOST = "127.0.0.1"
MAX_SOCKET_PATH = 107  # sun_path of unix(7), without its NUL


def is_root():
    return os.geteuid() == 0


def need_user(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise Skip(f"no user {name}") from None


def write(path, text, mode=0o644):
    save(path, text)
    os.chmod(path, mode)
    return path


def socket_path(path):
    """A path short enough for a Unix socket, or Skip."""
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise Skip(f"path too long for a socket: {path}")
    return path


# ---- certificates -----------------------------------------------------------


Cert = collections.namedtuple("Cert", "cert key")


class Ca:
    """A temporary test CA, valid for two days; with an issuer, an intermediate one."""

    def __init__(self, directory, issuer=None):
        (self.openssl,) = need_programs("openssl")
        self.directory = directory
        self.name = "intermediate" if issuer else "ca"
        self.key = os.path.join(directory, self.name + ".key")
        self.cert = os.path.join(directory, self.name + ".pem")
        self._count = 0
        request = [self.openssl, "req", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-subj",
                   f"/CN=paperboy test CA ({self.name})"]
        usage = "keyUsage=critical,keyCertSign,cRLSign"
        if not issuer:
            run([*request, "-x509", "-days", "2", "-addext", usage, "-out", self.cert])
            return
        csr, extensions = self.cert + ".csr", self.cert + ".ext"
        write(extensions, f"{usage}\nbasicConstraints=critical,CA:TRUE,pathlen:0\n")
        run([*request, "-out", csr])
        run([self.openssl, "x509", "-req", "-in", csr, "-CA", issuer.cert, "-CAkey",
             issuer.key, "-CAcreateserial", "-days", "2", "-extfile", extensions,
             "-out", self.cert])

    def make_cert(self, *names, days=2):
        """A certificate for names (DNS or IPv4) as Cert(cert, key) paths."""
        self._count += 1
        stem = os.path.join(self.directory, f"{self.name}-cert{self._count}")
        request, key, cert = stem + ".csr", stem + ".key", stem + ".pem"
        alternatives = ",".join(
            ("IP:" if re.fullmatch(r"[\d.]+", name) else "DNS:") + name
            for name in names
        )
        extensions = f"subjectAltName={alternatives}\nbasicConstraints=CA:FALSE\n"
        write(stem + ".ext", extensions)
        run(
            [self.openssl, "req", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={names[0]}",
             "-keyout", key, "-out", request]
        )
        run(
            [self.openssl, "x509", "-req", "-in", request, "-CA", self.cert, "-CAkey",
             self.key, "-CAcreateserial", "-days", str(days), "-extfile", stem + ".ext",
             "-out", cert]
        )
        return Cert(cert, key)

    def make_pair(self, *names):
        """A certificate with its key before it, in one file: its path."""
        key_and_cert = self.make_cert(*names)
        path = key_and_cert.cert + ".pair"
        with open(path, "w", encoding="ascii") as out:
            for part in (key_and_cert.key, key_and_cert.cert):
                out.write(read_text(part))
        return path

    def make_chain(self, *names):
        """A certificate of an intermediate CA, with that CA's below it in the file."""
        below = Ca(self.directory, issuer=self)
        own = below.make_cert(*names)
        path = write(os.path.join(self.directory, "fullchain.pem"), "")
        with open(path, "w", encoding="ascii") as out:
            for part in (own.cert, below.cert):
                out.write(read_text(part))
        return Cert(path, own.key)

    def client_context(self):
        """For smtplib and imaplib: trust this CA only."""
        return ssl.create_default_context(cafile=self.cert)


# ---- smtp-sink --------------------------------------------------------------


# sender and recipients bare; mail_args and rcpt_args with their parameters;
# raw as sent, CRLF, dots unstuffed.
SunkMessage = collections.namedtuple(
    "SunkMessage", "sender recipients raw mail_args rcpt_args helo"
)


class SmtpSink:
    """Postfix's smtp-sink: accepts and stores, or fails according to its options.

    options: as smtp-sink takes them, e.g. ["-f", "RCPT"], ["-B", "550 5.7.1 no"].
    host: of machines.Site, or this one.
    """

    def __init__(self, directory, options=(), port=None, user="nobody", host=None):
        (self.program,) = need_programs("smtp-sink")
        self.directory = directory
        self.options = list(options)
        self.port = port or free_port()
        self.host = host
        self.dump = os.path.join(directory, "dump")
        self.user = user if is_root() else None
        self.child = None

    def start(self):
        os.makedirs(self.dump, exist_ok=True)
        as_user = []
        if self.user:
            who = need_user(self.user)
            os.chown(self.dump, who.pw_uid, who.pw_gid)
            as_user = ["-u", self.user]
        command = [self.program, *as_user, *self.options, "-d", "m.%Y%m%d%H%M%S.",
                   f"{self.host.address if self.host else HOST}:{self.port}", "128"]
        self.child = Child(
            self.host.command(command) if self.host else command, cwd=self.dump)
        try:
            self.child.wait_fact(lambda: is_listening(self.port, self.child.pid),
                                 f"port {self.port}")
        except BaseException:
            self.child.stop()
            raise
        return self

    def stop(self):
        if self.child:
            self.child.stop()

    def messages(self):
        """All complete messages so far.

        Oldest first by file time; the order within a clock tick is undefined, so compare
        sorted or by content.
        """
        rows = []
        for path in glob.glob(os.path.join(self.dump, "m.*")):
            with open(path, "rb") as file:
                data = file.read()
                made_at = os.fstat(file.fileno()).st_mtime_ns
            message = parse_dump(data)
            if message:
                rows.append((made_at, path, message))
        return [message for _, _, message in sorted(rows, key=lambda row: row[:2])]

    def wait_messages(self, count, deadline_s=DEADLINE_S):
        def enough():
            found = self.messages()
            return found if len(found) >= count else None

        return self.child.wait_fact(enough, f"{count} messages", deadline_s)

    def clear(self):
        for path in glob.glob(os.path.join(self.dump, "m.*")):
            os.unlink(path)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


DUMP_LINE = re.compile(rb"X-(Client-Addr|Client-Proto|(?:Helo|Mail|Rcpt)-Args): ?")


def address_of(arguments):
    match = re.match(r"<([^>]*)>|(\S*)", arguments)
    return match[1] if match[1] is not None else match[2]


def parse_dump(data):
    """One file of smtp-sink; None while it is still being written.

    It writes its own lines first, then the message, then an empty line.
    """
    if not data.endswith(b"\n\n"):
        return None
    head = {"Mail": [], "Rcpt": [], "Helo": []}
    rest = data
    while True:
        line, _, after = rest.partition(b"\n")
        match = DUMP_LINE.match(line)
        if not match:
            break
        name = match[1].decode().removesuffix("-Args")
        head.setdefault(name, []).append(line[match.end() :].decode("utf-8", "replace"))
        rest = after
    received = re.match(rb"Received: from .*\n(?:\t.*\n){2}", rest)
    if not received or not head["Mail"]:
        return None
    body = rest[received.end() : -1]
    mail_args = head["Mail"][0]
    return SunkMessage(
        sender=address_of(mail_args),
        recipients=[address_of(arguments) for arguments in head["Rcpt"]],
        raw=body.replace(b"\n", b"\r\n"),
        mail_args=mail_args,
        rcpt_args=head["Rcpt"],
        helo=head["Helo"][0] if head["Helo"] else "",
    )


# ---- Dovecot ----------------------------------------------------------------


DOVECOT_CONF = """\
# made for one test
base_dir = {directory}/run
state_dir = {directory}/state
log_path = /dev/stderr
auth_verbose = yes
auth_failure_delay = 0
protocols = imap lmtp
listen = {host}
default_internal_user = {internal_user}
default_internal_group = {internal_group}
default_login_user = {login_user}
first_valid_uid = 0
mail_location = maildir:{directory}/mail/%d/%n
mail_fsync = never
ssl = yes
ssl_cert = <{cert}
ssl_key = <{key}
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_username_format = %Lu
recipient_delimiter = +
passdb {{
  driver = static
  args = password={password}
  username_filter = *@{domain}
}}
userdb {{
  driver = static
  args = uid={mail_uid} gid={mail_gid} home={directory}/mail/%d/%n allow_all_users=yes
}}
namespace inbox {{
  inbox = yes
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap_port}
  }}
  inet_listener imaps {{
    port = {imaps_port}
    ssl = yes
  }}
}}
service lmtp {{
  unix_listener {lmtp} {{
    mode = 0666
  }}
}}
service auth {{
  unix_listener {sasl} {{
    mode = 0666
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
{extra}
"""


class Dovecot:
    """Dovecot 2.3: LMTP and SASL on Unix sockets, IMAP with STARTTLS and IMAPS.

    Any user of example.org exists, with PASSWORD; mail is Maildir in the directory.
    """

    def __init__(self, directory, ca, names=("localhost", HOST), extra="", days=2):
        self.program, self.doveconf = need_programs("dovecot", "doveconf")
        if not os.path.exists("/usr/lib/dovecot/lmtp"):
            raise Skip("dovecot-lmtpd is not installed")
        if not os.path.exists("/usr/lib/dovecot/imap"):
            raise Skip("dovecot-imapd is not installed")
        if not run([self.program, "--version"]).startswith("2.3."):
            raise Skip("Dovecot is not 2.3")
        self.directory = directory
        self.ca = ca
        self.cert = ca.make_cert(*names, days=days)
        self.extra = extra
        self.imap_port = free_port()
        self.imaps_port = free_port()
        self.lmtp = socket_path(os.path.join(directory, "lmtp.sock"))
        self.sasl = socket_path(os.path.join(directory, "sasl.sock"))
        self.config = os.path.join(directory, "dovecot.conf")
        self.child = None

    def start(self):
        mail = os.path.join(self.directory, "mail")
        os.makedirs(mail, exist_ok=True)
        if is_root():
            need_user("dovecot")
            need_user("dovenull")
            owner = need_user("nobody")
            os.chown(mail, owner.pw_uid, owner.pw_gid)
            internal = ("dovecot", "dovecot", "dovenull")
        else:
            owner = pwd.getpwuid(os.geteuid())
            group = grp.getgrgid(os.getegid()).gr_name
            internal = (owner.pw_name, group, owner.pw_name)
        write(
            self.config,
            DOVECOT_CONF.format(
                directory=self.directory, host=HOST, domain=DOMAIN, password=PASSWORD,
                internal_user=internal[0], internal_group=internal[1],
                login_user=internal[2], mail_uid=owner.pw_uid, mail_gid=owner.pw_gid,
                cert=self.cert.cert, key=self.cert.key,
                imap_port=self.imap_port, imaps_port=self.imaps_port, lmtp=self.lmtp,
                sasl=self.sasl, extra=self.extra,
            ),
        )
        self.child = Child([self.program, "-F", "-c", self.config])
        try:
            self.child.wait_line(r"Dovecot v.* starting up")
            self.child.wait_port(self.imap_port)
            self.child.wait_port(self.imaps_port)
            self.child.wait_socket(self.lmtp)
        except BaseException:
            self.child.stop()
            raise
        return self

    def stop(self):
        if self.child:
            self.child.stop()

    def login(self, user):
        """imaplib connection over TLS, verified against the test CA."""
        trust = self.ca.client_context()
        imap = imaplib.IMAP4_SSL(
            "localhost", self.imaps_port, ssl_context=trust, timeout=120
        )
        imap.login(user, PASSWORD)
        return imap

    def mails(self, user, folder="INBOX"):
        """Raw bytes of all mails of a user, oldest first."""
        imap = self.login(user)
        try:
            kind, _ = imap.select(folder, readonly=True)
            if kind != "OK":
                return []
            _, rows = imap.uid("SEARCH", None, "ALL")
            uids = (rows[0] or b"").split()
            if not uids:
                return []
            wanted = b",".join(uids).decode()
            _, answers = imap.uid("FETCH", wanted, "(UID BODY.PEEK[])")
            found = []
            for answer in answers:
                if isinstance(answer, tuple):
                    uid = re.search(rb"UID (\d+)", answer[0])
                    found.append((int(uid[1]), answer[1]))
            return [raw for _, raw in sorted(found)]
        finally:
            imap.logout()

    def wait_mails(self, user, count, deadline_s=DEADLINE_S):
        """The mails of a user once there are this many."""

        def enough():
            found = self.mails(user)
            return found if len(found) >= count else None

        return self.child.wait_fact(enough, f"{count} mails for {user}", deadline_s)

    def put(self, user, raw, folder="INBOX"):
        """Store a mail in a mailbox as if it had been received."""
        imap = self.login(user)
        try:
            kind, answer = imap.append(folder, None, None, raw)
            assert kind == "OK", answer
        finally:
            imap.logout()

    def put_plainly(self, user, raw, folder="INBOX"):
        """The same without TLS, for an untrusted certificate."""
        with imaplib.IMAP4(HOST, self.imap_port, timeout=120) as imap:
            imap.login(user, PASSWORD)
            kind, answer = imap.append(folder, None, None, raw)
            assert kind == "OK", answer

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


# ---- Postfix ----------------------------------------------------------------


POSTFIX_MAIN = {
    "compatibility_level": "3.6",
    "mail_owner": "postfix",
    "setgid_group": "postdrop",
    "myhostname": "mail.example.org",
    "mydestination": "",
    "mynetworks": "127.0.0.0/8",
    "inet_interfaces": HOST,
    "inet_protocols": "ipv4",
    "alias_maps": "",
    "alias_database": "",
    "local_recipient_maps": "",
    "local_transport": "error:5.1.1 no local mail here",
    "smtpd_relay_restrictions": "permit_mynetworks, permit_sasl_authenticated, reject",
    "maillog_file": "/dev/stdout",
    "recipient_delimiter": "+",
    "smtputf8_enable": "yes",
    "notify_classes": "",
    "biff": "no",
    # Short ones are used again after a while: two messages would be one in the log.
    "enable_long_queue_ids": "yes",
    "smtpd_client_connection_count_limit": "0",
    # never onto the real network: other mail is undeliverable
    "default_transport": "error:5.7.1 not from a test",
    "relay_transport": "error:5.7.1 not from a test",
    "smtp_dns_support_level": "disabled",
    "minimal_backoff_time": "2s",
    "maximal_backoff_time": "4s",
    "queue_run_delay": "2s",
}

POSTFIX_MASTER = """\
# service type private unpriv chroot wakeup maxproc command
{smtpd}
postlog   unix-dgram n - n - 1 postlogd
pickup    unix n - n 60 1 pickup
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
tlsmgr    unix - - n 1000? 1 tlsmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
verify    unix - - n - 1 verify
flush     unix n - n 1000? 0 flush
proxymap  unix - - n - - proxymap
smtp      unix - - n - - smtp
relay     unix - - n - - smtp
showq     unix n - n - - showq
error     unix - - n - - error
retry     unix - - n - - error
discard   unix - - n - - discard
lmtp      unix - - n - - lmtp
anvil     unix - - n - 1 anvil
scache    unix - - n - 1 scache
"""


class Postfix:
    """A Postfix of its own: smtpd on a free port, STARTTLS with the test CA.

    lmtp: Unix socket for the mail of example.org (Dovecot's); without
              one it is deferred and stays in the queue
    sasl:     Unix socket of Dovecot's auth: AUTH is offered after STARTTLS
    relay_to: (host, port) for all other domains, e.g. an smtp-sink
    settings: lines of main.cf, which take precedence
    services: more lines of master.cf, e.g. 'policy ... ' or a second smtpd
    """

    def __init__(self, directory, ca, lmtp=None, sasl=None, relay_to=None, settings=None,
                 services="", names=("localhost", HOST)):
        if not is_root():
            raise Skip("Postfix needs root")
        self.program, self.postqueue, self.postsuper = need_programs(
            "postfix", "postqueue", "postsuper"
        )
        self.directory = directory
        self.config = os.path.join(directory, "etc")
        self.queue = os.path.join(directory, "spool")
        self.data = os.path.join(directory, "data")
        self.port = free_port()
        self.ca = ca
        cert = ca.make_cert(*names)
        socket_path(os.path.join(self.queue, "private", "trivial-rewrite"))
        main = dict(POSTFIX_MAIN)
        main |= {
            "queue_directory": self.queue,
            "data_directory": self.data,
            "virtual_mailbox_domains": DOMAIN,
            "virtual_mailbox_maps": f"static:{DOMAIN}",
            "virtual_transport": f"lmtp:unix:{lmtp}" if lmtp else "lmtp:unix:nobody",
            "smtpd_tls_cert_file": cert.cert,
            "smtpd_tls_key_file": cert.key,
            "smtpd_tls_security_level": "may",
            "smtp_tls_security_level": "none",
        }
        if sasl:
            main |= {
                "smtpd_sasl_auth_enable": "yes",
                "smtpd_sasl_type": "dovecot",
                "smtpd_sasl_path": sasl,
                "smtpd_tls_auth_only": "yes",
                "smtpd_sasl_security_options": "noanonymous",
            }
        if relay_to:
            main["default_transport"] = f"smtp:[{relay_to[0]}]:{relay_to[1]}"
        self.settings = main | (settings or {})
        self.services = services
        self.child = None

    def start(self):
        owner = need_user("postfix")
        for path in (self.config, self.queue, self.data):
            os.makedirs(path, exist_ok=True)
        os.chown(self.data, owner.pw_uid, owner.pw_gid)
        lines = [f"{name} = {value}\n" for name, value in self.settings.items()]
        write(os.path.join(self.config, "main.cf"), "".join(lines))
        smtpd = f"{HOST}:{self.port} inet n - n - - smtpd"
        services = POSTFIX_MASTER.format(smtpd=smtpd) + self.services.rstrip("\n")
        write(os.path.join(self.config, "master.cf"), services.rstrip("\n") + "\n")
        self.child = Child([self.program, "-c", self.config, "start-fg"])
        try:
            self.child.wait_line(r"master\[\d+\]: daemon started")
            self.child.wait_port(self.port)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        """Its own stop command first: master is in another process group."""
        if self.child is None:
            return
        if self.child.is_running:
            run([self.program, "-c", self.config, "stop"], check=False)
            try:
                self.child.wait_exit(10)
            except AssertionError:
                run([self.program, "-c", self.config, "drain"], check=False)
        self.child.stop()

    def queued(self):
        """Output of `postqueue -j`: one dict per message."""
        text = run([self.postqueue, "-c", self.config, "-j"])
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def flush(self):
        run([self.postqueue, "-c", self.config, "-f"])

    def drop_queue(self):
        run([self.postsuper, "-c", self.config, "-d", "ALL"])

    def wait_empty(self, deadline_s=DEADLINE_S):
        self.child.wait_fact(lambda: not self.queued(), "an empty queue", deadline_s)

    def wait_sent(self, count, deadline_s=DEADLINE_S):
        """Wait for this number of deliveries in the log and an empty queue."""

        def enough():
            return sum(" status=sent " in line for line in self.log) >= count

        self.child.wait_fact(enough, f"{count} deliveries", deadline_s)
        self.wait_empty(deadline_s)

    def wait_queued(self, count, deadline_s=DEADLINE_S):
        def enough():
            found = self.queued()
            return found if len(found) >= count else None

        return self.child.wait_fact(enough, f"{count} queued", deadline_s)

    @property
    def log(self):
        return self.child.lines

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
