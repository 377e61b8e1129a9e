"""token_server.py - an OAuth 2 server: token endpoint and introspection.

    server = tap.enter(TokenServer(ca))
    refresh = server.grant("ada@example.org")     # a refresh token
    server.revoke_access()                        # all access tokens so far

Mail servers ask /introspect (RFC 7662) over plain HTTP on server.plain_port.  A refresh
token is replaced at each use; as many providers do, the old one stays valid until the
new one is used, since a response may be lost.
"""

import base64
import hashlib
import http.server
import json
import os
import secrets
import ssl
import threading
import time
import urllib.parse

CLIENT_ID = "client-1"
CLIENT_SECRET = "client-secret-5f1e"
SCOPE = "mail"


DOVECOT_CONF = """\
auth_mechanisms = plain login {mechanisms}
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {args}
}}
# No delays after failures.
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
"""

# The test's server gives no token away, so the client needs no password there.
PASSDB_CONF = """\
introspection_mode = post
introspection_url = http://127.0.0.1:{port}/introspect
force_introspection = yes
username_attribute = username
active_attribute = active
active_value = true
scope = mail
"""


class Grant:
    def __init__(self, user, scope):
        self.user = user
        self.scope = scope
        self.current = None  # refresh token
        self.previous = None  # valid until the current one is used


class Refused(Exception):
    """An error of RFC 6749 section 5.2."""


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def reply(self, status, value):
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        form = {name: values[-1] for name, values in
                urllib.parse.parse_qs(self.rfile.read(size).decode()).items()}
        self.server.owner.serve(self, self.path, form)


class TokenServer:
    """HTTPS with a certificate of the test CA; its attributes may be set at any time."""

    def __init__(self, ca):
        self.lock = threading.RLock()
        self.grants = []
        self.access = {}  # token: [user, scope, is_active]
        self.requests = []  # grant types, in order
        self.checked = []  # user of each token that a mail server has asked about
        self.seen = set()  # every token and code that was issued
        self.reset()
        self.devices = {}  # device code: [user, errors to come, earliest poll, interval]
        self.coming = ("", [])  # user and errors of the next device code
        self.is_early = False  # a device code was polled faster than allowed
        self.codes = {}  # authorization code: (user, challenge, redirect URI)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(ca.make_pair("localhost", "127.0.0.1"))
        self.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
                        for _ in range(2)]
        for server in self.servers:
            server.owner = self
            server.handle_error = lambda *_: None  # killed clients
        tls, plain = self.servers
        tls.socket = context.wrap_socket(tls.socket, server_side=True)
        self.url = f"https://localhost:{tls.server_port}"
        self.plain_port = plain.server_port

    def __enter__(self):
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def make(self, kind):
        token = f"{kind}-{secrets.token_urlsafe(24)}"
        self.seen.add(token)
        return token

    # -- for tests --

    def reset(self):
        self.lifetime_s = 3600
        self.rotates = True
        self.is_strict = False  # the old refresh token is invalid at once
        self.error = None  # (HTTP status, body) of all requests to /token
        self.gives_refresh = True
        self.is_own_allowed = None  # user of client credentials

    def grant(self, user, scope=SCOPE):
        """A user's consent.  @return the first refresh token"""
        with self.lock:
            grant = Grant(user, scope)
            grant.current = self.make("refresh")
            self.grants.append(grant)
            return grant.current

    def write_dovecot(self, directory, mechanisms="oauthbearer xoauth2"):
        """Settings with which Dovecot checks tokens here."""
        args = os.path.join(directory, "oauth2.conf")
        with open(args, "w", encoding="ascii") as file:
            file.write(PASSDB_CONF.format(port=self.plain_port))
        return DOVECOT_CONF.format(mechanisms=mechanisms, args=args)

    def revoke_access(self):
        with self.lock:
            for token in self.access.values():
                token[2] = False

    def revoke_grants(self):
        with self.lock:
            self.grants.clear()
            self.revoke_access()

    def count(self, kind="refresh_token"):
        with self.lock:
            return self.requests.count(kind)

    # -- requests --

    def serve(self, handler, path, form):
        with self.lock:
            if path == "/introspect":
                user, scope, is_active = self.access.get(
                    form.get("token"), (None, None, False))
                self.checked.append(user)
                handler.reply(200, {"active": True, "username": user, "scope": scope}
                              if is_active else {"active": False})
                return
            self.requests.append(form.get("grant_type", path))
            if self.error:
                handler.reply(*self.error)
                return
            try:
                handler.reply(200, self.answer(path, form))
            except Refused as why:
                handler.reply(400, {"error": why.args[0],
                                    "error_description": "made up for a test"})

    def answer(self, path, form):
        if form.get("client_id") != CLIENT_ID or (
                form.get("client_secret") not in (None, CLIENT_SECRET)):
            raise Refused("invalid_client")
        kind = form.get("grant_type")
        if path == "/device":
            code = self.make("device")
            self.devices[code] = [*self.coming, time.monotonic() + 1, 1]
            return {"device_code": code, "user_code": "ABCD-EFGH", "expires_in": 600,
                    "verification_uri": f"{self.url}/activate", "interval": 1}
        if kind == "refresh_token":
            return self.refresh(form["refresh_token"])
        if kind == "client_credentials":
            if not self.is_own_allowed or form.get("client_secret") != CLIENT_SECRET:
                raise Refused("unauthorized_client")
            return self.issue(self.is_own_allowed, form.get("scope", SCOPE))
        if kind == "urn:ietf:params:oauth:grant-type:device_code":
            return self.poll_device(self.devices[form["device_code"]])
        if kind == "authorization_code":
            user, challenge, redirect = self.codes.pop(form["code"], (None, "", ""))
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if not user or made != challenge or form.get("redirect_uri") != redirect:
                raise Refused("invalid_grant")
            return self.begin(user)
        raise Refused("unsupported_grant_type")

    def poll_device(self, device):
        user, errors, earliest, interval = device
        self.is_early |= time.monotonic() < earliest
        if not errors:
            return self.begin(user)
        error = errors.pop(0)
        interval += 5 if error == "slow_down" else 0
        device[2:] = time.monotonic() + interval, interval
        raise Refused(error)

    def authorize(self, url):
        """Log in as a browser would.  @return the address of the redirect"""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        assert query["response_type"] == "code" and query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256" and query["scope"], query
        with self.lock:
            code = self.make("code")
            self.codes[code] = (query["login_hint"], query["code_challenge"],
                                query["redirect_uri"])
        answer = urllib.parse.urlencode({"code": code, "state": query["state"]})
        return f"{query['redirect_uri']}/?{answer}"

    def begin(self, user):
        reply = self.issue(user, SCOPE)
        return reply | {"refresh_token": self.grant(user)} if self.gives_refresh else reply

    def issue(self, user, scope):
        token = self.make("access")
        self.access[token] = [user, scope, True]
        return {"access_token": token, "token_type": "Bearer",
                "expires_in": self.lifetime_s, "scope": scope}

    def refresh(self, token):
        for grant in self.grants:
            if token not in (grant.current, grant.previous):
                continue
            reply = self.issue(grant.user, grant.scope)
            if self.rotates:
                grant.previous = None if self.is_strict else token
                grant.current = self.make("refresh")
                reply["refresh_token"] = grant.current
            return reply
        raise Refused("invalid_grant")
