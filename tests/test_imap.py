#!/usr/bin/env python3
"""test_imap.py - messages from a real IMAP server, with each way of marking them."""

import collections
import os
import signal

import lib  # the path
import imap_fixture
from imap_fixture import Reader, all_kinds, put_all
from daemon import Instance
from peers import PASSWORD, Ca, Dovecot
from programs import built
from tap import Tap, save

DONE = "$PaperboyDone"


def message(number):
    return b"Subject: message %d\r\n\r\ntext\r\n" % number


def same(got, wanted):
    """Compare as multisets."""
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if got != wanted:
        raise AssertionError(
            f"{sum((got - wanted).values())} too many, "
            f"{sum((wanted - got).values())} missing: "
            f"{[raw[:60] for raw in (wanted - got)][:3]}"
        )


def wait_marked(reader, dovecot, user, count, folder="INBOX"):
    def all_marked():
        flags = imap_fixture.keywords(dovecot, user, folder)
        return len(flags) == count and all(DONE in one for one in flags)

    reader.wait_fact(all_marked, f"{count} marked messages")


def main():
    with Tap() as tap:
        ca = Ca(tap.subdirectory("ca"))
        dovecot = tap.enter(Dovecot(tap.subdirectory("dovecot"), ca))
        numbers = iter(range(1000))

        def start(user, tls="implicit", **options):
            port = dovecot.imap_port if tls == "starttls" else dovecot.imaps_port
            options = {"ca": ca.cert, "command": 60000} | options
            return Reader(tap.subdirectory(f"reader{next(numbers)}"), port=port, tls=tls,
                          user=f"{user}@example.org", **options)

        def test_all_kinds():
            """200 messages of all kinds arrive unmodified, over both kinds of TLS"""
            raws = all_kinds(200)
            for tls in ("implicit", "starttls"):
                user = "kinds-" + tls
                put_all(dovecot, user + "@example.org", raws)
                with start(user, tls=tls) as reader:
                    same(reader.wait_messages(200), raws)
                    wait_marked(reader, dovecot, user + "@example.org", 200)
                    reader.end()
                for flags in imap_fixture.keywords(dovecot, user + "@example.org"):
                    assert "\\Seen" not in flags and "\\Deleted" not in flags, flags
                with start(user, tls=tls) as reader:
                    put_all(dovecot, user + "@example.org", [message(1)])
                    same(reader.wait_messages(1), [message(1)])
                    reader.end()

        def test_idle():
            """a new message arrives at once by IDLE; one that was read arrives, too"""
            user = "idle@example.org"
            with start("idle", idle=1000, poll=1000) as reader:
                for number in range(5):
                    dovecot.put(user, message(number))
                    same(reader.wait_messages(number + 1),
                         [message(n) for n in range(number + 1)])
                wait_marked(reader, dovecot, user, 5)
                reader.end()
            imap = dovecot.login(user)
            imap.append("INBOX", "(\\Seen)", None, message(9))
            imap.logout()
            with start("idle") as reader:
                same(reader.wait_messages(1), [message(9)])
                reader.end()

        def test_stop():
            """it stops at once in IDLE, and reports it"""
            with start("stop", idle=1000) as reader:
                dovecot.put("stop@example.org", message(1))
                reader.wait_messages(1)
                wait_marked(reader, dovecot, "stop@example.org", 1)
                reader.end()

        def test_move():
            """messages are moved to the folder, which is created"""
            user = "move@example.org"
            put_all(dovecot, user, [message(n) for n in range(60)])
            with start("move", move_to="Done") as reader:
                same(reader.wait_messages(60), [message(n) for n in range(60)])
                reader.wait_fact(
                    lambda: len(dovecot.mails(user, "Done")) == 60
                    and not dovecot.mails(user), "moved messages")
                dovecot.put(user, message(77))
                reader.wait_messages(61)
                reader.wait_fact(lambda: len(dovecot.mails(user, "Done")) == 61,
                                 "the last one moved")
                reader.end()
            same(dovecot.mails(user, "Done"),
                 [message(n) for n in range(60)] + [message(77)])

        def test_expunge():
            """only processed messages are expunged, and only if configured"""
            user = "expunge@example.org"
            imap = dovecot.login(user)
            imap.append("INBOX", f"({DONE} \\Deleted)", None, message(0))
            imap.logout()
            dovecot.put(user, message(1))
            with start("expunge", expunge=True) as reader:
                same(reader.wait_messages(1), [message(1)])
                reader.wait_fact(lambda: dovecot.mails(user) == [message(0)],
                                 "one message gone")
                reader.end()

        def test_other_folder():
            """a folder with a name that needs quotes is read"""
            user = "other@example.org"
            imap = dovecot.login(user)
            imap.create('"For the daemon"')
            imap.append('"For the daemon"', None, None, message(4))
            imap.append("INBOX", None, None, message(5))
            imap.logout()
            with start("other", folder="For the daemon") as reader:
                same(reader.wait_messages(1), [message(4)])
                reader.end()
            same(reader.stored_messages(), [message(4)])

        def test_missing_folder():
            """a missing folder is reported, and read once it exists"""
            user = "missing@example.org"
            with start("missing", folder="Nowhere") as reader:
                reader.wait_note("cannot open the folder 'Nowhere'")
                imap = dovecot.login(user)
                imap.create("Nowhere")
                imap.append("Nowhere", None, None, message(6))
                imap.logout()
                same(reader.wait_messages(1), [message(6)])
                reader.wait_note("^-$")
                reader.end()

        def test_too_large():
            """a message over the limit is never removed, moved or marked; others are"""
            limit = 1024 * 1024
            head = b"Subject: big\r\n\r\n"
            fits = head + b"x" * (limit - len(head) - 2) + b"\r\n"
            large = head + b"x" * (limit - len(head) - 1) + b"\r\n"
            for name, options, left in (("keep", {}, 3), ("remove", {"expunge": True}, 1),
                                        ("move", {"move_to": "Done"}, 1)):
                user = f"large-{name}@example.org"
                put_all(dovecot, user, [fits, large, message(3)])
                with start(f"large-{name}", **options) as reader:
                    same(reader.wait_messages(2), [fits, message(3)])
                    name, _, reason = reader.wait_said("skip")[0].partition(" ")
                    assert str(limit + 1) in reason and "UID 2 " in reason, reason
                    reader.wait_fact(lambda: len(dovecot.mails(user)) == left
                                     and (left == 1 or DONE in imap_fixture.keywords(
                                         dovecot, user)[2]), "the others are done")
                    assert large in dovecot.mails(user)
                    flags = imap_fixture.keywords(dovecot, user)[1 if left == 3 else 0]
                    assert flags <= {"\\Recent"}, flags
                    # not an error of the receiver, and reported once
                    dovecot.put(user, message(4))
                    same(reader.wait_messages(3), [fits, message(3), message(4)])
                    assert not reader.said("note"), reader.output
                    assert len(reader.said("skip")) == 1, reader.output
                    imap = dovecot.login(user)
                    imap.select("INBOX")
                    imap.uid("STORE", "2", "+FLAGS", "(\\Deleted)")
                    imap.uid("EXPUNGE", "2")
                    imap.logout()
                    dovecot.put(user, message(5))
                    assert reader.wait_said("unskip") == [name], reader.output
                    reader.end()

        def test_postponed():
            """a postponed message is offered again; a rejected one stays"""
            user = "later@example.org"
            put_all(dovecot, user, [message(n) for n in range(3)])
            with start("later", postpone=4, refuse="message 1", expunge=True) as reader:
                same(reader.wait_messages(2), [message(0), message(2)])
                reader.wait_fact(lambda: dovecot.mails(user) == [message(1)],
                                 "the other two are gone")
                assert len(reader.said("postpone")) == 4, reader.output
                assert len(reader.said("refuse")) == 1, reader.output
                assert "not a mail" in reader.wait_said("skip")[0], reader.output
                reader.end()

        def test_killed():
            """killed between storing and marking, only that message is received again"""
            user = "killed@example.org"
            put_all(dovecot, user, [message(n) for n in range(8)])
            seen = []
            for _ in range(2):
                with start("killed", kill_after=3) as reader:
                    assert reader.wait_exit() == -9, reader.output
                    seen += reader.stored_messages()
            same(seen, [message(n) for n in (0, 1, 2)] * 2)
            with start("killed") as reader:
                same(reader.wait_messages(8), [message(n) for n in range(8)])
                wait_marked(reader, dovecot, user, 8)
                reader.end()

        def test_uidvalidity():
            """a new UIDVALIDITY is read from the beginning"""
            user = "anew@example.org"
            imap = dovecot.login(user)
            imap.create("Box")
            for number in range(3):
                imap.append("Box", None, None, message(number))
            with start("anew", folder="Box", idle=1) as reader:
                same(reader.wait_messages(3), [message(n) for n in range(3)])
                wait_marked(reader, dovecot, user, 3, "Box")
                imap.delete("Box")
                imap.create("Box")
                imap.append("Box", None, None, message(7))
                same(reader.wait_messages(4), [message(n) for n in (0, 1, 2, 7)])
                reader.end()
            imap.logout()

        def test_cut():
            """an outage is reported once, and nothing is lost"""
            user = "cut@example.org"
            dovecot.put(user, message(1))
            with start("cut") as reader:
                reader.wait_messages(1)
                wait_marked(reader, dovecot, user, 1)
                dovecot.stop()
                reader.wait_note("cannot connect to localhost")
                dovecot.start()
                dovecot.put(user, message(2))
                same(reader.wait_messages(2), [message(1), message(2)])
                reader.wait_note("^-$")
                reader.end()

        def refused(pattern, **options):
            """The reason is reported, no message arrives, and it stops cleanly."""
            user = options.pop("user", "safe")
            with start(user, **options) as reader:
                text = reader.wait_note(pattern)
                reader.end()
                assert not reader.said("take") and "-" not in reader.said("note")
                assert reader.said("note") == [text], reader.output

        def test_certificates():
            """a wrong name, an unknown CA and an expired certificate are refused"""
            dovecot.put("safe@example.org", message(1))
            other = Ca(tap.subdirectory("other-ca"))
            for tls in ("implicit", "starttls"):
                refused("certificate", tls=tls, ca=other.cert)
            for names, days in ((("mail.example.org",), 2), (("localhost",), -1)):
                with Dovecot(tap.subdirectory(f"bad{days}"), ca, names=names,
                             days=days) as bad:
                    bad.put_plainly("safe@example.org", message(1))
                    for tls, port in (("implicit", bad.imaps_port),
                                      ("starttls", bad.imap_port)):
                        with Reader(tap.subdirectory(f"reader{next(numbers)}"), port=port,
                                    tls=tls, ca=ca.cert) as reader:
                            reader.wait_note("certificate")
                            reader.end()
                            assert not reader.said("take"), reader.output

        def test_login():
            """a failed login is reported once and rarely retried; no password in clear"""
            refused("login failed", password="guess")
            attempts = [line for line in dovecot.child.lines if "safe" in line
                        and "auth failed, 1 attempts" in line]
            assert len(attempts) <= 2, attempts
            refused("without TLS", tls="off", host="192.0.2.1")

        def test_tls_of_port():
            """a wrong TLS mode is reported; detection finds either"""
            ports = {"implicit": dovecot.imaps_port, "starttls": dovecot.imap_port}
            dovecot.put("ports@example.org", message(1))
            for tls, other in (("implicit", "starttls"), ("starttls", "implicit")):
                with Reader(tap.subdirectory(f"reader{next(numbers)}"), port=ports[other],
                            tls=tls, ca=ca.cert, command=2000) as reader:
                    assert f'set tls to "{other}"' in reader.wait_note("cannot connect")
                    reader.end()
                with Reader(tap.subdirectory(f"reader{next(numbers)}"), port=ports[tls],
                            tls="detect", ca=ca.cert, user="ports@example.org",
                            skipped="1.1") as reader:
                    reader.wait_said("unskip")
                    assert not reader.said("note"), reader.output
                    reader.end()
            refused("certificate", tls="detect", ca=Ca(tap.subdirectory("detect-ca")).cert)
            refused("login failed", tls="detect", password="guess")

        def new_instance(user, **settings):
            folder = tap.subdirectory(f"home{next(numbers)}")
            secret = os.path.join(folder, "password")
            save(secret, PASSWORD + "\n")
            os.chmod(secret, 0o600)
            settings = {
                "imap_host": "localhost", "imap_port": dovecot.imaps_port,
                "imap_tls": "implicit", "imap_ca_file": ca.cert,
                "imap_user": f"{user}@example.org", "imap_password_file": secret,
                "parser": built("paperboy-parser"),
            } | settings
            return Instance(folder, maildir=os.path.join(folder, "out"),
                         **{"receive__" + name: value
                            for name, value in settings.items()})

        def test_daemon():
            """the daemon receives each message once, however often it is killed"""
            user = "daemon@example.org"
            put_all(dovecot, user, [message(n) for n in range(120)])
            instance = new_instance("daemon")
            counted = "SELECT count(*) FROM inbox WHERE receiver = 'imap'"

            def wait_rows(child, number):
                child.wait_fact(lambda: instance.db.exists()
                                and instance.value(counted) >= number,
                                f"{number} messages")

            for number in (1, 40, 80):
                with instance.start() as child:
                    wait_rows(child, number)
                    child.kill()
            with instance.start() as child:
                wait_rows(child, 120)
                wait_marked(child, dovecot, user, 120)
                dovecot.put(user, message(500))
                wait_rows(child, 121)
                child.signal(signal.SIGTERM)
                assert child.wait_exit() == 0, child.output
            assert instance.value(counted) == 121
            dovecot.put(user, message(501))
            last = instance.once()
            waits = instance.rows("SELECT id, state, tries, started, next_try_at, verdict"
                               " FROM inbox WHERE state <> 'done'")
            # retried later if the machine was too slow
            assert last.status == (75 if waits else 0), (waits, last.output)
            assert instance.value(counted) == 122

        def test_equal_rows():
            """200 messages give the same rows by IMAP and from a Maildir"""
            instances = []
            for user in ("rows-imap", "rows-maildir"):
                put_all(dovecot, user + "@example.org", all_kinds(200))
            box = os.path.join(dovecot.directory, "mail", "example.org", "rows-maildir")
            instances.append(new_instance("rows-imap"))
            instances.append(new_instance("rows-maildir", imap_host=None, maildir=box))
            found = []
            for instance, receiver in zip(instances, ("imap", "maildir")):
                instance.once()
                while instance.value("SELECT count(*) FROM inbox WHERE state = 'new'"):
                    instance.once()  # a run has a time limit
                assert instance.value("SELECT group_concat(DISTINCT receiver) FROM inbox"
                                   ) == receiver
                found.append(instance.rows("SELECT key, sender, recipient, state, verdict"
                                        " FROM inbox ORDER BY key"))
            assert len(found[0]) >= 190, len(found[0])  # some are duplicates
            assert found[0] == found[1], set(found[0]) ^ set(found[1])

        def test_daemon_password():
            """a wrong password is reported; a reload after the fix is enough"""
            dovecot.put("mend@example.org", message(1))
            instance = new_instance("mend")
            secret = os.path.join(instance.directory, "password")
            save(secret, "guess\n")
            with instance.start() as child:
                child.wait_line("login failed")
                save(secret, PASSWORD + "\n")
                instance.ctl("reload")
                child.wait_fact(lambda: instance.value("SELECT count(*) FROM inbox"),
                                "the message")

        def test_removing():
            """only stored messages are removed: on a full disk, after a kill, of any kind"""
            user = "remove@example.org"
            raws = [message(0), message(1), b"no header at all\r\n",
                    b"Subject: deep\r\n" + b"".join(
                        b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n'
                        % (n, n) for n in range(60)) + b"text\r\n"]
            instance = new_instance("remove", imap_expunge=True, min_free_mb=10**6)
            put_all(dovecot, user, raws)
            stored = "SELECT count(*) FROM inbox"
            with instance.start() as child:
                child.wait_line("receiver failed receiver=imap: .*nearly full")
                child.kill()
            same(dovecot.mails(user), raws)
            with start("remove", expunge=True, kill_after=2) as reader:
                reader.wait_exit()
            same(dovecot.mails(user), raws)
            assert instance.value(stored) == 0
            instance.set(receive__min_free_mb=None,
                      receive__parser="/nonexistent/paperboy-parser")
            with instance.start() as child:
                child.wait_fact(lambda: not dovecot.mails(user), "all are removed")
                child.kill()
            same([row[0] for row in instance.rows("SELECT raw FROM inbox")], raws)
            instance.set(receive__parser=built("paperboy-parser"))
            with instance.start() as child:
                child.wait_fact(lambda: not instance.value(
                    "SELECT count(*) FROM inbox WHERE state = 'new'"), "all read")
            saved = instance.rows("SELECT raw FROM inbox WHERE state = 'quarantined'")
            assert saved == [(raws[-1],)], saved

        def test_replaced():
            """a new UIDVALIDITY during expunging loses no message"""
            user = "replaced@example.org"
            instance = new_instance("replaced", imap_expunge=True, imap_folder="Box")
            imap = dovecot.login(user)
            for number in range(3):
                imap.create("Box")
                imap.append("Box", None, None, message(number))
                with instance.start() as child:
                    child.wait_line("paperboyd .* started")
                    child.wait_fact(lambda: instance.value("SELECT count(*) FROM inbox")
                                    == number + 1, "it is stored")
                    if number == 1:
                        child.kill()
                imap.delete("Box")
            imap.logout()

        def test_skipped():
            """a message that is too large is in status until it is gone, and answered once"""
            user = "status@example.org"
            instance = new_instance("status", imap_expunge=True)
            instance.set(commands__address="paperboy@news.example")
            head = (b"From: %s@people.example\r\nMessage-ID: <%s@people.example>\r\n"
                    b"%s\r\n")
            large = [head % (b"eva", b"a", b"") + b"x" * 2**20 + b"\r\n",
                     head % (b"list", b"b", b"List-Id: <a.example>\r\n")
                     + b"x" * 2**20 + b"\r\n",
                     head % (b"eva", b"c", b"") + b"x" * 2**20 + b"\r\n"]
            put_all(dovecot, user, [large[0], message(1), large[1], large[2]])
            sent = "SELECT count(*) FROM outbox WHERE state = 'SENT'"
            for logged in (3, 0):
                with instance.start() as child:
                    child.wait_line("paperboyd .* started")
                    child.wait_fact(lambda: instance.value(sent) >= 2, "the answers")
                    child.wait_fact(lambda: instance.value(
                        "SELECT count(*) FROM inbox WHERE state = 'new'") == 0, "done")
                    child.wait_fact(lambda: len(dovecot.mails(user)) == 3,
                                    "the small one is removed")
                    reported = instance.ctl("status", wanted=1)
                    assert reported.count("bytes, the limit is 1048576") == 3, reported
                    assert "3 skipped; receivers: imap:ok" in reported, reported
                    assert "mail cannot be received" not in reported, reported
                    child.stop()
                assert child.output.count("inbox skipped receiver=imap") == logged
            same(dovecot.mails(user), large)
            assert instance.value(sent) == 2
            assert [row[0] for row in instance.rows(
                "SELECT verdict FROM inbox WHERE size > 1048576 ORDER BY id")] == [
                    "replied", "no reply: list", "replied"]
            with instance.start() as child:
                child.wait_line("started")
                imap = dovecot.login(user)
                imap.select("INBOX")
                imap.store("1:*", "+FLAGS", "(\\Deleted)")
                imap.expunge()
                imap.logout()
                child.wait_fact(lambda: not instance.value(
                    "SELECT count(*) FROM skipped_message"), "they are gone")
                assert "skipped;" not in instance.ctl("status", wanted=(0, 1))
            put_all(dovecot, user, large[:1])
            with instance.start() as child:
                child.wait_fact(lambda: instance.value(
                    "SELECT count(*) FROM skipped_message"), "it is back")
            instance.set(receive__imap_host=None)
            instance.once()
            assert instance.value("SELECT count(*) FROM skipped_message") == 0
            assert instance.value(sent) == 2

        def test_many():
            """10,000 messages waiting at start are received in bounded memory"""
            user = "many@example.org"
            box = os.path.join(dovecot.directory, "mail", "example.org", "many")
            dovecot.put(user, message(0))
            stat = os.stat(box)
            for number in range(1, 10000):
                path = os.path.join(box, "new", f"{1700000000 + number}.M{number}.host")
                save(path, message(number).replace(b"\r\n", b"\n"))
                os.chown(path, stat.st_uid, stat.st_gid)
            with start("many", command=120000) as reader:
                same(reader.wait_messages(10000, 300), [message(n) for n in range(10000)])
                memory = reader.end()
            tap.diag(f"10,000 messages: {memory} KiB at most")
            assert memory < 64 * 1024, memory

        for function in (test_all_kinds, test_idle, test_stop, test_move, test_expunge,
                         test_other_folder, test_missing_folder, test_too_large,
                         test_postponed, test_killed, test_uidvalidity, test_cut,
                         test_certificates, test_login,
                         test_tls_of_port, test_daemon,
                         test_equal_rows, test_daemon_password, test_removing,
                         test_replaced, test_skipped, test_many):
            tap.run(function)


main()
