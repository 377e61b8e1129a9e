"""hostile_imap.py - an IMAP server that misbehaves on request.

    with BadImap([message, ...], bad={"SELECT": flood}) as server: ...

It serves a port of this host without TLS; its messages and flags persist over connections.
bad: a command's name (or GREETING, LOGIN) and a function
that is called in place of the good answer, as function(server, connection, tag).
After `times` misbehaviours it behaves normally.
"""

import bisect
import contextlib
import re
import socket
import threading

HOST = "127.0.0.1"
CAPABILITIES = "IMAP4rev1 IDLE UIDPLUS AUTH=PLAIN SASL-IR"


class BadImap:
    """messages: bytes.  capabilities, permanent: the ones that it announces. forgets:
    keywords are accepted but not stored.  validity: None for no UIDVALIDITY.
    """

    def __init__(self, messages, bad=None, times=1, capabilities=CAPABILITIES,
                 permanent="\\Deleted \\Seen \\*", validity=7, forgets=False):
        self.messages = {number + 1: raw for number, raw in enumerate(messages)}
        self.flags = {uid: set() for uid in self.messages}
        self.bad = dict(bad or {})
        self.times = times
        self.capabilities = capabilities
        self.permanent = permanent
        self.validity = validity
        self.forgets = forgets
        self.connections = 0
        self.was_bad = 0
        self.commands = []
        self.is_over = threading.Event()
        self.news = threading.Condition()
        self._listener = socket.create_server((HOST, 0))
        self.port = self._listener.getsockname()[1]
        self._clients = []
        self._order = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                self._clients.append(client)
                threading.Thread(target=self._serve, args=(client,),
                                 daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError, ValueError):
            Connection(self, client).serve()

    def misbehave(self, name, connection, tag):
        """Whether it misbehaved instead of answering."""
        if name not in self.bad or self.was_bad >= self.times:
            return False
        self.was_bad += 1
        self.bad[name](self, connection, tag)
        return True

    def order(self):
        """UIDs by message number; sorted again when messages were added or removed."""
        if len(self._order) != len(self.messages):
            self._order = sorted(self.messages)
        return self._order

    def add(self, raw):
        with self.news:
            uid = max(self.messages, default=0) + 1
            self.messages[uid] = raw
            self.flags[uid] = set()
            self.news.notify_all()

    def replace(self, messages):
        """Replace the folder: new UIDVALIDITY, the same UIDs."""
        self.messages = {number + 1: raw for number, raw in enumerate(messages)}
        self.flags = {uid: set() for uid in self.messages}
        self._order = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self._listener.close()
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


