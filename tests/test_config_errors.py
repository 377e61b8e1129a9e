#!/usr/bin/env python3
"""test_config_errors.py - messages for invalid configurations and unusable files.

The golden file is read by operators: review its changes.
"""

import contextlib
import os
import re
import shutil
import subprocess

import lib  # the path
from engines import has_libpq
from programs import install
from tap import Skip, Tap, read_text, save, top_builddir, top_srcdir

GOLDEN = os.path.join(top_srcdir(), "tests", "golden")
TEMPLATES = os.path.join(top_srcdir(), "etc", "templates")
MOST = 1024 * 1024  # BOUNDS_SETTINGS_BYTES
FILES, SECRET = 100, 4096
GOOD = ('mail: { from = "p@example.org"; owner = "o@example.org"; };\n'
        f'template_dir = "{TEMPLATES}";\n')
CONFIG = 78


class ConfigDirectory:
    """A directory with configurations, and the program that checks them."""

    def __init__(self, directory):
        self.directory = directory
        self.path = os.path.join(directory, "paperboy.conf")
        # libconfig leaks the string that it was parsing at a syntax error.
        known = self.write("leak:libconfig\n", "known-leaks")
        self.env = os.environ | {
            "LSAN_OPTIONS": f"suppressions={known}:print_suppressions=0"}

    def write(self, text, name="paperboy.conf", mode=0o644):
        path = os.path.join(self.directory, name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # it may be read-only
        save(path, text if isinstance(text, bytes) else text.encode())
        os.chmod(path, mode)
        return path

    def check(self, path=None, programs=None, **popen):
        """(status, lines without program name and directory)"""
        done = subprocess.run(
            [os.path.join(programs or top_builddir(), "paperboyd"), "--check", "-c",
             path or self.path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=300, check=False, env=self.env, **popen)
        text = done.stdout.decode().replace("paperboyd: ", "")
        return done.returncode, text.replace(self.directory + "/", "").splitlines()

    def expect(self, text, *lines):
        """Check that a configuration gives these messages; none: it is valid."""
        self.write(text)
        found = self.check()
        assert found == (CONFIG if lines else 0, list(lines)), (text[:200], found)


def test_golden(config_directory):
    """one run reports thirty different errors with thirty messages"""
    for name in ("config_errors.conf", "config_errors-part.conf"):
        shutil.copy(os.path.join(GOLDEN, name), config_directory.directory)
    status, lines = config_directory.check(os.path.join(config_directory.directory, "config_errors.conf"))
    wanted = read_text(os.path.join(GOLDEN, "config_errors.txt")).splitlines()
    assert status == CONFIG
    assert lines == wanted, "\n".join(lines)
    assert len(lines) >= 30
    for line in lines:
        assert re.match(r"config_errors(-part)?\.conf:\d+: \S", line), line


def test_good(config_directory):
    """comments, byte order marks, CRLF and includes are accepted"""
    part = config_directory.write("smtp: { port = 26; };\n", "part.conf")
    os.makedirs(os.path.join(config_directory.directory, "conf.d"), exist_ok=True)
    config_directory.write("log_level = \"debug\";", "conf.d/more.conf")
    for text in (GOOD, b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n"),
                 "# c\n// c\n/* @include \"none\"\n \" */\n" + GOOD,
                 f'{GOOD}@include "part.conf"\n', f'{GOOD}@include "{part}"\n',
                 f'{GOOD}  @include "conf.d/more.conf" # more\n@include "part.conf"\n',
                 GOOD + "#" * (MOST - len(GOOD) - 2)):
        config_directory.expect(text)


def test_no_text(config_directory):
    """pipes, devices, directories, binary and large files are rejected without blocking"""
    os.mkfifo(os.path.join(config_directory.directory, "pipe"))
    for path, why in (("pipe", "not a regular file"), ("/dev/zero", "not a regular file"),
                      ("conf.d", "is a directory"),
                      ("none", "No such file or directory")):
        status, lines = config_directory.check(os.path.join(config_directory.directory, path))
        assert (status, lines) == (CONFIG, [f"{path}: cannot read the file: {why}"]), lines
        config_directory.expect(f'{GOOD}@include "{path}"\n',
                   f"paperboy.conf:3: cannot include '{path}': {why}")
    for text, why in (
        (GOOD + "#" * (MOST - len(GOOD) + 1), f"larger than {MOST} bytes"),
        ("#" * 2 * MOST, f"larger than {MOST} bytes"),
        (GOOD.encode() + b"\0", "not a text file: it contains a NUL byte (line 3)"),
        (GOOD.encode("utf-16"), "UTF-16 (expected UTF-8)"),
    ):
        config_directory.expect(text, f"paperboy.conf: cannot read the file: {why}")
    missing = ["paperboy.conf: mail.from is not set: From address of digests",
               "paperboy.conf: mail.owner is not set: address of the operator"]
    for text in ("", "# nothing\n", "\r\n"):
        config_directory.write(text)
        status, lines = config_directory.check()
        assert (status, lines[:2]) == (CONFIG, missing), lines
    config_directory.write(GOOD + "x = " + "(" * (MOST // 2))
    status, lines = config_directory.check()
    assert status == CONFIG and len(lines) == 2, lines


def test_unreadable(config_directory):
    """an unreadable file is reported"""
    config_directory.write(GOOD, mode=0)
    found = config_directory.check(
        programs=install(os.path.join(config_directory.directory, "installed")),
        user="nobody" if os.geteuid() == 0 else None)
    assert found == (CONFIG, ["paperboy.conf: cannot read the file: Permission denied"]), found


def test_includes(config_directory):
    """includes are nested; circular, too many and invalid ones are reported with their line"""
    for number in range(1, FILES - 1):
        config_directory.write(f'@include "deep-{number + 1}.conf"\n', f"deep-{number}.conf")
    config_directory.write("log_level = 3;", f"deep-{FILES - 1}.conf")
    config_directory.expect(GOOD + '@include "deep-1.conf"\n',
               f"deep-{FILES - 1}.conf:1: log_level must be a quoted text, not a number")
    config_directory.write('\n@include "paperboy.conf"\n', "one.conf")
    config_directory.expect(GOOD + '@include "one.conf"\n' * 2,
               "one.conf:2: cannot include 'paperboy.conf':"
               f" more than {FILES} files (does one include itself?)")
    config_directory.write("# nothing\n", "part.conf")
    config_directory.expect(GOOD + '@include "part.conf"\n' * (FILES - 1))
    config_directory.expect(GOOD + '@include "part.conf"\n' * FILES,
               f"paperboy.conf:{FILES + 2}: cannot include 'part.conf':"
               f" more than {FILES} files (does one include itself?)")
    config_directory.write("smtp: {\n port = 26;\n tls \"off\";\n};\n", "part.conf")
    config_directory.expect(GOOD + '@include "part.conf"\n',
               "part.conf:3: syntax error here or before (missing quote, '=', ';' or ','?):"
               ' tls "off";')
    for line in ("@include part.conf", '@include ""', '@include "part.conf" smtp: {',
                 '@include "part.conf', '@included "part.conf"'):
        config_directory.expect(GOOD + f"{line}\nlog_level = 3;\n",
                   'paperboy.conf:3: expected @include "FILE" on a line of its own')


def test_secrets(config_directory):
    """a secret that is missing, readable by others, empty or several lines is reported"""
    base = GOOD + 'smtp: {\n user = "u";\n password_file = "%s";\n};\n'
    path = os.path.join(config_directory.directory, "secret")

    def expect(why):
        line = f"paperboy.conf:5: smtp.password_file: 'secret': {why}"
        config_directory.expect(base % path, *([line] if why else []))

    expect("No such file or directory")
    for text, mode, why in (
        ("s3cret\n", 0o600, None),
        ("s3cret", 0o400, None),
        ("s3cret\r\n", 0o600, None),
        ("x" * SECRET, 0o600, None),
        ("x" * (SECRET + 1), 0o600, f"larger than {SECRET} bytes"),
        ("s3cret\n", 0o640, "the secret is readable by others (chmod 600)"),
        ("s3cret\n", 0o604, "the secret is readable by others (chmod 600)"),
        ("", 0o600, "the file is empty (expected a secret)"),
        ("\n", 0o600, "the file is empty (expected a secret)"),
        ("s3cret\nmore\n", 0o600, "the file has several lines (expected the secret on one)"),
        ("s3\0cret\n", 0o600, "not a text file: it contains a NUL byte (line 1)"),
    ):
        config_directory.write(text, "secret", mode)
        expect(why)
    os.unlink(path)
    os.mkdir(path)
    expect("is a directory")
    os.rmdir(path)
    os.mkfifo(path)
    expect("not a regular file")
    os.unlink(path)


def test_hosts(config_directory):
    """a host is a name or an address"""
    for host in ("localhost", "mail.example.org", "127.0.0.1", "::1", "2001:db8::25"):
        config_directory.expect(GOOD + f'smtp: {{ host = "{host}"; }};')
    for host, port in (("mail.example.org", "587"), ("[::1]", "25"), ("localhost", "25")):
        config_directory.expect(
            GOOD + f'smtp: {{ host = "{host}:{port}"; }};',
            f"paperboy.conf:3: smtp.host: '{host}:{port}' contains a port: write "
             "host ="
            f' "{host.strip("[]")}"; port = {port};')
    for host in ("smtp://mail.example.org", "mail example.org", "a,b", "a:", "a@b"):
        config_directory.expect(
            GOOD + f'smtp: {{ host = "{host}"; }};',
            f"paperboy.conf:3: smtp.host: '{host}' is not a host name or an address"
            " (expected, for example, mail.example.org)")
    config_directory.expect(
        GOOD + 'smtp: { host = "[::1]"; };',
        "paperboy.conf:3: smtp.host: '[::1]': write the address without brackets")


def test_page(config_directory):
    """the URL of the page is a base of links"""
    good = GOOD + 'commands: { address = "p@example.org"; };\n'
    for url in ("https://papers.example.org", "https://example.org:8443",
                "http://localhost:8080", "https://[2001:db8::25]",
                "https://" + "p." * 94 + "porg"):
        config_directory.expect(good + f'web: {{ url = "{url}"; }};')
    for url in ("papers.example.org", "https://", "https://papers.example.org/",
                "ftp://example.org", "HTTPS://example.org", "https://ada@example.org", "https://example.org?a=b",
                "https://example.org#top", "https://example.org/papers",
                "https://e.org,b", "https://" + "p." * 94 + "p.org"):
        config_directory.expect(
            good + f'web: {{ url = "{url}"; }};',
            f"paperboy.conf:4: web.url: '{url}' is not the base of links (expected, for"
            " example, https://papers.example.org, without a slash at the end)")


def test_sources(config_directory):
    """unknown arXiv categories, invalid URLs and options of another kind are reported"""
    def write(text):
        return GOOD + f"sources = ( {{ name = \"one\"; {text} }} );"
    arxiv = 'kind = "arxiv"; categories = [ "cs.CL", "{}" ];'
    for name in "hep-th", "cs", "math.AG":
        config_directory.expect(write(arxiv.format(name)))
    for name, nearest in (("CS.CL", "cs.CL"), ("cs.CLL", "cs.CL"), ("hep-thx", "hep-th")):
        config_directory.expect(
            write(arxiv.format(name)),
            f"paperboy.conf:3: source \"one\": '{name}' is not a category of arXiv:"
            f" did you mean {nearest}?")
    for url in ("https://", "http://", "file:///", "example.org/rss", "ftp://example.org/"):
        config_directory.expect(
            write(f'kind = "feed"; url = "{url}";'),
            f"paperboy.conf:3: source \"one\": url: '{url}' is not a URL (expected https://,"
            " http:// or file:///PATH)")
    for text, problem in (
            ('kind = "arxiv";', "categories is missing: the kind arxiv needs it"),
            ('kind = "feed";', "url is missing: the kind feed needs it"),
            ('kind = "huggingface"; issn = "0092-8674";',
             "the kind huggingface does not take issn: remove it"),
            ('kind = "feeds"; url = "https://example.org/rss";',
             'unknown kind "feeds": did you mean "feed"?'),
            ('kind = "gopher";',
             'unknown kind "gopher" (expected one of huggingface, arxiv, biorxiv,'
             ' medrxiv, europepmc, crossref, feed)')):
        config_directory.expect(write(text), f'paperboy.conf:3: source "one": {problem}')
    # Of the usual source, without the list.
    config_directory.expect(GOOD + 'huggingface: { url = "https://mirror.example"; };')
    config_directory.expect(
        GOOD + 'huggingface: { url = "ftp://example.org/"; };',
        "paperboy.conf:3: huggingface: url: 'ftp://example.org/' is not a URL (expected"
        " https://, http:// or file:///PATH)")
    # Nothing can be posted to a file.
    for name in ("url", "ping_url"):
        config_directory.expect(
            GOOD + f'alerts: {{ {name} = "file:///tmp/alerts"; }};',
            f"paperboy.conf:3: alerts.{name}: 'file:///tmp/alerts' is a file (expected"
            " https:// or http://)")
    # Two of each kind, in an included file and on several lines.
    config_directory.write("""sources = (
  { name = "hf"; kind = "huggingface"; private = true; },
  { name = "mirror"; kind = "huggingface"; url = "https://mirror.example"; },
  { name = "arxiv"; kind = "arxiv"; categories = [ "cs.CL" ]; request_interval_s = 5; },
  { name = "maths"; kind = "arxiv"; categories = ( "math.AG", "math.AT" );
    api_url = "https://mirror.example"; },
  { name = "lab"; kind = "feed"; url = "https://lab.example/rss"; enabled = false; },
  { name = "club"; kind = "feed"; url = "file:///srv/club.xml"; }
);
""", "part.conf")
    config_directory.expect(GOOD + '@include "part.conf"')


def test_store(config_directory):
    """the URL of a database with a password, parameter or scheme that is wrong is reported"""
    if not has_libpq():
        raise Skip("built without libpq")
    for url in ("postgresql://paperboy@db/paperboy", "postgresql:///paperboy?host=/run",
                "postgresql://db:5433/paperboy", "postgresql://paperboy@[::1]:5433/paperboy",
                "postgres://paperboy@one:1,two:2/paperboy"):
        config_directory.expect(GOOD + f'store: {{ url = "{url}"; }};')
    for url, problem in (
            ("postgres://paperboy:a@db/paperboy",
             "the URL of the database has a password: move it to a file, see"
             " store.password_file"),
            ("postgresql://db/paperboy?passwort=a", "the URL of the database is wrong:"
             ' invalid URI query parameter: "passwort"'),
            ("postgresq://db/paperboy", "expected postgresql://USER@HOST/DATABASE")):
        config_directory.expect(GOOD + f'store: {{ url = "{url}"; }};',
                                f"paperboy.conf:3: store.url: {problem}")


with Tap() as tap:
    config_directory = ConfigDirectory(tap.subdirectory("config"))
    for test in (test_golden, test_good, test_no_text, test_unreadable, test_includes,
                 test_secrets, test_hosts, test_page, test_sources,
                 test_store):
        tap.run(test, config_directory)
