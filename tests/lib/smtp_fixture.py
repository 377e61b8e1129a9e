# smtp_fixture.py - common parts of the SMTP tests: smtpsend, a small TLS server.
import base64
import os
import socket
import ssl
import subprocess
import threading

BUILD = os.environ.get("top_builddir", ".")
SMTPSEND = os.path.join(BUILD, "tests", "smtpsend")


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"no {part!r} in {text!r}")


class Delivery:
    """One line of smtpsend."""

    def __init__(self, line):
        head, self.text = line.split(" text=", 1)
        words = head.split(" ")
        self.outcome = words[0]
        self.fields = dict(word.split("=", 1) for word in words[1:])

    def check(self, outcome, **fields):
        found = {name: self.fields[name] for name in fields}
        equal((self.outcome, found, self.text), (outcome, fields, self.text))


def send(*arguments, wait_ms=10000):
    """Run smtpsend; returns a list of Delivery."""
    done = subprocess.run(
        [SMTPSEND, "--from", "a@a.example", "--to", "b@b.example",
         "--wait", str(wait_ms), *map(str, arguments)],
        capture_output=True, timeout=120)
    if done.returncode not in (0, 1) or done.stderr:
        raise AssertionError(f"smtpsend {done.returncode}: {done.stderr.decode()}")
    lines = done.stdout.decode().splitlines()
    deliveries = [Delivery(line) for line in lines]
    equal(done.returncode, 0 if all(d.outcome == "sent" for d in deliveries) else 1)
    return deliveries


DROP = b""  # result of act(): disconnect


class Server:
    """An SMTP server with TLS and AUTH; its attributes are set before clients connect.

    act(verb, text) may misbehave: a reply to give, DROP, or None for as usual.  It is
    called for each command, for "BODY" after the first line of a message, and for "."
    at its end, with the recipient as text. Clients are served in parallel.
    """

    def __init__(self, certificate=None, implicit=False, listener=None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate:
            self.context.load_cert_chain(certificate)
        self.implicit = implicit
        self.starttls = bool(certificate) and not implicit
        self.act = lambda verb, text: None
        self.arrived = []  # (recipient, message, reply), DROP for none
        self.starttls_reply = b"220 2.0.0 go on\r\n"
        self.clear_lines = []  # extensions offered before TLS
        self.secure_lines = ["SIZE 50000000", "AUTH PLAIN LOGIN"]
        self.users = {"ann": "secret"}
        self.auth_reply = None  # instead of checking the users
        self.commands = []  # (inside TLS, line)
        self.messages = []
        self.connections = 0
        self.listener = listener or socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve_one, args=(client,), daemon=True).start()

    def serve_one(self, client):
        try:
            with client:
                self.serve_client(client)
        except OSError:
            pass  # the client has disconnected, or rejected our certificate

    def take_message(self, client, stream, recipient):
        """Handle DATA.  @return whether to continue"""
        client.sendall(b"354 go on\r\n")
        message = []
        while (line := stream.readline()) not in (b".\r\n", b""):
            if not message and self.act("BODY", recipient) == DROP:
                return False
            message.append(line[1:] if line.startswith(b".") else line)
        reply = self.act(".", recipient)
        if reply is None:
            reply = b"250 2.0.0 taken\r\n"
        whole = b"".join(message)
        self.arrived.append((recipient, whole, reply))
        if reply.startswith(b"2"):
            self.messages.append(whole)
        client.sendall(reply)
        return reply != DROP and not reply.startswith(b"421")

    def serve_client(self, client):
        if self.implicit:
            client = self.context.wrap_socket(client, server_side=True)
        secure = self.implicit
        stream = client.makefile("rb")
        greeting = self.act("CONNECT", "")
        client.sendall(b"220 lab.example ESMTP\r\n" if greeting is None else greeting)
        if greeting is not None:
            return
        recipient = ""
        while line := stream.readline():
            text = line.decode("latin-1").rstrip("\r\n")
            self.commands.append((secure, text))
            verb = text.split(" ")[0].upper()
            reply = self.act(verb, text)
            if reply is not None:
                client.sendall(reply)
                if reply == DROP or reply.startswith(b"421"):
                    return
            elif verb == "EHLO":
                lines = ["lab.example"]
                lines += self.secure_lines if secure else self.clear_lines
                if self.starttls and not secure:
                    lines.append("STARTTLS")
                for one in lines[:-1]:
                    client.sendall(f"250-{one}\r\n".encode())
                client.sendall(f"250 {lines[-1]}\r\n".encode())
            elif verb == "STARTTLS":
                client.sendall(self.starttls_reply)
                if self.starttls_reply.startswith(b"220"):
                    client = self.context.wrap_socket(client, server_side=True)
                    stream = client.makefile("rb")
                    secure = True
            elif verb == "AUTH":
                client.sendall(self.log_in(client, stream, text))
            elif verb == "RCPT":
                recipient = text.partition("<")[2].partition(">")[0]
                client.sendall(b"250 2.1.5 fine\r\n")
            elif verb == "DATA":
                if not self.take_message(client, stream, recipient):
                    return
            elif verb == "QUIT":
                client.sendall(b"221 2.0.0 bye\r\n")
                return
            else:
                client.sendall(b"250 2.0.0 fine\r\n")

    def log_in(self, client, stream, text):
        def ask(prompt):
            client.sendall(b"334 " + base64.b64encode(prompt) + b"\r\n")
            return base64.b64decode(stream.readline())

        words = text.split(" ")
        if words[1] == "PLAIN":
            answer = base64.b64decode(words[2]) if len(words) > 2 else ask(b"")
            _, user, password = answer.split(b"\0")
        else:
            user = base64.b64decode(words[2]) if len(words) > 2 else ask(b"Username:")
            password = ask(b"Password:")
        if self.auth_reply:
            return self.auth_reply
        if self.users.get(user.decode()) == password.decode():
            return b"235 2.7.0 welcome\r\n"
        return b"535 5.7.8 wrong user or password\r\n"

    def verbs(self):
        return [line.split(" ")[0] for _, line in self.commands]


class Relay(Server):
    """A scripted relay for one test."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def accepted(self):
        """[(recipient, message)] of accepted messages."""
        return [(to, raw) for to, raw, reply in self.arrived if reply[:1] == b"2"]

    def recipients(self):
        return sorted(to for to, _ in self.accepted())

    def forget(self):
        self.arrived.clear()
        self.commands.clear()
        self.connections = 0
