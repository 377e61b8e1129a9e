"""tap.py - TAP output, temporary directories and child processes for script tests.

    from tap import Skip, Tap

    def test_sums_are_right(tap):
        "sums are right"
        assert 1 + 1 == 2

    with Tap() as tap:
        tap.run(test_sums_are_right, tap)

Exit status: 0 if all tests passed or were skipped, 1 if one failed, 99 with "Bail
out!" if the script itself failed (automake's hard error).  Skip outside of a test skips
the rest of the script.
"""

import contextlib
import glob
import importlib.util
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

DEADLINE_S = 120  # for any condition; a busy machine may be slow
POLL_S = (0.01, 0.2)  # the first pause, and the longest one
DEBIAN_PYTHON = "/usr/bin/python3"
IS_LONG = os.environ.get("PAPERBOY_LONG", "") not in ("", "0")  # of make check-long
STORE_SERVER = os.environ.get("PAPERBOY_TEST_STORE")  # tests/lib/stores.py


# Abort programs on GLib criticals, as g_test does in C tests.
os.environ.setdefault("G_DEBUG", "fatal-criticals")
# Programs warn of a locale that is not installed, and a proxy cannot reach this machine.
os.environ["LC_ALL"] = "C.UTF-8"
os.environ["no_proxy"] = "localhost,127.0.0.1"


class Skip(Exception):
    """Raised by a test that cannot run on this machine, with the reason."""


class Timeout(AssertionError):
    """A condition did not become true before the deadline."""


def skip_all(reason):
    """Skip the whole script."""
    print(f"1..0 # SKIP {one_line(reason)}", flush=True)
    sys.exit(0)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def read_text(path):
    return read(path).decode("utf-8")


def save(path, data):
    """Write text or bytes to a file."""
    with open(path, "wb") as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def one_line(text):
    return " ".join(str(text).split())


def need_programs(*names):
    """Paths of programs, also from sbin; Skip if one is missing."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    found = [shutil.which(name, path=path) for name in names]
    for name, path in zip(names, found):
        if path is None:
            raise Skip(f"{name} is not installed")
    return found


def use_debian_python(*modules):
    """Continue with the Python that has Debian's modules; first thing in a script.

    @return the modules that are not installed
    """
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    if missing and os.path.realpath(sys.executable) != os.path.realpath(
            DEBIAN_PYTHON) and os.access(DEBIAN_PYTHON, os.X_OK):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, "-B", *sys.argv])
    return missing


def top_srcdir():
    """The source tree, from the environment of make check or relative to this file."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("top_srcdir") or os.path.dirname(os.path.dirname(here))


def top_builddir():
    return os.environ.get("top_builddir") or top_srcdir()


def require_now(event, arguments):
    """An audit hook that rejects programs started without a simulated time."""
    if event != "subprocess.Popen":
        return
    words = [os.fsdecode(word) for word in arguments[1]]
    ours = [at for at, word in enumerate(words)
            if word.endswith(("/paperboyd", "/paperboyctl"))]
    words = words[ours[0]:] if ours else []
    if "-c" not in words or "--check" in words:
        return
    if "--now" not in words:
        raise AssertionError(f"started without --now: {words}")
    config = words[words.index("-c") + 1]
    if STORE_SERVER and os.path.exists(config):
        with open(config, encoding="utf-8") as file:
            assert "postgresql:" in file.read(), f"started with a file: {words}"


sys.addaudithook(require_now)


def real_files(pattern):
    """Files of real papers beside the source tree, sorted; Skip if there are none.

    .ci/run expects the text of the reason; C tests use STORE_FIXTURE_NO_REAL_DATA.
    """
    directory = os.path.join(top_srcdir(), "..", "shared", "data")
    paths = sorted(glob.glob(os.path.join(directory, pattern)))
    if not paths:
        raise Skip(f"no real data: {pattern}")
    return paths


def real_data(name):
    """Path of one such file."""
    return real_files(name)[0]


