#!/usr/bin/env python3
"""test_web_routes.py - requests to paperboy-web reach paperboyd as typed requests."""

import os
import re
import signal
import socket
import subprocess

import lib  # the path
from tap import Child, Skip, Tap, need_programs, read_text, run, save, wait_until
from web_server import (ORIGIN, WebServer, parse_response, program, read_all,
                        write_config)

PAIR = b"List-Unsubscribe=One-Click"
FORM = "application/x-www-form-urlencoded"
BOUNDARY = "multipart/form-data; boundary=xyz"
MULTIPART = (b'--xyz\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\n'
             b"One-Click\r\n--xyz--\r\n")
ONE_CLICK = ["one-click language= token=abc"]

# method, path, body, fields; status, request of paperboyd
ROUTES = [
    ("GET", "/", b"", {}, 200, "home language= token="),
    ("GET", "/?lang=de", b"", {}, 200, "home language=de token="),
    ("GET", "/?lang=xx", b"", {"Accept_Language": "de"}, 200, "home language=de token="),
    ("GET", "/", b"", {"Accept_Language": "it, de-AT;q=0.7, en;q=0.3"}, 200,
     "home language=de token="),
    *(("GET", f"/?{query}", b"", {}, 200, "home language= token=")
      for query in ("foo", "lang", "&", "a=%00", "a=%", "=b", "a=b&a=b&", "LANG=de",
                    "mc_eid2=x&utm_source=y", "a%5B0%5D=1", "a[0]|b=%zz", "x" * 100 + "=1",
                    "&".join(f"f{i}=" for i in range(100)))),
    ("GET", "/?foo&lang=de&a.1", b"", {}, 200, "home language=de token="),
    ("HEAD", "/", b"", {}, 200, "home language= token="),
    ("GET", "/healthz", b"", {}, 200, "health language= token="),
    ("GET", "/search?filter=a+%22b%22&lang=de", b"", {}, 200,
     'search language=de token= filter="a \\"b\\""'),
    ("GET", "/?filter=agent*", b"", {}, 200, 'home language= token= filter="agent*"'),
    ("POST", "/", b"csrf=c&filter=x&action_subscribe=Mail", {}, 200,
     'subscribe language= token= action="subscribe" csrf="c" filter="x"'),
    ("POST", "/?lang=de", b"csrf=c&action=subscribe&address=a%40b.example",
     {"Content_Type": FORM}, 200,
     'subscribe language=de token= action="subscribe" address="a@b.example" csrf="c"'),
    ("GET", "/c/abc", b"", {}, 200, "confirm-show language= token=abc"),
    ("POST", "/c/abc", b"csrf=c", {}, 200, 'confirm language= token=abc csrf="c"'),
    ("GET", "/u/ABC", b"", {}, 200, "leave-show language= token=abc"),
    ("GET", "/u/not-ours", b"", {}, 200, "leave-show language= token="),
    ("GET", "/u/" + 64 * "a", b"", {}, 200, "leave-show language= token=" + 64 * "a"),
    ("GET", "/u/" + 65 * "a", b"", {}, 200, "leave-show language= token="),
    ("POST", "/u/abc", b"csrf=c&action=undo&undo=d", {}, 200,
     'leave language= token=abc action="undo" csrf="c" undo="d"'),
    ("GET", "/p/abc?show=blocks&page=2&other=3", b"", {}, 200,
     'preferences-show language= token=abc page="2" show="blocks"'),
    ("POST", "/p/abc?show=filter&number=2", b"csrf=c&action=edit&number=3", {}, 200,
     'preferences language= token=abc action="edit" csrf="c" number="3" show="filter"'),
    ("GET", "/d/abc", b"", {}, 200, "digest language= token=abc"),
    ("GET", "/f/abc.atom", b"", {}, 200, 'feed language= token=abc etag=""'),
    ("GET", "/f/abc.json", b"", {"If_None_Match": 'W/"t1"'}, 200,
     'feed language= token=abc etag="t1"'),
    ("GET", "/f/unchanged.atom", b"", {}, 304, 'feed language= token=unchanged etag=""'),
    ("GET", "/d/unknown", b"", {}, 404, "digest language= token=unknown"),
    ("GET", "/p/forbidden", b"", {}, 403, "preferences-show language= token=forbidden"),
    ("GET", "/p/invalid", b"", {}, 400, "preferences-show language= token=invalid"),
    ("GET", "/p/limited", b"", {}, 429, "preferences-show language= token=limited"),
    ("GET", "/u/unavailable", b"", {}, 503, "leave-show language= token=unavailable"),
    ("POST", "/u/unavailable", PAIR, {}, 503, "one-click language= token=unavailable"),
]

