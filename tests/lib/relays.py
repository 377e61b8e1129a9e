"""relays.py - OpenSMTPD and Exim for tests, unpacked and never installed.

Debian permits one installed mail server at a time, so these are downloaded into the
directory `relays` of the build (`apt-get download`), and run in their own root directory
with only the program and its libraries. They forward mail by its domain:

    routes = {"example.org": ("smtp", sink.port), "news.example": ("lmtp", port)}
"""

import glob
import os
import re
import shutil
import stat

from tap import DEADLINE_S, Child, Skip, free_port, need_programs, run, top_builddir

HOST = "127.0.0.1"
# Recipient rejected by smtpd itself or by Exim's configuration.
REFUSED = "nobody-here@refused.example"


def find_package(apt, package, directory, draft):
    """The path of a package in the directory, or of one downloaded into the draft."""
    found = glob.glob(os.path.join(directory, f"{package}_*.deb"))
    if not found:
        try:
            run([apt, "-q", "-o", "APT::Sandbox::User=root", "download", package], cwd=draft)
        except (AssertionError, OSError) as error:
            raise Skip(f"apt-get cannot download {package}: {error}") from None
        found = glob.glob(os.path.join(draft, f"{package}_*.deb"))
    return found[0]


def unpack(*packages):
    """The directory with the files of these packages, or Skip with the reason."""
    if os.geteuid() != 0:
        raise Skip("a root of its own needs root")
    apt, dpkg = need_programs("apt-get", "dpkg")
    directory = os.path.join(top_builddir(), "relays")
    os.makedirs(directory, exist_ok=True)
    root = os.path.join(directory, "-".join(packages))
    draft = f"{root}.new.{os.getpid()}"
    os.makedirs(draft, exist_ok=True)
    try:
        if not os.path.isdir(root):
            for package in packages:
                run([dpkg, "-x", find_package(apt, package, directory, draft), draft])
            os.rename(draft, root)
    except OSError:
        if not os.path.isdir(root):  # by another test at the same time
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return root


