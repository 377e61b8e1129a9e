"""web_server.py - run paperboy-web, and talk HTTP to it byte by byte.

    with WebServer(directory) as web:
        response = web.exchange(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")

tests/helper_web stands in for paperboyd: it prints the requests that it gets, and its
answers depend on the token only.
"""

import collections
import contextlib
import os
import re
import socket

from tap import DEADLINE_S, Child, free_port, run, save, top_builddir, top_srcdir

ORIGIN = "https://papers.example.org"
CONFIG = """\
template_dir = "{templates}";
mail: {{ from = "paperboy@machine.example"; owner = "root@machine.example"; }};
web: {{ url = "{origin}"; listen = "{listen}"; socket = "{socket}";
trusted_proxy = "{proxies}"; }};
"""

Response = collections.namedtuple("Response", "status fields body")


def program():
    return os.path.join(top_builddir(), "paperboy-web")


def is_sanitized():
    return "libasan" in run(["ldd", program()])


def helper():
    return os.path.join(top_builddir(), "tests", "helper_web")


def write_config(directory, listen, name="paperboy.conf", proxies="127.0.0.1"):
    """Write a configuration.  @return its path"""
    path = os.path.join(directory, name)
    save(path, CONFIG.format(
        templates=os.path.join(top_srcdir(), "etc", "templates"), origin=ORIGIN,
        listen=listen, socket=os.path.join(directory, "daemon"), proxies=proxies))
    return path


def parse_response(data):
    """Split the bytes of one response; None if there are none."""
    if not data:
        return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    status = int(re.fullmatch(r"HTTP/1\.1 (\d{3}) .+", first)[1])
    fields = {}
    for line in lines:
        name, _, value = line.partition(": ")
        assert name.lower() not in fields, line
        fields[name.lower()] = value
    return Response(status, fields, body)


def read_all(connection):
    """Read until the server closes; a reset counts as that."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


class WebServer:
    """A running paperboy-web, and what stands in for paperboyd."""

    def __init__(self, directory, has_daemon=True, proxies="127.0.0.1", **popen):
        self.directory = directory
        self.port = free_port()
        self.config = write_config(
            directory, f"127.0.0.1:{self.port}", proxies=proxies)
        self.daemon_path = os.path.join(directory, "daemon")
        self.has_daemon = has_daemon
        self.popen = popen
        self.daemon = None
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        if self.has_daemon:
            self.start_daemon()
        self.child = self._stack.enter_context(
            Child([program(), "-c", self.config], **self.popen))
        self.child.wait_line("started")
        return self

    def __exit__(self, *exception):
        self._stack.__exit__(*exception)

    def start_daemon(self):
        self.daemon = self._stack.enter_context(Child([helper(), self.daemon_path]))
        self.daemon.wait_line("^ready$")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)

    def send(self, data):
        """Send bytes on a new connection.  @return all bytes of the answer"""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(data)
            return read_all(connection)

    def exchange(self, data):
        return parse_response(self.send(data))

    def request(self, method, path, body=b"", **fields):
        """Send a request; fields: Content_Type="text/plain"."""
        lines = [f"{method} {path} HTTP/1.1", "Host: papers.example.org"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join(lines) + "\r\n\r\n"
        return self.exchange(head.encode("latin-1") + body)

    def asked(self):
        """The requests that paperboyd got since the last call."""
        self.request("GET", "/c/end")
        lines = []
        while not (match := self.daemon.wait_line("^.*$"))[0].startswith(
                "confirm-show language= token=end"):
            lines.append(match[0])
        return lines