# Refused before paperboyd is asked.
REFUSED = [
    ("GET", "/nothing", b"", {}, 404),
    ("GET", "/healthz/", b"", {}, 404),
    ("GET", "//", b"", {}, 404),
    ("GET", "/u/", b"", {}, 404),
    ("GET", "/u/abc/def", b"", {}, 404),
    ("GET", "/f/abc", b"", {}, 404),
    ("GET", "/f/.atom", b"", {}, 404),
    ("GET", "/?lang=%00", b"", {}, 400),
    ("GET", "/?lang=de&lang=en", b"", {}, 400),
    ("GET", "/p/abc?show=%zz", b"", {}, 400),
    ("POST", "/healthz", b"csrf=c", {}, 405),
    ("POST", "/d/abc", b"csrf=c", {}, 405),
    ("POST", "/search", b"csrf=c", {}, 405),
    ("OPTIONS", "/", b"", {}, 405),
    ("BREW", "/", b"", {}, 501),
    ("POST", "/", b"", {}, 400),
    ("POST", "/", b"action=subscribe", {}, 400),
    ("POST", "/", b"csrf=c&Address=x", {}, 400),
    ("POST", "/p/abc", b"{}", {"Content_Type": "application/json"}, 400),
    ("POST", "/p/abc", b"csrf=c&a=%ff", {}, 400),
    ("POST", "/p/abc", b"csrf=c", {"Origin": "https://example.org"}, 403),
    ("POST", "/p/abc", b"csrf=c", {"Sec_Fetch_Site": "cross-site", "Origin": "null"}, 403),
    ("POST", "/c/abc", PAIR, {}, 400),
    ("POST", "/u/abc", b"List-Unsubscribe=Two-Clicks", {}, 400),
    ("POST", "/u/abc", PAIR + b"&csrf=c", {}, 400),
    ("POST", "/u/abc", PAIR, {"Content_Type": "text/plain"}, 400),
    ("POST", "/u/abc", b"", {"Origin": ORIGIN}, 400),
    ("POST", "/u/abc", b"", {"Origin": "https://example.org"}, 403),
    ("POST", "/u/abc", b"", {"Cookie": "a=b"}, 400),
    ("POST", "/u/abc", b"hello", {}, 400),
]


def reaches_paperboyd(web):
    """each route becomes a typed request, and each status has its number"""
    web.asked()
    for method, path, body, fields, status, line in ROUTES:
        response = web.request(method, path, body, **fields)
        assert response.status == status, (path, response)
        assert web.asked() == [line], (path, line)
        wait = {429: "60", 503: "60"}.get(status)
        assert response.fields.get("retry-after") == wait, response


# X-Forwarded-For, the network that paperboyd is told.
NETWORKS = [
    ("192.0.2.77", "192.0.2.0/24"),
    ("203.0.113.9, 192.0.2.77", "192.0.2.0/24"),
    ("192.0.2.77\r\nX-Forwarded-For: 2001:db8:1:2::3", "2001:db8:1::/48"),
    ("unknown,\t::ffff:192.0.2.77", "192.0.2.0/24"),
    ("2001:DB8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8:ffff::/48"),
    ("", ""),
    ("unknown", ""),
    ("192.0.2.77,", ""),
    ("192.0.2.77:80", ""),
    ("192.0.2", ""),
    ("192.0.2.77 network=1", ""),
    ("x" * 4000, ""),
]