class Root:
    """Root directory of a program."""

    def __init__(self, directory, unpacked, program, users):
        self.path = directory
        os.chmod(directory, 0o755)
        self._copy(os.path.join(unpacked, program.lstrip("/")), program)
        libraries = ":".join(glob.glob(os.path.join(unpacked, "usr/lib/*-linux-gnu")))
        found = run(["ldd", os.path.join(unpacked, program.lstrip("/"))],
                    env={**os.environ, "LD_LIBRARY_PATH": libraries})
        for path in re.findall(r"(/\S+) \(0x", found):
            inside = path
            for one in libraries.split(":"):
                if one and path.startswith(one):
                    inside = "/usr/lib/" + os.path.basename(path)
            if inside.startswith("/lib/"):
                inside = "/usr" + inside
            self._copy(path, inside)
        os.symlink("usr/lib", os.path.join(directory, "lib"))
        self.directory("tmp", 0o1777)
        self.directory("dev")
        for name, minor in (("null", 3), ("zero", 5), ("urandom", 9)):
            path = os.path.join(directory, "dev", name)
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            os.chmod(path, 0o666)
        lines = ["root:x:0:0::/:/bin/false\n", "nobody:x:65534:65534::/:/bin/false\n"]
        groups = ["root:x:0:\n", "nogroup:x:65534:\n"]
        for number, name in enumerate(users, 9001):
            lines.append(f"{name}:x:{number}:{number}::/:/bin/false\n")
            groups.append(f"{name}:x:{number}:\n")
        self.file("etc/passwd", "".join(lines))
        self.file("etc/group", "".join(groups))
        self.file("etc/hosts", "127.0.0.1 localhost\n")

    def _copy(self, source, inside):
        target = os.path.join(self.path, inside.lstrip("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)

    def directory(self, name, mode=0o755, owner=(0, 0)):
        path = os.path.join(self.path, name)
        os.makedirs(path, exist_ok=True)
        os.chown(path, *owner)
        os.chmod(path, mode)

    def file(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)


class Relay:
    """A server with its own root directory."""

    def __enter__(self):
        # The root has no preloaded library and no time zone.
        self.child = Child(["env", "-u", "LD_PRELOAD", "-u", "TZ", "chroot",
                            self.root.path, *self.command], cwd="/")
        self.child.wait_port(self.port)
        return self

    def __exit__(self, *_):
        self.child.stop()

    def count_queued(self):
        """Messages in the queue, new ones included."""
        return len(glob.glob(os.path.join(self.root.path, self.queue)))

    def wait_empty(self, deadline_s=DEADLINE_S):
        self.child.wait_fact(lambda: not self.count_queued(), "an empty queue", deadline_s)


class OpenSmtpd(Relay):
    queue = "var/spool/smtpd/[iqt]*/**/*"

    def __init__(self, directory, routes, lifetime_s=4 * 24 * 3600):
        unpacked = unpack("opensmtpd")
        self.port = free_port()
        self.root = Root(directory, unpacked, "/usr/sbin/smtpd", ("opensmtpd", "opensmtpq"))
        self.root.directory("var/lib/opensmtpd/empty")
        self.root.directory("var/empty")
        self.root.directory("var/run")
        self.root.directory("var/spool/smtpd", 0o711)
        self.root.file("etc/mailname", "mail.example.org\n")
        lines = [f"listen on {HOST} port {self.port} hostname mail.example.org",
                 f"queue ttl {lifetime_s}s"]
        for number, (domain, (protocol, port)) in enumerate(routes.items()):
            lines.append(f"action out{number} relay host {protocol}://{HOST}:{port}")
            lines.append(f"match from any for domain {domain} action out{number}")
        self.root.file("etc/smtpd.conf", "\n".join(lines) + "\n")
        self.command = ["/usr/sbin/smtpd", "-d", "-f", "/etc/smtpd.conf"]


EXIM_CONF = """\
primary_hostname = mail.example.org
local_interfaces = {host}
daemon_smtp_ports = {port}
tls_advertise_hosts =
host_lookup =
pipelining_advertise_hosts = *
dsn_advertise_hosts = *
acl_smtp_rcpt = rcpt
qualify_domain = example.org
begin acl
rcpt:
  accept domains = {domains}
  deny message = not here
begin routers
{routers}
begin transports
{transports}
begin retry
* * F,{lifetime_s}s,1s
"""
EXIM_ROUTER = """\
out{number}:
  driver = manualroute
  domains = {domain}
  route_list = * {host} byname
  self = send
  transport = out{number}
"""
EXIM_TRANSPORT = """\
out{number}:
  driver = smtp
  protocol = {protocol}
  port = {port}
  allow_localhost
"""


class Exim(Relay):
    queue = "var/spool/exim4/input/*-[DH]"

    def __init__(self, directory, routes, lifetime_s=4 * 24 * 3600):
        unpacked = unpack("exim4-daemon-light", "libidn12")
        self.port = free_port()
        self.root = Root(directory, unpacked, "/usr/sbin/exim4", ("Debian-exim",))
        owner = (9001, 9001)
        self.root.directory("var/spool/exim4", 0o750, owner)
        self.root.directory("var/log/exim4", 0o750, owner)
        routers = "".join(EXIM_ROUTER.format(number=number, domain=domain, host=HOST)
                          for number, domain in enumerate(routes))
        transports = "".join(
            EXIM_TRANSPORT.format(number=number, protocol=protocol, port=port)
            for number, (protocol, port) in enumerate(routes.values()))
        self.root.file("etc/exim4/exim4.conf", EXIM_CONF.format(
            host=HOST, port=self.port, domains=" : ".join(routes), routers=routers,
            transports=transports, lifetime_s=lifetime_s))
        self.command = ["/usr/sbin/exim4", "-bdf", "-q1s"]
