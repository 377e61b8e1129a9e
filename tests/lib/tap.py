"""tap.py - TAP for script tests, a folder of their own, and child processes.

    from tap import Skip, Tap

    def test_sums_are_right(tap):
        "sums are right"
        assert 1 + 1 == 2

    with Tap() as tap:
        tap.run(test_sums_are_right, tap)

Exit codes as automake wants them from a TAP test: 0 when all passed or were
skipped, 1 when one failed, 99 with "Bail out!" when the script itself broke.
"""

import contextlib
import glob
import os
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

DEADLINE_S = 30  # for any fact; a test that needs longer says so
POLL_S = 0.02


# What a script starts ends by a critical of GLib; for C programs g_test sees to it.
os.environ.setdefault("G_DEBUG", "fatal-criticals")


class Skip(Exception):
    """Raised in a test: it cannot run here, and why."""


class Timeout(AssertionError):
    """A fact did not come true before its deadline."""


def skip_all(reason):
    """The whole script cannot run here."""
    print(f"1..0 # SKIP {one_line(reason)}", flush=True)
    sys.exit(0)


def one_line(text):
    return " ".join(str(text).split())


def need_programs(*names):
    """Paths of programs, sbin too; Skip when one is missing."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    found = [shutil.which(name, path=path) for name in names]
    for name, place in zip(names, found):
        if place is None:
            raise Skip(f"{name} is not installed")
    return found


def top_srcdir():
    """The source tree: from the environment of make check, else from this file."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("top_srcdir") or os.path.dirname(os.path.dirname(here))


def top_builddir():
    return os.environ.get("top_builddir") or top_srcdir()


def require_now(event, arguments):
    """An audit hook: no test may depend on the day of its run."""
    if event != "subprocess.Popen":
        return
    words = [os.fsdecode(word) for word in arguments[1]]
    is_ours = any(word.endswith(("/paperboyd", "/paperboyctl")) for word in words)
    if is_ours and "-c" in words and not {"--now", "--check"} & set(words):
        raise AssertionError(f"started without --now: {words}")


sys.addaudithook(require_now)


def real_files(pattern):
    """Files of real papers beside the source tree, sorted; Skip when there are none.

    .ci/run knows the words of the reason, and LAB_NO_REAL_DATA is the same for C.
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
    """Reporter and owner of the folder; use it as a context manager."""

    def __init__(self, out=None):
        self.out = out or sys.stdout
        self.count = 0
        self.failed = 0
        self._directory = None
        self._stack = contextlib.ExitStack()

    # -- the folder --

    @property
    def directory(self):
        """A folder under $TMPDIR, removed at the end unless a test failed."""
        if self._directory is None:
            self._directory = tempfile.mkdtemp(prefix="pb-")
            os.chmod(self._directory, 0o755)  # servers under other users go in
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
        """One result.  @return the truth, for a chain"""
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
        """One test function; its docstring (or name) is the test's name."""
        text = (function.__doc__ or function.__name__.replace("_", " ")).strip()
        name = one_line(text.split("\n\n")[0])
        try:
            function(*arguments)
        except Skip as reason:
            self.skip(name, reason)
        except Exception:  # a test's failure is data here, not ours to hide
            self.ok(False, name)
            self.diag(traceback.format_exc())
        else:
            self.ok(True, name)

    # -- begin and end --

    def enter(self, manager):
        """Keep a context manager open until the end of the script."""
        return self._stack.enter_context(manager)

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            # make stops a test by SIGTERM: leave through every finally
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(99))
            # Under nohup it is ignored, and what is started here would ignore it, too.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
        return self

    def __exit__(self, kind, value, trace):
        try:
            self._stack.close()
        except Exception:
            self.ok(False, "what the script started ends in order")
            self.diag(traceback.format_exc())
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
            self.diag(f"left for inspection: {self._directory}")
        self._directory = None


# ---- facts ------------------------------------------------------------------


def free_port(host="127.0.0.1"):
    """A port that the kernel chose and nobody listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.bind((host, 0))
        return one.getsockname()[1]


def is_listening(port):
    """Whether anybody listens on a TCP port, asked without connecting to it.

    A connection would count as a session there and stand in its log.
    """
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(name, encoding="ascii") as table:
            for row in table.readlines()[1:]:
                local, state = row.split()[1], row.split()[3]
                if state == "0A" and int(local.rsplit(":", 1)[1], 16) == port:
                    return True
    return False


def wait_until(is_true, what, deadline_s=DEADLINE_S, pause=None):
    """Ask again and again; its first true value, or Timeout.

    pause(seconds) is how to wait between questions, so that a wait can end early.
    """
    pause = pause or threading.Event().wait
    end = time.monotonic() + deadline_s
    while True:
        value = is_true()
        if value:
            return value
        if time.monotonic() >= end:
            raise Timeout(f"{what}: not within {deadline_s} s")
        pause(POLL_S)


# ---- children ---------------------------------------------------------------


class Child:
    """A process in its own group, with its output (both streams) as lines.

    It ends with the context manager: SIGTERM to the group, SIGKILL at the
    deadline.  Only this group is ever signalled: the child stays a zombie until
    the end, so its number cannot have passed to another.
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
        """Wait for anything; fails at once when the child ends."""

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

    def wait_line(self, pattern, deadline_s=DEADLINE_S):
        """The next line, after those already matched, that has the pattern."""
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
                # the reader may end after the watcher: then nobody notifies
                self._news.wait(min(rest, 0.2) if self._exited.is_set() else rest)

    def wait_exit(self, deadline_s=DEADLINE_S):
        """Exit status (negative: signal)."""
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
        """To the child alone."""
        if not self._is_reaped:
            os.kill(self.pid, number)

    def _signal_group(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def stop(self, deadline_s=10):
        """End the whole group.  @return the child's exit status"""
        if self._is_reaped:
            return self._process.returncode
        if self.is_running:
            self._signal_group(signal.SIGTERM)
            self._exited.wait(deadline_s)
        self._signal_group(signal.SIGKILL)
        self._exited.wait()
        self._is_reaped = True
        self._process.wait()
        self._reader.join(deadline_s)
        if not self._reader.is_alive():
            self._process.stdout.close()
        return self._process.returncode

    def kill(self):
        """The cable is pulled: SIGKILL to the group, no farewell."""
        self._signal_group(signal.SIGKILL)
        return self.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def run(arguments, deadline_s=DEADLINE_S, check=True, **popen):
    """A short command to its end: its output (both streams) as text."""
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
    """The path of strace; Skip where it is not installed, or may not trace."""
    (strace,) = need_programs("strace")
    probe = run([strace, "-f", "-qq", "-e", "trace=none", "true"], check=False)
    if probe.strip():
        raise Skip(f"strace does not work here: {probe}")
    return strace
