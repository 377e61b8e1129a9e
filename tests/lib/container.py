"""container.py - boot a small Debian with systemd in a container.

    root = make_root(directory, packages)   # debootstrap; downloads for some minutes
    with Container(root) as container:
        container.run("systemctl", "start", "paperboyd")

make_shared_root() is faster: the container has the programs of this machine.

The container has its own processes, users, mounts and network (loopback only), and
ends with the test.
"""

import glob
import os
import signal
import subprocess
import time

from tap import Child, Skip, need_programs, read_process, save, wait_until

BOOT_S = 300
RUN_S = 600
SUITE = "bookworm"

# The machine is a container itself, or reaches no mirror.  .ci/run expects this text.
NO_CONTAINER = "no container can be started here"


# Libraries preloaded by a test do not exist in the container.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def need_root():
    if os.geteuid() != 0:
        raise Skip(f"{NO_CONTAINER}: needs root")


def find_mirror():
    """URL of the mirror that this machine uses."""
    output = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
    ).stdout
    sites = [line.split() for line in output.splitlines()]
    found = [site for site, suite, part in sites if suite == SUITE and part == "main"]
    if not found:
        raise Skip(f"{NO_CONTAINER}: no mirror of {SUITE}")
    return found[0]


def make_root(directory, packages):
    """Install a Debian with systemd and some packages.  @return its root directory"""
    need_root()
    (debootstrap,) = need_programs("debootstrap")
    root = os.path.join(directory, "root")
    wanted = ["systemd", "systemd-sysv", "dbus", "procps", *packages]
    done = subprocess.run(
        [debootstrap, "--variant=minbase", f"--include={','.join(wanted)}",
         SUITE, root, find_mirror()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=1200, check=False, env=ENVIRONMENT,
    )
    if done.returncode != 0:
        raise Skip(f"{NO_CONTAINER}: {done.stdout.strip()[-300:]}")
    save(os.path.join(root, "etc", "hostname"), "container\n")
    return root


def make_shared_root(directory, installed):
    """A root directory with /usr of this machine, and another /usr/local.

    @param installed  directory below which paperboy was installed to /usr/local
    @return (root directory, options of systemd-nspawn)
    """
    need_root()
    need_programs("systemd-nspawn", "dbus-daemon", "systemd-sysusers")
    root = os.path.join(directory, "root")
    for name in ("etc", "usr", "var/lib", "var/log", "run", "tmp", "proc", "sys", "dev",
                 "root", "srv"):
        os.makedirs(os.path.join(root, name))
    for name in ("bin", "sbin", "lib", "lib64"):
        if not os.path.islink(f"/{name}"):
            raise Skip(f"{NO_CONTAINER}: /{name} is not in /usr")
        os.symlink(f"usr/{name}", os.path.join(root, name))
    for name, text in (
            ("os-release", "ID=test\n"), ("hostname", "container\n"), ("machine-id", ""),
            ("passwd", "root:x:0:0:root:/root:/bin/sh\nmessagebus:x:100:100::/:/bin/false\n"
                       "nobody:x:65534:65534::/:/bin/false\n"),
            ("group", "root:x:0:\nmessagebus:x:100:\nnogroup:x:65534:\n")):
        save(os.path.join(root, "etc", name), text)
    return root, ["--bind-ro=/usr", f"--bind-ro={installed}/usr/local:/usr/local",
                  "--bind-ro=/etc/ld.so.cache"]


def find_leader(pid):
    """PID of the first process of a container, or None."""
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in read_process(pid, path.removeprefix(f"/proc/{pid}/")).split():
            if read_process(child, "comm").strip() == "systemd":
                return int(child)
    return None


class Container:
    """A booted root directory."""

    def __init__(self, root, options=()):
        self.root = root
        self.options = options
        self.child = None
        self.leader = None

    def __enter__(self):
        try:
            self.boot()
        except AssertionError as why:
            if self.child:
                self.child.stop()
            raise Skip(f"{NO_CONTAINER}: {why}") from None
        return self

    def __exit__(self, *exception):
        if self.child:
            self.power_off()

    def boot(self):
        nspawn, _ = need_programs("systemd-nspawn", "nsenter")
        # There is no systemd-machined to register with.
        self.child = Child([
            nspawn, "-q", "-D", self.root, "-M", f"paperboy-{os.getpid()}", "-b",
            *self.options, "--register=no", "--keep-unit", "--console=pipe", "--private-network",
        ], env=ENVIRONMENT)
        wait_until(
            lambda: find_leader(self.child.pid) or not self.child.is_running,
            "the container's first process", deadline_s=BOOT_S,
        )
        self.leader = find_leader(self.child.pid)
        assert self.leader, f"no container: {self.child.output}"
        wait_until(lambda: self.try_run("test", "-S", "/run/dbus/system_bus_socket")[0] == 0,
                   "the container's bus", deadline_s=BOOT_S)
        state = self.try_run("systemctl", "is-system-running", "--wait")[1].strip()
        assert state in ("running", "degraded"), state

    def try_run(self, *command, text=None):
        """Run a command inside.  @return (exit status, output)"""
        done = subprocess.run(
            ["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-C", "--",
             "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
             "DEBIAN_FRONTEND=noninteractive", *command],
            input=text, stdin=None if text is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=RUN_S, check=False, env=ENVIRONMENT,
        )
        return done.returncode, done.stdout

    def run(self, *command, text=None):
        status, output = self.try_run(*command, text=text)
        assert status == 0, f"{' '.join(command)}: status {status}\n{output}"
        return output

    def shell(self, script):
        return self.run("sh", "-ec", script)

    def show(self, unit, name):
        """A property of a unit."""
        return self.run("systemctl", "show", unit, "--value", "-p", name).strip()

    def wait_for(self, check, what):
        wait_until(check, what, deadline_s=BOOT_S, pause=lambda _: time.sleep(0.1))

    def path(self, inside):
        """Path of a file of the container on this machine."""
        return os.path.join(self.root, inside.lstrip("/"))

    def write(self, inside, text):
        os.makedirs(os.path.dirname(self.path(inside)), exist_ok=True)
        save(self.path(inside), text)

    def power_off(self):
        if self.child.is_running and self.leader:
            # systemd(1): SIGRTMIN+4 starts poweroff.target
            try:
                os.kill(self.leader, signal.SIGRTMIN + 4)
            except ProcessLookupError:
                pass
        wait_until(lambda: not self.child.is_running, "the end of the container",
                   deadline_s=BOOT_S)
        self.child = self.leader = None

    def reboot(self):
        # nspawn cannot reboot when it is not run as a unit
        self.power_off()
        self.boot()
