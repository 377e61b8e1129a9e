#!/usr/bin/env python3
"""test_readme.py - the recipes for mail, executed as documented.

Configuration, commands and the first mail are taken from doc/mail.md, paperboyd(8) and
paperboy.conf; only hosts, ports and paths are replaced.  Real Postfix and Dovecot: from a
subscription to its digest.
"""

import email.message
import email.utils
import http.client
import json
import os
import re
import shlex
import smtplib
import subprocess

import lib  # the path
from clock import DAY
from daemon import Instance, days_after, parse
from paperserver import element
from nginx import nginx_of_readme
from peers import PASSWORD, Ca, Dovecot, Postfix
from readme import adapt, blocks
from tap import (
    Child, Tap, free_port, need_programs, read_text, run, save, top_builddir,
    top_srcdir,
)
from web_server import WebServer

EVA = "eva@example.org"
FORM = "application/x-www-form-urlencoded"
SIGNATURE = 65  # exit status of a check whose mail is not signed
NOT_HERE = {"usermod"}  # what would change this machine


def find_block(mark, after=None):
    """The block with that mark; with after, the one that follows it."""
    found = blocks("doc/mail.md")
    (place,) = [n for n, block in enumerate(found) if mark in block]
    return found[place + 1 if after else place]


def commands(block):
    """The commands of a block, as lists of words, without sudo."""
    found = re.findall(r"^sudo (.*?)(?=\Z|^sudo )", block, re.M | re.S)
    return [shlex.split(command.replace("\\\n", " ")) for command in found]


