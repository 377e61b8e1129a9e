"""installation.py - machines on which the commands of a manual page run as written.

    with Installation(directory, ["one.example.org", "two.example.org"]) as installation:
        one = installation.machines["one.example.org"]
        one.write("/etc/paperboy/paperboy.conf", CONFIG.format(...))
        one.run("systemctl enable --now paperboyd")

A machine is a host with its own name and its own copies of /etc, /root, /run and parts
of /var, in a mount namespace: nothing of this machine changes.  The programs are those
of the build.  There is no systemd and no sshd: systemctl, sudo and ssh are replaced by
programs that do the same by other means.  Needs root.
"""

import contextlib
import datetime
import json
import os
import pwd
import re
import shlex
import signal
import socketserver
import subprocess
import threading
import time

from clock import Clock
from machines import Site
from programs import install
from tap import (
    DEADLINE_S, DEBIAN_PYTHON, Child, Skip, need_programs, read_process, read_text,
    save, top_builddir, wait_until,
)

DOMAIN = "example.org"
CONFIG = "/etc/paperboy/paperboy.conf"
STATE = "/var/lib/paperboy"
CA_FILE = "/etc/ssl/certs/ca-certificates.crt"
USER, USER_ID = "paperboy", 64001
COPIED = ("etc", "root", "run", "var/backups", "var/lib", "var/log")
RUN_S = 300
# Exit statuses of commands of manuals that are not errors: problems, and not running.
MAY_BE = {"paperboyctl status": (0, 1), "paperboyctl doctor": (0, 1),
          "pg_ctlcluster 15 main stop": (0, 2)}

# Changes of the tmpfs at $1 are over the directories; $2 is the name.
MOUNT = """\
set -e
mount -t tmpfs -o mode=755 tmpfs "$1"
for path in $3; do
    top=$1/$(echo $path | tr / -)
    mkdir -p $top/upper $top/work
    chmod --reference=/$path $top/upper
    chown --reference=/$path $top/upper
    mount -t overlay -o lowerdir=/$path,upperdir=$top/upper,workdir=$top/work overlay /$path
done
hostname "$2"
echo ready
exec sleep infinity
"""

# Ask the test to run a command: JSON to a socket, status and output back.
CLIENT = """\
#!{python}
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect({path!r})
    channel.sendall(json.dumps([os.uname().nodename, *sys.argv]).encode() + b"\\n")
    reply = b"".join(iter(lambda: channel.recv(65536), b""))
sys.stdout.buffer.write(reply[1:])
sys.exit(reply[0])
"""
SUDO = """\
#!/bin/sh -e
[ "$1" = -u ] || exec "$@"
user=$2
shift 2
HOME=$(getent passwd $user | cut -d: -f6)
cd /
exec setpriv --reuid=$user --regid=$user --init-groups "$@"
"""
# The service: paperboyd is started again as its unit says.
SERVICE = """\
trap is_stopped=1 TERM
while [ ! "$is_stopped" ]; do
    {program} -c {config} --now "$(date -ud @$(($(date +%s) + $1)) +%FT%TZ)" && exit
    case $? in {final}) exit;; esac
    sleep {wait}
done
"""
CTL = """\
#!/bin/sh -e
exec {program} -c {config} --now "$(cat {now})" "$@"
"""


def is_there(pid):
    """Whether a process is in the table of processes, except as a zombie of a Child."""
    stat = read_process(pid, "stat")
    if not stat:
        return False
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state != "Z" or int(parent) != os.getpid()


def read_service(programs):
    """SERVICE for the unit of the build."""
    path = os.path.join(top_builddir(), "systemd", "paperboyd.service")
    settings = dict(re.findall(r"^(\w+)=(.*)$", read_text(path), re.M))
    assert settings["Restart"] == "on-failure", settings
    return SERVICE.format(
        program=os.path.join(programs, "paperboyd"), config=CONFIG,
        final=settings["RestartPreventExitStatus"].replace(" ", "|"),
        wait=settings["RestartSec"])