class Tap:
    """Reports results and owns a temporary directory; use it as a context manager."""

    def __init__(self, out=None):
        self.out = out or sys.stdout
        self.count = 0
        self.failed = 0
        self._directory = None
        self._stack = contextlib.ExitStack()

    # -- directory --

    @property
    def directory(self):
        """A directory in $TMPDIR, removed at the end unless a test failed."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="pb-")
            os.chmod(self._directory, 0o755)  # servers run as other users
        return self._directory

    def subdirectory(self, name):
        path = os.path.join(self.directory, name)
        os.makedirs(path)
        return path

    # -- results --

    def _line(self, text):
        self.out.write(text + "\n")
        self.out.flush()

    def ok(self, is_ok, name):
        """Report a result.  @return is_ok"""
        self.count += 1
        if not is_ok:
            self.failed += 1
        name = one_line(name).replace("#", "\\#")
        self._line(f"{'ok' if is_ok else 'not ok'} {self.count} - {name}")
        return bool(is_ok)

    def equal(self, got, wanted, name):
        if not self.ok(got == wanted, name):
            self.diag(f"     got: {got!r}\n  wanted: {wanted!r}")
            return False
        return True

    def skip(self, name, reason):
        self.count += 1
        name = one_line(name).replace("#", "\\#")
        self._line(f"ok {self.count} - {name} # SKIP {one_line(reason)}")

    def diag(self, text):
        for line in str(text).splitlines() or [""]:
            self._line(f"# {line}")

    def run(self, function, *arguments):
        """Run a test function; its docstring or name is the name of the test."""
        text = (function.__doc__ or function.__name__.replace("_", " ")).strip()
        name = one_line(text.split("\n\n")[0])
        try:
            self._check_store(function)
            function(*arguments)
        except Skip as reason:
            self.skip(name, reason)
        except Exception:  # reported as a failure
            self.ok(False, name)
            self.diag(traceback.format_exc())
        else:
            self.ok(True, name)

    def _check_store(self, function):
        """Skip a test that is not for a database server."""
        if STORE_SERVER:
            import engines  # it imports this module

            script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
            reason = engines.why_not(script, function.__name__)
            if reason:
                raise Skip(reason)

    # -- begin and end --

    def enter(self, manager):
        """Enter a context manager that is exited at the end of the script."""
        return self._stack.enter_context(manager)

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            # make stops a test by SIGTERM: run all finally blocks
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(99))
            # nohup and "&" ignore these, and child processes would inherit that.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return self

    def __exit__(self, kind, value, trace):
        try:
            self._stack.close()
        except Exception:
            self.ok(False, "child processes end without an error")
            self.diag(traceback.format_exc())
        if kind is Skip:
            self.skip("the rest of the script", value)
            kind = None
        if kind is not None and issubclass(kind, Exception):
            self.diag("".join(traceback.format_exception(kind, value, trace)))
            self._line(f"Bail out! {one_line(value) or kind.__name__}")
            self._leave_directory(is_removed=False)
            sys.exit(99)
        if kind is not None:
            self._leave_directory(is_removed=True)
            return False
        self._line(f"1..{self.count}")
        self._leave_directory(is_removed=self.failed == 0)
        sys.exit(1 if self.failed else 0)

    def _leave_directory(self, is_removed):
        if self._directory is None:
            return
        if is_removed:
            shutil.rmtree(self._directory, ignore_errors=True)
        else:
            self.diag(f"kept for inspection: {self._directory}")
        self._directory = None


# ---- waiting ---------------------------------------------------------------


def read_process(pid, name):
    """The text of /proc/PID/NAME, or "" if the process has ended, even meanwhile."""
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


reservations = []


def free_port(host="127.0.0.1"):
    """A free port that the kernel gives to nobody, reserved until the script ends.

    An abstract Unix socket of this process keeps other tests from taking it.
    """
    first_of_kernel = 32768
    with contextlib.suppress(OSError), open(
            "/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first_of_kernel = int(file.read().split()[0])
    ports = range(10000, first_of_kernel) or range(10000, 65536)
    while True:
        port = random.SystemRandom().choice(ports)
        with contextlib.ExitStack() as stack:
            mark = stack.enter_context(socket.socket(socket.AF_UNIX))
            probe = stack.enter_context(socket.socket(socket.AF_INET))
            with contextlib.suppress(OSError):
                mark.bind(f"\0paperboy-test-port-{port}")
                probe.bind((host, port))
                probe.close()
                stack.pop_all()
                reservations.append(mark)
                return port


def is_listening(port, process="self"):
    """Whether a process listens on a TCP port, read from /proc.

    A connection would count as a session and be logged.  process: of the same host.
    """
    for name in (f"/proc/{process}/net/tcp", f"/proc/{process}/net/tcp6"):
        with contextlib.suppress(OSError), open(name, encoding="ascii") as table:
            for row in table.readlines()[1:]:
                local, state = row.split()[1], row.split()[3]
                if state == "0A" and int(local.rsplit(":", 1)[1], 16) == port:
                    return True
    return False


def has_listener(path):
    """Whether a process listens on a Unix socket; its file exists a little earlier."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        rows = [row.split(maxsplit=7) for row in table.readlines()[1:]]
    return any(len(row) == 8 and row[7].rstrip("\n") == path and row[3] == "00010000"
               for row in rows)


def wait_until(is_true, what, deadline_s=DEADLINE_S, pause=None):
    """Poll is_true(), less and less often.  @return its first true value; Timeout after the
    deadline

    pause(seconds) waits between two polls; it may return early.
    """
    pause = pause or threading.Event().wait
    seconds, longest = POLL_S
    end = time.monotonic() + deadline_s
    while True:
        value = is_true()
        if value:
            return value
        if time.monotonic() >= end:
            raise Timeout(f"{what}: not within {deadline_s} s")
        pause(seconds)
        seconds = min(1.3 * seconds, longest)