class Recipe:
    """An installation according to doc/mail.md, and a user who writes to it.

    replace: {text there: text of this machine}, for hosts, ports and paths.
    """

    def __init__(self, tap, name, mark):
        self.directory = tap.subdirectory(name)
        self.mark = mark
        self.ca = Ca(self.directory)
        for part in ("dovecot", "postfix", "home"):
            os.makedirs(os.path.join(self.directory, part))
            os.chmod(os.path.join(self.directory, part), 0o755)
        self.dovecot = tap.enter(Dovecot(os.path.join(self.directory, "dovecot"), self.ca))
        self.instance = Instance(os.path.join(self.directory, "home"))
        for day in range(3):
            self.write_day(days_after(DAY, -day), day)
        self.child = None
        self.tap = tap

    def write_day(self, day, number):
        """A paper that the filter of doc/mail.md matches, and one that it does not."""
        papers = [element(2 * number + 1), element(2 * number + 2)]
        for paper, title in zip(papers, ("A diffusion model", "A survey of diffusion")):
            paper["title"] = paper["paper"]["title"] = f"{title} {number}"
        path = os.path.join(self.instance.papers, f"daily_papers-{day}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(papers, file)

    def configure(self, replace):
        """The configuration of doc/mail.md, with directories of the test instead of /etc and /var."""
        self.instance.set(mail__from=None, mail__owner=None, mail__alerts=None,
                       smtp__host=None, smtp__port=None)
        reader = os.path.join(top_builddir(), "paperboy-parser")
        text = adapt(find_block(self.mark), replace)
        text = adapt(text, {"receive: {": f'receive: {{ parser = "{reader}";',
                                 "mail: {": "mail: { alerts = false;"})
        with open(self.instance.config, "a", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        self.child = self.tap.enter(self.instance.start())
        self.child.wait_line("paperboyd .* started")
        self.child.wait_socket(os.path.join(self.instance.state, "control"))

    def follow(self, replace, runners):
        """The commands after the configuration.  runners: {program: function}"""
        for words in commands(adapt(find_block(self.mark, after=True), replace)):
            if words[0] not in NOT_HERE:
                runners[" ".join(words[:3]) if words[0] == "systemctl" else words[0]](
                    words)

    def check(self):
        """paperboyctl check reports only the missing signature."""
        (words,) = commands(find_block("paperboyctl check"))
        assert words == ["paperboyctl", "check"], words
        text = self.instance.ctl("--json", "check", "--wait", "50", wanted=SIGNATURE)
        rows = {row["check"]: row for row in json.loads(text)}
        wrong = [name for name, row in rows.items() if not row["ok"]]
        assert wrong == ["signature"], text
        assert rows["mail to itself"]["found"] == "received", text
        return rows

    def write(self, smtp_port, recipient, subject, text):
        mail = email.message.EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = EVA, recipient, subject
        mail["Message-ID"] = email.utils.make_msgid(domain="mail.example.org")
        mail.set_content(text)
        with smtplib.SMTP("127.0.0.1", smtp_port) as smtp:
            smtp.sendmail(EVA, [recipient], mail.as_bytes())

    def read(self, count):
        return [parse(raw) for raw in self.dovecot.wait_mails(EVA, count, 120)]

    def subscribe(self, smtp_port, address):
        """The mails of doc/mail.md, from the first one to a reply to the digest."""
        first = find_block("Subject: subscribe")
        subject, _, text = first.partition("\n")
        self.write(smtp_port, address, subject.removeprefix("Subject: "), text)
        (asked,) = self.read(1)
        text = asked.get_body(("plain",)).get_content()
        assert "diffusion" in text, text
        self.write(smtp_port, asked["Reply-To"], "Re: " + asked["Subject"], "yes\n")
        (digest,) = [mail for mail in self.read(3) if mail["List-Id"]]
        text = digest.get_body(("plain",)).get_content()
        assert "A diffusion model 0" in text and "survey" not in text.lower().replace(
            "-survey", ""), text
        later = find_block("at 9pm")
        self.write(smtp_port, digest["Reply-To"], "Re: " + digest["Subject"], later)
        answer = self.read(4)[3].get_body(("plain",)).get_content()
        assert "error" not in answer, answer
        (person,) = self.instance.rows("SELECT state, text FROM subscriber JOIN subscription"
                                    " ON subscriber_id = subscriber.id")
        assert person == ("paused", "diffusion -survey upvotes:>=5"), person
        reported = self.instance.ctl("status", wanted=(0, 1))
        assert ":ok" in reported and "TO DO" not in reported, reported
        self.instance.check_store()

    def reload(self, _words):
        self.instance.ctl("reload")


def follow_a(tap, name):
    """Recipe A.  @return the installation, its Postfix, and a runner of postconf"""
    recipe = Recipe(tap, name, "lmtp_socket")
    # the shipped configuration has addresses in example.org
    domain = {"example.org": "news.example"}
    postfix = tap.enter(Postfix(
        os.path.join(recipe.directory, "postfix"), recipe.ca, lmtp=recipe.dovecot.lmtp,
        settings={"virtual_mailbox_domains": "example.org, news.example"}))
    path = os.path.join(recipe.directory, "lmtp")
    recipe.start()  # the initial state: the recipe reloads it
    recipe.configure(domain | {
        'host = "localhost"': f'host = "localhost"; port = {postfix.port}',
        "/run/paperboy/lmtp": path,
        'lmtp_group = "paperboy"': 'lmtp_group = "postfix"'})

    def postconf(words):
        run([*words[:1], "-c", postfix.config, *words[1:]])

    def restart(_words):
        run([postfix.program, "-c", postfix.config, "reload"])

    recipe.follow(domain | {"/run/paperboy/lmtp": path}, {
        "postconf": postconf, "systemctl reload paperboyd": recipe.reload,
        "systemctl restart postfix": restart})
    recipe.child.wait_socket(path)
    return recipe, postfix, postconf


def signed_by_opendkim(tap):
    """A. opendkim signs, and check has nothing left to do"""
    need_programs("opendkim", "opendkim-genkey")
    recipe, postfix, postconf = follow_a(tap, "signed")
    keys, port = tap.subdirectory("keys"), free_port()
    here = {"example.org": "news.example", "/etc/dkimkeys": keys, "8891": str(port)}
    config = os.path.join(recipe.directory, "opendkim.conf")
    # Of a directory that others can write to, such as /tmp, it refuses the key.
    text = adapt(find_block("SignHeaders"), here | {"UserID            opendkim":
                                                    "RequireSafeKeys no"})
    save(config, text)
    runners = {"opendkim-genkey": run, "postconf": postconf,
               "systemctl": lambda words: {
                   "opendkim": lambda: tap.enter(Child(
                       ["opendkim", "-f", "-x", config])).wait_port(port),
                   "postfix": lambda: run([postfix.program, "-c", postfix.config, "reload"]),
               }[words[2]]()}
    for words in commands(adapt(find_block("SignHeaders", after=True), here)):
        if words[0] in runners:
            runners[words[0]](words)
    text = recipe.instance.ctl("--json", "check", "--wait", "50")
    (row,) = [row for row in json.loads(text) if row["check"] == "signature"]
    assert row["ok"], text


def postfix_beside_it(tap):
    """A. Postfix on this machine delivers to a socket"""
    recipe, postfix, _ = follow_a(tap, "own")
    rows = recipe.check()
    assert rows["receiver lmtp"]["ok"], rows
    recipe.subscribe(postfix.port, "paperboy@news.example")
    try:
        recipe.write(postfix.port, "paperboy+typo@news.example", "help", "help\n")
        raise AssertionError("an address that means nothing was accepted")
    except smtplib.SMTPRecipientsRefused as refused:
        ((code, _),) = refused.recipients.values()
        assert code == 550, refused.recipients
    # other mail is delivered as before
    recipe.write(postfix.port, "ada@example.org", "for Ada", "hello\n")
    recipe.dovecot.wait_mails("ada@example.org", 1)


def mailbox_at_a_host(tap):
    """B. a hosted mailbox: IMAP, and SMTP with a login"""
    recipe = Recipe(tap, "hosted", "imap_host")
    box = "papers@example.org"
    postfix = tap.enter(Postfix(
        os.path.join(recipe.directory, "postfix"), recipe.ca, lmtp=recipe.dovecot.lmtp,
        sasl=recipe.dovecot.sasl,
        settings={  # a login may send with its own address only, +tag included
            "smtpd_sender_login_maps": f"inline:{{{box}={box}}}",
            "smtpd_sender_restrictions": "reject_sender_login_mismatch",
        }))
    secret = os.path.join(recipe.directory, "password")
    trust = f'ca_file = "{recipe.ca.cert}"'
    recipe.start()
    recipe.configure({
        'smtp: { host = "smtp.example.org"; port = 587;':
            f'smtp: {{ host = "localhost"; port = {postfix.port}; {trust};'
            ' tls = "starttls";',
        'imap_host = "imap.example.org";':
            f'imap_host = "localhost"; imap_port = {recipe.dovecot.imaps_port};'
            f" imap_{trust};",
        "/etc/paperboy/password": secret})

    def install(words):
        assert words[1:5] == ["-o", "paperboy", "-g", "paperboy"], words
        subprocess.run([words[0], *words[5:]], input=PASSWORD.encode() + b"\n",
                       check=True, timeout=300)

    recipe.follow({"/etc/paperboy/password": secret}, {
        "install": install, "systemctl reload paperboyd": recipe.reload})
    rows = recipe.check()
    assert rows["receiver imap"]["found"] == (
        f"logged in to localhost as {box}, folder INBOX exists"), rows
    recipe.subscribe(postfix.port, box)
    assert any(f"sasl_username={box}" in line for line in postfix.log)


def flooded_form(tap):
    """a flood of the form stops neither the form for others nor sign-up by mail"""
    recipe = Recipe(tap, "flooded", "lmtp_socket")
    service = "paperboy@news.example"
    path = os.path.join(recipe.directory, "lmtp")
    postfix = tap.enter(Postfix(
        os.path.join(recipe.directory, "postfix"), recipe.ca, lmtp=recipe.dovecot.lmtp,
        settings={"virtual_mailbox_domains": "example.org, news.example",
                  "default_transport": "discard:",
                  "transport_maps": f"inline:{{ {service}=lmtp:unix:{path} }}"}))
    web_port = free_port()
    nginx = tap.enter(nginx_of_readme(
        tap.subdirectory("flooded-nginx"), recipe.ca.make_chain("localhost"), web_port))
    recipe.instance.set(
        web__url=nginx.url, web__listen=f"127.0.0.1:{web_port}",
        web__socket=os.path.join(recipe.directory, "daemon"))
    recipe.configure({
        "example.org": "news.example",
        'host = "localhost"': f'host = "localhost"; port = {postfix.port}',
        "/run/paperboy/lmtp": path, 'lmtp_group = "paperboy"': 'lmtp_group = "postfix"'})
    recipe.start()
    recipe.child.wait_socket(path)
    page = tap.enter(Child([os.path.join(top_builddir(), "paperboy-web"), "-c",
                            recipe.instance.config]))
    page.wait_line("started")

    def subscribe(address, client):
        _, shown = request_page(nginx, recipe.ca, "GET", "/", client=client)
        csrf = re.search(r'name="csrf" value="([a-z2-7]+)"', shown.decode())[1]
        body = f"csrf={csrf}&action=subscribe&filter=diffusion&address={address}"
        return request_page(nginx, recipe.ca, "POST", "/", body, client,
                            Content_Type=FORM)[0].status

    # One network, an address for each request: nginx lets all of them pass.
    statuses = [subscribe(f"p{i}%40d{i}.example", f"127.0.9.{i + 1}") for i in range(80)]
    assert statuses == [200] * 10 + [429] * 70, statuses
    assert subscribe("ada%40example.org", "127.0.10.1") == 200
    (asked,) = recipe.dovecot.wait_mails("ada@example.org", 1)
    assert "diffusion" in parse(asked).get_body(("plain",)).get_content()
    # Many networks: the form is closed and says so, to subscribers, too.
    statuses = [subscribe(f"q{i}%40d{i}.example", f"127.1.{i}.1") for i in range(60)]
    assert statuses == [200] * 49 + [429] * 11, statuses
    recipe.write(postfix.port, service, "subscribe", "add diffusion\n")
    (asked,) = recipe.read(1)
    recipe.write(postfix.port, asked["Reply-To"], "Re: " + asked["Subject"], "yes\n")
    assert any(mail["List-Id"] for mail in recipe.read(3))
    assert subscribe(EVA.replace("@", "%40"), "127.2.0.1") == 429
    assert recipe.instance.ctl("status", wanted=(0, 1)).count("page 60") == 1
    log = [line for line in recipe.child.output.splitlines() if "per-network-hour" in line]
    assert len(log) == 1, log


def read_source(*path):
    return read_text(os.path.join(top_srcdir(), *path))


def pipe_of_the_manual(tap):
    """paperboyd(8): Postfix delivers to a program by pipe(8)"""
    recipe = Recipe(tap, "pipe", "lmtp_socket")
    path = os.path.join(recipe.directory, "lmtp")
    recipe.instance.install()
    ctl = os.path.join(recipe.instance.programs, "paperboyctl")
    block = re.search(r"\nIf Postfix cannot write.*?\n\.Bd [^\n]*\n(.*?)\.Ed",
                      read_source("man", "paperboyd.8.in"), re.S)[1]
    block = adapt(block, {
        "@bindir@/paperboyctl":
            f"{ctl} -c {recipe.instance.config} --now {recipe.instance.clock.now()}",
        "user=paperboy": "user=nobody:mail", "example.org": "news.example"})
    master, main = re.fullmatch(r"# master.cf:\n(.*)# main.cf:\n(.*)", block, re.S).groups()
    settings = dict(line.split(" = ", 1) for line in main.splitlines())
    postfix = tap.enter(Postfix(
        os.path.join(recipe.directory, "postfix"), recipe.ca, lmtp=recipe.dovecot.lmtp,
        settings={"virtual_mailbox_domains": "example.org, news.example"} | settings,
        services=master))
    recipe.configure({
        "example.org": "news.example",
        'host = "localhost"': f'host = "localhost"; port = {postfix.port}',
        "/run/paperboy/lmtp": path, 'lmtp_group = "paperboy"': 'lmtp_group = "mail"'})
    recipe.start()
    recipe.child.wait_socket(path)
    recipe.check()
    recipe.subscribe(postfix.port, "paperboy@news.example")
    assert any("relay=paperboy" in line and "status=sent" in line for line in postfix.log)


def maildir_of_the_configuration(tap):
    """paperboy.conf: a mail server delivers into a Maildir"""
    recipe = Recipe(tap, "maildir", "lmtp_socket")
    inbox = os.path.join(recipe.directory, "dovecot", "mail", "news.example", "paperboy")
    lines = re.findall(r"^\t# ((?:maildir|recipient_header) = .*;)$",
                       read_source("etc", "paperboy.conf").partition("receive: {")[2],
                       re.M)
    assert len(lines) == 2, lines
    postfix = tap.enter(Postfix(
        os.path.join(recipe.directory, "postfix"), recipe.ca, lmtp=recipe.dovecot.lmtp,
        settings={"virtual_mailbox_domains": "example.org, news.example"}))
    recipe.write(postfix.port, "paperboy@news.example", "info", "info\n")
    postfix.wait_sent(1)  # Dovecot has made the Maildir
    recipe.configure({
        "example.org": "news.example",
        'host = "localhost"': f'host = "localhost"; port = {postfix.port}',
        'lmtp_socket = "/run/paperboy/lmtp"; lmtp_group = "paperboy";':
            adapt(" ".join(lines), {"/var/mail/paperboy": inbox})})
    recipe.start()
    recipe.dovecot.wait_mails(EVA, 1)  # waiting messages are answered
    imap = recipe.dovecot.login(EVA)
    imap.select("INBOX")
    imap.store("1", "+FLAGS", "(\\Deleted)")
    imap.expunge()
    imap.logout()
    rows = recipe.check()
    assert "is readable" in rows["receiver maildir"]["found"], rows
    recipe.subscribe(postfix.port, "paperboy@news.example")
    assert os.listdir(os.path.join(inbox, "new")) == []


def request_page(nginx, ca, method, path, body=None, client="127.0.0.1", **fields):
    """A request from a client address.  @return response, body"""
    connection = http.client.HTTPSConnection(
        "localhost", nginx.port, context=ca.client_context(),  # knows the root only
        timeout=300, source_address=(client, 0))
    connection.request(method, path, body, {
        name.replace("_", "-"): value for name, value in fields.items()},
        encode_chunked="Transfer_Encoding" in fields)
    response = connection.getresponse()
    return response, response.read()


def page_behind_nginx(tap):
    """nginx passes requests to paperboy-web, with their length and over TLS"""
    directory = tap.subdirectory("web")
    ca = Ca(directory)
    chain = ca.make_chain("papers.example.org", "localhost")
    web = tap.enter(WebServer(directory))
    nginx = tap.enter(nginx_of_readme(tap.subdirectory("nginx"), chain, web.port))

    def request(*arguments, **fields):
        return request_page(nginx, ca, *arguments, **fields)

    response, _ = request("GET", "/?lang=de")
    assert response.status == 200
    assert response.getheader("Strict-Transport-Security") == "max-age=31536000"
    assert response.getheader("Referrer-Policy") == "no-referrer"
    pair = b"List-Unsubscribe=One-Click"
    response, body = request("POST", "/u/abc", pair, Content_Type=FORM)
    assert (response.status, body) == (200, b""), response.status
    response, body = request("POST", "/u/def", iter([pair[:7], pair[7:]]),
                             Content_Type=FORM, Transfer_Encoding="chunked")
    assert (response.status, body) == (200, b""), response.status
    response, _ = request("POST", "/u/ghi", b"x" * 20000, Content_Type=FORM)
    assert response.status == 413, response.status
    assert web.asked() == [f"{line} network=127.0.0.0/24" for line in (
        "home language=de token=", "one-click language= token=abc",
        "one-click language= token=def")]
    # The claim of a client is not believed; one click has no limit, the form has.
    forged = {"X_Forwarded_For": "192.0.2.1", "client": "127.0.5.1"}
    statuses = [request("POST", "/u/abc", pair, Content_Type=FORM, **forged)[0].status
                for _ in range(50)]
    assert statuses == [200] * 50, statuses
    assert web.asked() == ["one-click language= token=abc network=127.0.5.0/24"] * 50
    statuses = [request("GET", "/", **forged)[0].status for _ in range(50)]
    assert statuses[:20] == [200] * 20 and 429 in statuses, statuses
    assert request("GET", "/", client="127.0.5.2")[0].status == 200
    assert read_text(nginx.access_log) == "", "tokens are logged"


with Tap() as tap:
    tap.run(page_behind_nginx, tap)
    tap.run(flooded_form, tap)
    tap.run(signed_by_opendkim, tap)
    tap.run(postfix_beside_it, tap)
    tap.run(pipe_of_the_manual, tap)
    tap.run(maildir_of_the_configuration, tap)
    tap.run(mailbox_at_a_host, tap)