class Machine:
    """One machine; the name is that of its host."""

    def __init__(self, installation, host, name):
        self.installation = installation
        self.host = host
        self.name = name
        self.directory = os.path.join(installation.directory, name)
        os.mkdir(self.directory)
        self.daemon = None
        self.enabled = set()  # units
        self.is_cut_off = False  # reaches no other machine by ssh
        self.typed = {}  # {part of a command: its input}
        self.holder = Child(host.command(
            ["unshare", "--mount", "--uts", "--propagation", "private", "sh", "-c", MOUNT,
             "sh", self.directory, name, " ".join(COPIED)]), name=f"mounts of {name}")
        try:
            self.holder.wait_line("^ready$")
        except AssertionError as error:
            self.holder.stop()
            raise Skip(f"no mount namespaces here: {error}") from None

    def command(self, arguments, user=None):
        """A command that runs on this machine; its process is the program itself."""
        setpriv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return ["nsenter", f"--target={self.holder.pid}", "--mount", "--net", "--uts", "--",
                "env", f"PATH={self.installation.programs}:{os.environ['PATH']}:/usr/sbin",
                f"HOME={STATE if user else '/root'}", *(setpriv if user else []),
                *arguments]

    def run(self, text, wanted=0, user=None, stdin=b"", directory="/"):
        """Run a command of the shell.  @return its output"""
        self.installation.write_time()
        done = subprocess.run(
            self.command(["sh", "-ec", f"cd {directory}\n{text}"], user), input=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_S, check=False)
        output = done.stdout.decode("utf-8", "replace")
        wanted = (wanted,) if isinstance(wanted, int) else wanted
        assert done.returncode in wanted, f"{text}: status {done.returncode}\n{output}"
        return output

    def follow(self, text):
        """Run the commands of a block one by one, as an operator types them."""
        for command in re.findall(r"(?:.*\\\n)*.+", text):
            typed = "".join(word for part, word in self.typed.items() if part in command)
            self.run(command, MAY_BE.get(command, 0), stdin=typed.encode())

    def read(self, path):
        return self.run(f"cat {path}")

    def write(self, path, text):
        self.run(f"mkdir -p {os.path.dirname(path)}; cat >{path}", stdin=text.encode())

    # -- what systemd does --

    def start(self):
        """Start paperboyd after the services that it wants."""
        assert not (self.daemon and self.daemon.is_running), f"{self.name} runs already"
        for unit in self.enabled:
            if unit.startswith("paperboy-backup@") and unit.endswith(".service"):
                with contextlib.suppress(AssertionError):
                    self.start_service(unit)
        now = datetime.datetime.fromisoformat(
            self.installation.clock.advance().replace("Z", "+00:00"))
        self.daemon = Child(
            self.command(["sh", "-c", self.installation.service, "sh",
                          str(int(now.timestamp() - time.time()) + 1)], USER),
            name="paperboyd")
        self.daemon.wait_line("paperboyd .* started")

    def stop(self):
        if self.daemon:
            self.daemon.stop()
        self.daemon = None

    def start_service(self, unit):
        """Run a service of the type oneshot."""
        text = self.read_unit(unit)
        settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.M))
        assert settings["Type"] == "oneshot", settings
        command = shlex.join(shlex.split(settings["ExecStart"]))
        return self.run(f"umask {settings['UMask']}; {command}", user=settings["User"],
                        directory=settings["WorkingDirectory"])

    def read_unit(self, unit):
        name, instance, kind = re.match(r"(.*?)(?:@(.*))?(\.\w+)$", unit).groups()
        mark = "@" if instance else ""
        return self.read(f"/etc/systemd/system/{name}{mark}{kind}").replace(
            "%i", instance or "")

    def systemctl(self, verb, *arguments):
        units = [word for word in arguments if word != "--now"]
        is_now = "--now" in arguments
        for unit in units:
            if verb in ("enable", "disable"):
                (self.enabled.add if verb == "enable" else self.enabled.discard)(unit)
            if unit != "paperboyd":
                self.read_unit(unit)
                if verb == "start":
                    self.start_service(unit)
            elif verb == "start" or verb == "enable" and is_now:
                self.start()
            elif verb in ("stop", "disable"):
                assert verb == "stop" or is_now
                self.stop()
            else:
                assert verb == "enable", verb

    def kill(self, pattern=""):
        """Kill the processes of this machine whose command line matches, all at once."""
        own = os.stat(f"/proc/{self.holder.pid}/ns/mnt").st_ino
        found = []
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            words = read_process(pid, "cmdline").replace("\0", " ")
            with contextlib.suppress(FileNotFoundError, PermissionError, ProcessLookupError):
                if (os.stat(f"/proc/{pid}/ns/mnt").st_ino == own and re.match(pattern, words)
                        and int(pid) != self.holder.pid):
                    os.kill(int(pid), signal.SIGKILL)
                    found.append(pid)
        wait_until(lambda: not any(map(is_there, found)), "the end of killed processes")

    def close(self):
        self.kill()
        self.stop()
        self.holder.stop()