# ---- children ---------------------------------------------------------------


class Child:
    """A process in its own group, with its output (both streams) as lines.

    At the end of the context its group gets SIGTERM, and SIGKILL at the deadline.
    The child stays a zombie until then, so its PID cannot have been reused.
    """

    def __init__(self, arguments, name=None, stdin=None, **popen):
        self.name = name or os.path.basename(arguments[0])
        self.lines = []
        self._read_to = 0
        self._news = threading.Condition()
        self._exited = threading.Event()
        self._is_reaped = False
        self._process = subprocess.Popen(
            [str(argument) for argument in arguments],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **popen,
        )
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\r\n"))
                self._news.notify_all()

    def _watch(self):
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        self._exited.set()
        with self._news:
            self._news.notify_all()

    @property
    def is_running(self):
        return not self._exited.is_set()

    @property
    def output(self):
        return "\n".join(self.lines)

    def _died(self, what):
        self._reader.join(1)
        return AssertionError(
            f"{self.name} ended while waiting for {what}\n{self.output}"
        )

    def wait_fact(self, is_true, what, deadline_s=DEADLINE_S):
        """Wait until is_true(); fail at once when the child ends."""

        def ask():
            is_running = self.is_running
            value = is_true()
            if not value and not is_running:
                raise self._died(what)
            return value

        try:
            fact = f"{self.name}: {what}"
            return wait_until(ask, fact, deadline_s, self._exited.wait)
        except Timeout as late:
            raise Timeout(f"{late}\n{self.output}") from None

    def wait_port(self, port, deadline_s=DEADLINE_S):
        self.wait_fact(lambda: is_listening(port), f"port {port}", deadline_s)

    def wait_file(self, path, deadline_s=DEADLINE_S):
        self.wait_fact(lambda: os.path.exists(path), f"file {path}", deadline_s)

    def wait_socket(self, path, deadline_s=DEADLINE_S):
        self.wait_fact(lambda: has_listener(path), f"socket {path}", deadline_s)

    def wait_line(self, pattern, deadline_s=DEADLINE_S):
        """Wait for the next line that matches a pattern, after the last such line."""
        wanted = re.compile(pattern)
        end = time.monotonic() + deadline_s
        with self._news:
            while True:
                while self._read_to < len(self.lines):
                    line = self.lines[self._read_to]
                    self._read_to += 1
                    match = wanted.search(line)
                    if match:
                        return match
                rest = end - time.monotonic()
                if rest <= 0:
                    raise Timeout(
                        f"{self.name}: no line {pattern!r} within {deadline_s} s\n"
                        + self.output
                    )
                if self._exited.is_set() and not self._reader.is_alive():
                    raise self._died(f"line {pattern!r}")
                # no notification when the reader ends after the watcher
                self._news.wait(min(rest, 0.2) if self._exited.is_set() else rest)

    def wait_exit(self, deadline_s=DEADLINE_S):
        """Wait for the end.  @return exit status (negative: signal)"""
        if not self._exited.wait(deadline_s):
            raise Timeout(
                f"{self.name}: still running after {deadline_s} s\n{self.output}"
            )
        self._reader.join(deadline_s)
        if self._is_reaped:
            return self._process.returncode
        status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        is_exit = status.si_code == os.CLD_EXITED
        return status.si_status if is_exit else -status.si_status

    def signal(self, number):
        """Send a signal to the child only."""
        if not self._is_reaped:
            os.kill(self.pid, number)

    def _signal_group(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def stop(self, deadline_s=DEADLINE_S):
        """End the process group.  @return the exit status of the child"""
        if self._is_reaped:
            return self._process.returncode
        if self.is_running:
            self._signal_group(signal.SIGTERM)
            self._exited.wait(deadline_s)
        self._signal_group(signal.SIGKILL)
        self._exited.wait()
        self._is_reaped = True
        self._process.wait()
        self._reader.join(10)
        if not self._reader.is_alive():
            self._process.stdout.close()
        return self._process.returncode

    def kill(self):
        """Send SIGKILL to the process group."""
        self._signal_group(signal.SIGKILL)
        return self.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def run(arguments, deadline_s=DEADLINE_S, check=True, **popen):
    """Run a command.  @return its output (both streams) as text"""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        stdin=popen.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=deadline_s,
        **popen,
    )
    text = done.stdout.decode("utf-8", "replace")
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments[0]}: status {done.returncode}\n{text}")
    return text


def need_strace():
    """The path of strace; Skip if it is missing or may not trace."""
    (strace,) = need_programs("strace")
    probe = run([strace, "-f", "-qq", "-e", "trace=none", "true"], check=False)
    if probe.strip():
        raise Skip(f"strace does not work here: {probe}")
    return strace