def reports_the_network(web):
    """the last address that a trusted web server names, cut to /24 or /48"""
    web.asked()
    for value, network in NETWORKS:
        web.request("GET", "/u/abc", X_Forwarded_For=value)
        suffix = network and " network=" + network
        assert web.asked() == ["leave-show language= token=abc" + suffix], value


def trusts_named_proxies_only(tap):
    """another peer is the client itself, and a list that cannot be parsed is an error"""
    for number, (proxies, network) in enumerate((
            ("", "127.0.0.0/24"), ("192.0.2.0/24 ::1", "127.0.0.0/24"),
            ("127.0.0.1", "192.0.2.0/24"), ("192.0.2.1 127.0.0.0/9", "192.0.2.0/24"),
            ("127.128.0.0/9", "127.0.0.0/24"), ("::ffff:0:0/96", "192.0.2.0/24"))):
        with WebServer(tap.subdirectory(f"proxies{number}"), proxies=proxies) as web:
            web.request("GET", "/u/abc", X_Forwarded_For="192.0.2.77")
            line = f"leave-show language= token=abc network={network}"
            assert web.asked() == [line], proxies
    directory = tap.subdirectory("wrong")
    for proxies in ("localhost", "127.0.0.1,::1", "127.0.0.0/33", "::1/129", "127.0.0.1/"):
        config = write_config(directory, "127.0.0.1:1", proxies=proxies)
        done = subprocess.run([program(), "-c", config, "--check"], capture_output=True,
                              text=True)
        assert done.returncode == 78 and "web.trusted_proxy: '" in done.stderr, done


def refuses(web):
    """unknown paths, methods, types and foreign pages are refused at once"""
    web.asked()
    for method, path, body, fields, status in REFUSED:
        response = web.request(method, path, body, **fields)
        assert response.status == status, (method, path, fields, response)
        assert (status == 405) == ("allow" in response.fields), response
        assert response.body, path
    assert web.asked() == []


def unsubscribes(web):
    """one-click requests in either type, without a type, and empty ones act"""
    web.asked()
    for body, fields in [
            (PAIR, {"Content_Type": FORM}), (MULTIPART, {"Content_Type": BOUNDARY}),
            (PAIR, {}), (b"", {}), (b"", {"Content_Type": FORM}),
            (b"", {"Content_Length": 0}), (PAIR, {"Origin": "https://mail.example.org"}),
            (PAIR, {"Cookie": "a=b", "Sec_Fetch_Site": "cross-site"})]:
        response = web.request("POST", "/u/abc", body, **fields)
        assert response.status == 200 and response.body == b"", (fields, response)
        assert response.fields["content-length"] == "0"
        assert "location" not in response.fields
        assert web.asked() == ONE_CLICK, fields
    for query in ("foo", "mc_eid2=x&utm_source=y", "utm[a]=b&"):
        response = web.request("POST", f"/u/abc?{query}", PAIR, Content_Type=FORM)
        assert response.status == 200 and web.asked() == ONE_CLICK, response


def sends_fields_of_security(web):
    """each response has the fields against caching, leaks and foreign content"""
    for path in ("/", "/u/abc", "/nothing", "/p/unknown"):
        response = web.request("GET", path)
        for name, value in (("cache-control", "no-store"),
                            ("referrer-policy", "no-referrer"),
                            ("x-content-type-options", "nosniff"),
                            ("connection", "close")):
            assert response.fields[name] == value, (path, response)
        assert ("x-robots-tag" in response.fields) == (path != "/"), response
        assert int(response.fields["content-length"]) == len(response.body)
        assert response.fields["date"].endswith(" GMT")
        assert "set-cookie" not in response.fields
        if response.body:
            policy = response.fields["content-security-policy"]
            assert "default-src 'none'" in policy, policy
            assert response.fields["content-type"] == "text/html; charset=utf-8"