class Installation:
    """Machines with paperboy installed, as a context manager."""

    def __init__(self, directory, names):
        need_programs("nsenter", "unshare", "setpriv", "ip")
        self.directory = directory
        self.programs = os.path.join(self.directory, "bin")
        self.installed = install(os.path.join(self.directory, "installed"))
        self.service = read_service(self.installed)
        self.clock = Clock()
        self.names = names
        self.site = Site()
        self.machines = {}
        self.stack = contextlib.ExitStack()

    def write_time(self):
        save(os.path.join(self.directory, "now"), self.clock.now())

    def write_program(self, name, text):
        path = os.path.join(self.programs, name)
        save(path, text)
        os.chmod(path, 0o755)

    def __enter__(self):
        with self.stack:
            os.mkdir(self.programs)
            self.stack.enter_context(self.site)
            self.serve()
            for name in self.names:
                host = self.site.add(name.partition(".")[0])
                self.machines[name] = Machine(self, host, name)
                self.stack.callback(self.machines[name].close)
            for machine in self.machines.values():
                self.set_up(machine)
            self.stack = self.stack.pop_all()
        return self

    def set_up(self, machine):
        """Names of hosts, the user, and what the package installs."""
        hosts = "".join(f"{each.host.address} {name}\n"
                        for name, each in self.machines.items())
        with contextlib.suppress(KeyError):
            raise Skip(f"there is a user {pwd.getpwuid(USER_ID).pw_name}")
        machine.run(f"cat >>/etc/hosts; echo {USER}:x:{USER_ID}: >>/etc/group;"
                    f" echo {USER}:x:{USER_ID}:{USER_ID}::{STATE}:/usr/sbin/nologin"
                    f" >>/etc/passwd", stdin=hosts.encode())
        machine.run(f"install -d -o {USER} -g {USER} -m 700 {STATE}")

    # -- programs in place of systemctl and ssh --

    def serve(self):
        path = os.path.join(self.directory, "requests")
        installation = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                status, output = installation.answer(json.loads(self.rfile.readline()))
                self.wfile.write(bytes([status]) + output)

        server = socketserver.ThreadingUnixStreamServer(path, Handler)
        os.chmod(path, 0o777)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        self.stack.callback(server.server_close)
        self.stack.callback(server.shutdown)
        for name in ("ssh", "systemctl"):
            self.write_program(name, CLIENT.format(python=DEBIAN_PYTHON, path=path))
        self.write_program("sudo", SUDO)
        self.write_program("paperboyctl", CTL.format(
            program=os.path.join(self.installed, "paperboyctl"), config=CONFIG,
            now=os.path.join(self.directory, "now")))

    def answer(self, request):
        """@return exit status and output of a request of CLIENT"""
        machine = self.machines[request[0]]
        name, arguments = os.path.basename(request[1]), request[2:]
        try:
            if name == "systemctl":
                machine.systemctl(*arguments)
                return 0, b""
            return self.ssh(machine, arguments)
        except Exception as error:  # shown by the command that fails
            return 255, f"{name}: {error}\n".encode()

    def ssh(self, machine, arguments):
        """Run a command on another machine as root, or the one that its key allows."""
        options, _, rest = " ".join(arguments).partition("root@")
        name, _, command = rest.partition(" ")
        other = self.machines[name]
        if machine.is_cut_off or other.is_cut_off:
            return 255, b""
        environment = dict(os.environ, SSH_ORIGINAL_COMMAND=command)
        key = re.search(r"-i (\S+)", options)
        if key:
            public = machine.read(key[1] + ".pub").split()[1]
            (line,) = [line for line in other.read("/root/.ssh/authorized_keys").splitlines()
                       if public in line]
            command = re.match(r'restrict,command="([^"]*)"', line)[1]
        done = subprocess.run(
            other.command(["sh", "-c", command]), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=DEADLINE_S,
            check=False, env=environment)
        return done.returncode, done.stdout

    def __exit__(self, *_):
        self.stack.close()