class Connection:
    def __init__(self, server, client):
        self.server = server
        self.client = client
        self.stream = client.makefile("rb")

    def say(self, *lines):
        self.client.sendall("".join(line + "\r\n" for line in lines).encode("latin-1"))

    def send(self, data):
        self.client.sendall(data)

    def hang(self):
        """Send nothing until the test ends or the client disconnects."""
        self.stream.read()
        self.server.is_over.wait()

    def cut(self):
        self.client.shutdown(socket.SHUT_RDWR)
        raise OSError("cut")

    def serve(self):
        server = self.server
        if not server.misbehave("GREETING", self, "*"):
            self.say("* OK ready")
        for line in self.stream:
            tag, _, rest = line.decode("latin-1").rstrip("\r\n").partition(" ")
            words = rest.split(" ")
            name = words.pop(0).upper()
            if name == "UID":
                name = words.pop(0).upper()
            server.commands.append((name, rest))
            if name == "FETCH" and "BODY" in rest:
                name = "MESSAGE"
            if server.misbehave(name, self, tag):
                continue
            getattr(self, "do_" + name.lower())(tag, words, rest)
            if name == "LOGOUT":
                return

    def done(self, tag):
        self.say(f"{tag} OK done")

    def do_capability(self, tag, _words, _rest):
        self.say(f"* CAPABILITY {self.server.capabilities}")
        self.done(tag)

    def do_authenticate(self, tag, words, _rest):
        if len(words) < 2:
            self.say("+ ")
            self.stream.readline()
        self.done(tag)

    do_login = do_noop = do_create = lambda self, tag, _words, _rest: self.done(tag)

    def do_logout(self, tag, _words, _rest):
        self.say("* BYE then", f"{tag} OK bye")

    def do_select(self, tag, _words, _rest):
        server = self.server
        self.reported = len(server.messages)
        self.say(f"* {self.reported} EXISTS", "* 0 RECENT",
                 "* FLAGS (\\Deleted \\Seen)",
                 f"* OK [PERMANENTFLAGS ({server.permanent})] kept",
                 *([f"* OK [UIDVALIDITY {server.validity}] valid"]
                   if server.validity else []),
                 f"{tag} OK [READ-WRITE] selected")

    def do_search(self, tag, _words, rest):
        server = self.server
        first, last = re.search(r"\(?(\d+)(?::(\d+))?", rest).groups()
        first, last = int(first), int(last or first)
        after = re.search(r" UID (\d+):\*", rest)
        found = []
        for number, uid in enumerate(server.order(), 1):
            flags = server.flags[uid]
            if not first <= number <= last:
                continue
            if "UNKEYWORD" in rest and "$PaperboyDone" in flags:
                continue
            if "UNDELETED" in rest and "\\Deleted" in flags:
                continue
            if after and uid < int(after[1]) and uid != max(server.messages):
                continue
            found.append(str(uid))
        self.say(" ".join(["* SEARCH", *found]))
        self.done(tag)

    def uids_of(self, text):
        wanted = set()
        for part in text.split(","):
            first, _, last = part.partition(":")
            wanted |= set(range(int(first), int(last or first) + 1))
        return sorted(wanted & self.server.messages.keys())

    def number_of(self, uid):
        return bisect.bisect_left(self.server.order(), uid) + 1

    def do_fetch(self, tag, words, _rest):
        for uid in self.uids_of(words[0]):
            size = len(self.server.messages[uid])
            self.say(f"* {self.number_of(uid)} FETCH (UID {uid} RFC822.SIZE {size})")
        self.done(tag)

    def do_message(self, tag, words, _rest):
        for uid in self.uids_of(words[0]):
            raw = self.server.messages[uid]
            self.send(b"* %d FETCH (UID %d BODY[]<0> {%d}\r\n%s)\r\n"
                      % (self.number_of(uid), uid, len(raw), raw))
        self.done(tag)

    def do_store(self, tag, words, rest):
        added = set(re.search(r"\(([^)]*)\)", rest)[1].split())
        if self.server.forgets:
            added = set()
        for uid in self.uids_of(words[0]):
            self.server.flags[uid] |= added
        self.done(tag)

    def do_copy(self, tag, _words, _rest):
        self.done(tag)

    def do_expunge(self, tag, words, _rest):
        for uid in self.uids_of(words[0]):
            if "\\Deleted" in self.server.flags[uid]:
                number = self.number_of(uid)
                del self.server.messages[uid]
                self.say(f"* {number} EXPUNGE")
        self.done(tag)

    def do_idle(self, tag, _words, _rest):
        self.say("+ idling")
        server = self.server
        with server.news:
            while len(server.messages) <= self.reported and not server.is_over.is_set():
                server.news.wait(0.05)
                if self.has_input():
                    break
            if len(server.messages) > self.reported:
                self.reported = len(server.messages)
                self.say(f"* {self.reported} EXISTS")
        self.stream.readline()
        self.done(tag)

    def has_input(self):
        self.client.setblocking(False)
        try:
            return self.client.recv(1, socket.MSG_PEEK) is not None
        except BlockingIOError:
            return False
        finally:
            self.client.setblocking(True)