def answers_head(web):
    """the reply to HEAD has the length of the page, and no body"""
    whole, head = web.request("GET", "/"), web.request("HEAD", "/")
    assert head.body == b"" and whole.body
    assert head.fields["content-length"] == whole.fields["content-length"]
    assert web.request("HEAD", "/nothing").body == b""


def logs_nothing(web):
    """no token, name or address is logged"""
    lines = [line for line in web.child.lines if " started" not in line]
    assert lines == [], lines


def survives_without_paperboyd(tap):
    """without paperboyd the answer is 503, until it is there"""
    with WebServer(tap.subdirectory("alone"), has_daemon=False) as web:
        response = web.request("GET", "/healthz")
        assert response.status == 503 and response.fields["retry-after"] == "60"
        assert web.request("POST", "/u/abc", PAIR).status == 503
        web.child.wait_line("cannot connect to paperboyd")
        web.start_daemon()
        assert web.request("GET", "/healthz").status == 200
        web.child.wait_line("responds again")
        assert web.child.output.count("cannot connect") == 1


def survives_a_broken_paperboyd(tap):
    """an invalid or incomplete reply of paperboyd becomes a 503"""
    directory = tap.subdirectory("broken")
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(os.path.join(directory, "daemon"))
        daemon.listen()
        with WebServer(directory, has_daemon=False) as web:
            for reply in (b"", b"\x09", b"\x09\0\0\0", b"\0\0\0\0", b"\xff\xff\xff\xff",
                          b"\x09\0\0\0\0\0en\0xxx\x05", b"\x09\0\0\0\x63\0en\0\0\0\0\x05",
                          b"\x09\0\0\0\0\x63en\0\0\0\0\x05"):
                with web.connect() as client:
                    client.sendall(b"GET /u/abc HTTP/1.0\r\n\r\n")
                    peer, _ = daemon.accept()
                    with peer:
                        peer.recv(65536)
                        peer.sendall(reply)
                    assert parse_response(read_all(client)).status == 503, reply


def finishes_requests(tap):
    """SIGTERM ends it after the requests in progress"""
    directory = tap.subdirectory("stop")
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(os.path.join(directory, "daemon"))
        daemon.listen()
        with WebServer(directory, has_daemon=False) as web, web.connect() as client, \
                web.connect() as idle:
            client.sendall(b"GET /u/abc HTTP/1.0\r\n\r\n")
            idle.sendall(b"GET /")
            peer, _ = daemon.accept()
            with peer:
                peer.recv(65536)
                web.child.signal(signal.SIGTERM)
                assert read_all(idle) == b""
                peer.sendall(b"\x09\0\0\0" b"\0\0en\0\0\0\0\x05")
            assert parse_response(read_all(client)).status == 200
            assert web.child.wait_exit() == 0
            assert web.child.lines[-1].endswith("ended"), web.child.output


def is_stopped(pid):
    return read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[0] == "T"


def finishes_unread_requests(tap):
    """a request that has arrived before SIGTERM is answered, though it was not read"""
    with WebServer(tap.subdirectory("unread")) as web:
        web.child.signal(signal.SIGSTOP)
        wait_until(lambda: is_stopped(web.child.pid), "the stop")
        with web.connect() as client:
            client.sendall(b"GET /u/abc HTTP/1.0\r\n\r\n")
            web.child.signal(signal.SIGTERM)
            web.child.signal(signal.SIGCONT)
            assert parse_response(read_all(client)).status == 200
        assert web.child.wait_exit() == 0


def checks_its_configuration(tap):
    """an invalid configuration is refused with status 78"""
    directory = tap.subdirectory("invalid")
    for listen, words in (("0.0.0.0:8080", "not a loopback address"),
                          ("192.0.2.1:80", "not a loopback address"),
                          ("[::]:80", "not a loopback address"),
                          ("127.0.0.1", "not a loopback address"),
                          ("127.0.0.1:0", "not a loopback address"),
                          ("localhost:80", "not a loopback address"),
                          ("/" + 108 * "x", "too long")):
        done = subprocess.run([program(), "-c", write_config(directory, listen)],
                              capture_output=True, text=True)
        assert done.returncode == 78 and words in done.stderr, (listen, done)
    path = write_config(directory, "127.0.0.1:8080")
    assert run([program(), "-c", path, "--check"]) == ""
    text = read_text(path)
    for url, words in (("", "web.url is not set"), ("javascript:x", "the base of links"),
                       ("https://", "the base of links"),
                       ("https://h/?a=b", "the base of links"),
                       ("https://h/", "the base of links"),
                       ("http://papers.example.org", "web.url: https:// is needed")):
        save(path, text.replace(ORIGIN, url))
        done = subprocess.run([program(), "-c", path, "--check"], capture_output=True,
                              text=True)
        assert done.returncode == 78 and words in done.stderr, (url, done)


def has_options():
    """--version and --help work, and others are refused with status 64"""
    assert run([program(), "--version"]).startswith("paperboy-web ")
    assert "--config" in run([program(), "--help"])
    for arguments in (["--nothing"], ["extra"], ["-c"]):
        done = subprocess.run([program(), *arguments], capture_output=True, text=True)
        assert done.returncode == 64 and "--help" in done.stderr, done


def links_few_libraries():
    """it links neither the database nor any library for networks or mail"""
    (readelf,) = need_programs("readelf")
    needed = set(re.findall(r"NEEDED.*\[lib([a-z0-9-]+)[.\d-]*\.so", run(
        [readelf, "-d", program()])))
    others = needed - {"glib-2", "config", "jansson", "systemd", "seccomp", "c", "m",
                       "asan", "ubsan"}
    assert "glib-2" in needed and not others, needed


def listens_on_a_path(tap):
    """it serves a Unix socket, and replaces a stale one but no other file"""
    directory = tap.subdirectory("path")
    path = os.path.join(directory, "web")
    config = write_config(directory, path)
    for _ in range(2):
        with Child([program(), "-c", config]) as child:
            child.wait_line("started")
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(b"GET /nothing HTTP/1.0\r\n\r\n")
                assert parse_response(read_all(client)).status == 404
            done = subprocess.run([program(), "-c", config], capture_output=True, text=True)
            assert done.returncode != 0 and "in use" in done.stderr, done
            child.kill()
    os.unlink(path)
    with open(path, "w", encoding="ascii"):
        pass
    done = subprocess.run([program(), "-c", config], capture_output=True, text=True)
    assert done.returncode != 0 and "not a socket" in done.stderr, done


def takes_sockets_of_systemd(tap):
    """it takes the listening socket that systemd passes"""
    (activate,) = need_programs("systemd-socket-activate")
    if "libsystemd" not in run(["ldd", program()]):
        raise Skip("built without libsystemd")
    directory = tap.subdirectory("activated")
    path = os.path.join(directory, "web")
    config = write_config(directory, "127.0.0.1:1")
    with Child([activate, "-l", path, program(), "-c", config]) as child:
        child.wait_file(path)
        with socket.socket(socket.AF_UNIX) as client:
            wait_until(lambda: client.connect_ex(path) == 0, "a connection")
            client.sendall(b"GET /nothing HTTP/1.0\r\n\r\n")
            assert parse_response(read_all(client)).status == 404


with Tap() as tap:
    with WebServer(tap.subdirectory("web")) as web:
        tap.run(reaches_paperboyd, web)
        tap.run(reports_the_network, web)
        tap.run(refuses, web)
        tap.run(unsubscribes, web)
        tap.run(sends_fields_of_security, web)
        tap.run(answers_head, web)
        tap.run(logs_nothing, web)
    tap.run(survives_without_paperboyd, tap)
    tap.run(survives_a_broken_paperboyd, tap)
    tap.run(finishes_requests, tap)
    tap.run(finishes_unread_requests, tap)
    tap.run(checks_its_configuration, tap)
    tap.run(trusts_named_proxies_only, tap)
    tap.run(has_options)
    tap.run(links_few_libraries)
    tap.run(listens_on_a_path, tap)
    tap.run(takes_sockets_of_systemd, tap)
