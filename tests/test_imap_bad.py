#!/usr/bin/env python3
"""test_imap_bad.py - a hostile IMAP server: hangs, cuts, floods and lies."""

import collections
import concurrent.futures
import os

import lib  # the path
from hostile_imap import BadImap
from imap_fixture import Reader
from tap import Tap

DONE = "$PaperboyDone"
MESSAGES = [b"Subject: message %d\r\n\r\ntext %d\r\n" % (n, n) for n in range(4)]
STATES = ("GREETING", "CAPABILITY", "AUTHENTICATE", "SELECT", "SEARCH", "FETCH",
          "MESSAGE", "STORE", "IDLE")
MEMORY_KIB = 64 * 1024


# ---- misbehaviour in place of a response ----


def answer(data, then="hang", start=b""):
    """a response of bytes; then the connection hangs, is cut, repeats them, or goes on"""
    def respond(_server, connection, tag):
        connection.send(start + data.replace(b"TAG", tag.encode()))
        while then == "repeat":
            connection.send(data)
        if then != "go on":
            getattr(connection, then)()
    return respond


def drip(server, connection, _tag):
    """Slow lines: each in time, but not the whole response."""
    while not server.is_over.wait(0.1):
        connection.say("* OK still here")


hang = answer(b"")
refuse = answer(b"TAG NO [UNAVAILABLE] not now\r\n", "go on")
FETCH = b"* 1 FETCH (UID 1 BODY[]<0> "
WAYS = {
    "hang": hang,
    "cut": answer(b"", "cut"),
    "cut in a line": answer(b"* 3 FET", "cut"),
    "goodbye": answer(b"* BYE [UNAVAILABLE] not now\r\n", "cut"),
    "refuse": refuse,
    "what": answer(b"TAG BAD what?\r\n", "go on"),
    "garbage": answer(bytes(range(1, 256)) * 40 + b"\r\n"),
    "NULs": answer(b"* OK \0\0\0\r\n"),
    "wrong tag": answer(b"zzz999 OK done\r\n"),
    "endless line": answer(b"x" * 65536, "repeat", b"* OK "),
    "endless lines": answer(b"* 1 FETCH (FLAGS (a b c d e f g h))\r\n" * 500, "repeat"),
    "endless others": answer(b'* LIST () "/" nobody-asked\r\n' * 500, "repeat"),
    "huge literal": answer(FETCH + b"{4294967295}\r\n"),
    "long literal": answer(b"x" * 65536, "repeat", FETCH + b"{1000000000}\r\n"),
    "many literals": answer(FETCH + b"{1000000}\r\n" + b"x" * 1000000 + b")\r\n", "repeat"),
    "parentheses": answer(b"* 1 FETCH (BODYSTRUCTURE " + b"(" * 200000 + b"\r\n"),
    "parentheses in a literal": answer(
        b"* 1 FETCH (UID 1 BODYSTRUCTURE {150000}\r\n" + b"(" * 150000),
    "literal in a status": answer(
        b"* OK {150000}\r\n* 1 FETCH (BODYSTRUCTURE " + b"(" * 150000),
    "drip": drip,
}


# ---- tests --------------------------------------------------------------------


def count(raws):
    return collections.Counter(raws)


def main():
    with Tap() as tap:
        numbers = iter(range(10000))

        def start(server, **options):
            options = {"command": 60000, "idle": 1, "poll": 1, "tls": "off"} | options
            return Reader(tap.subdirectory(f"reader{next(numbers)}"), port=server.port,
                          host="127.0.0.1", **options)

        def live_through(state, way):
            """After the misbehaviour all messages arrive exactly once."""
            # A message would soon be skipped; rejected IDLE is not used again.
            times = 1 if state in ("MESSAGE", "IDLE") else 2
            with BadImap(MESSAGES, {state: way}, times=times) as server:
                with start(server, command=1000) as reader:
                    reader.wait_fact(lambda: server.was_bad >= times, "bad enough")
                    reader.wait_messages(4)
                    reader.wait_fact(
                        lambda: all(DONE in flags for flags in server.flags.values()),
                        "all marked")
                    server.add(b"one more")
                    got = reader.wait_messages(5)
                    memory = reader.end()
                assert count(got) == count([*MESSAGES, b"one more"]), got
                assert memory < MEMORY_KIB, memory
                return memory

        def test_state(state):
            with concurrent.futures.ThreadPoolExecutor(len(WAYS)) as pool:
                runs = {name: pool.submit(live_through, state, way)
                        for name, way in WAYS.items()}
            for name, one in runs.items():
                if one.exception():
                    raise AssertionError(f"{state}, {name}") from one.exception()
            most = max(one.result() for one in runs.values())
            tap.diag(f"{state}: {most} KiB at most")

        def test_forgets():
            """a cursor is used if the server accepts keywords but does not store them"""
            mark = os.path.join(tap.subdirectory("forgets"), "mark")
            with BadImap(MESSAGES, forgets=True) as server:
                with start(server, mark_file=mark) as reader:
                    reader.wait_fact(lambda: os.path.exists(mark), "a mark")
                    server.add(b"later")
                    assert count(reader.wait_messages(5)) == count([*MESSAGES, b"later"])
                    reader.end()

        def test_no_keywords():
            """a cursor is used without keywords, and survives a restart"""
            mark = os.path.join(tap.subdirectory("mark"), "mark")
            with BadImap(MESSAGES, permanent="\\Deleted \\Seen") as server:
                with start(server, mark_file=mark) as reader:
                    assert count(reader.wait_messages(4)) == count(MESSAGES)
                    reader.wait_fact(lambda: os.path.exists(mark)
                                     and open(mark).read() == "7 4\n", "the mark")
                    reader.end()
                assert not any(name == "STORE" for name, _ in server.commands)
                with start(server, mark_file=mark) as reader:
                    server.add(b"later")
                    assert reader.wait_messages(1) == [b"later"]
                    reader.end()
                server.validity = 8
                with start(server, mark_file=mark) as reader:
                    assert count(reader.wait_messages(5)) == count([*MESSAGES, b"later"])
                    reader.wait_fact(lambda: open(mark).read() == "8 5\n", "the mark")
                    reader.end()

        def test_postponed_mark():
            """the cursor stays before a postponed message"""
            mark = os.path.join(tap.subdirectory("postponed"), "mark")
            with BadImap(MESSAGES, permanent="") as server:
                with start(server, mark_file=mark, postpone=3, kill_after=2) as reader:
                    assert reader.wait_exit() == -9
                with start(server, mark_file=mark) as reader:
                    assert count(reader.wait_messages(4)) == count(MESSAGES)
                    reader.end()

        def test_copy():
            """without MOVE a message is copied and the original flagged as deleted"""
            with BadImap(MESSAGES) as server:
                with start(server, move_to="Done") as reader:
                    reader.wait_messages(4)
                    reader.wait_fact(lambda: all("\\Deleted" in flags for flags in
                                                 server.flags.values()), "marked")
                    server.add(b"later")
                    reader.wait_messages(5)
                    reader.end()
                names = [name for name, _ in server.commands]
                assert "COPY" in names and "EXPUNGE" not in names, names
                assert len(server.messages) == 5

        def test_poll():
            """a server without IDLE is polled"""
            for capabilities in ("IMAP4rev1 AUTH=PLAIN SASL-IR",):
                with BadImap(MESSAGES[:1], capabilities=capabilities) as server:
                    with start(server) as reader:
                        reader.wait_messages(1)
                        server.add(b"later")
                        reader.wait_messages(2)
                        reader.end()
                    assert "IDLE" not in [name for name, _ in server.commands]

        def test_idle_refused():
            """rejected IDLE is not used again"""
            with BadImap(MESSAGES[:1], {"IDLE": refuse}, times=1000) as server:
                with start(server) as reader:
                    reader.wait_messages(1)
                    server.add(b"later")
                    reader.wait_messages(2)
                    reader.end()
                assert server.was_bad == 1 and server.connections == 1

        def test_early_news():
            """EXISTS before the reply to IDLE is not lost"""
            def news_first(server, connection, tag):
                server.messages[9] = b"early"
                server.flags[9] = set()
                connection.reported = len(server.messages)
                connection.say(f"* {connection.reported} EXISTS", "+ idling")
                connection.stream.readline()
                connection.done(tag)

            with BadImap(MESSAGES, {"IDLE": news_first}) as server:
                with start(server, idle=1000) as reader:
                    reader.wait_messages(5)
                    reader.end()
                assert server.connections == 1

        def test_early_removal():
            """EXPUNGE before the reply to IDLE is not lost"""
            def removal_first(server, connection, tag):
                server.messages.popitem()
                connection.reported = len(server.messages)
                connection.say(f"* {connection.reported + 1} EXPUNGE", "+ idling")
                connection.stream.readline()
                connection.done(tag)

            large = b"x" * (2**20 + 1)
            with BadImap([*MESSAGES, large], {"IDLE": removal_first}) as server:
                with start(server, idle=1000) as reader:
                    (skipped,) = reader.wait_said("skip")
                    assert reader.wait_said("unskip") == [skipped.split()[0]]
                    reader.end()

        def test_own_removal():
            """messages that it removes itself are no reason to look again"""
            with BadImap(MESSAGES) as server:
                def names():
                    return [name for name, _ in server.commands]

                with start(server, idle=1000, expunge=True,
                           refuse=MESSAGES[0].decode("latin-1")) as reader:
                    reader.wait_fact(lambda: "IDLE" in names(), "IDLE")
                    reader.end()
                assert list(server.messages.values()) == MESSAGES[:1]
                assert names().count("SEARCH") == 1, names()

        def test_false_news():
            """polling is slowed down if announced messages do not exist"""
            def lie(server, connection, tag):
                connection.reported += 1
                connection.say("+ idling", f"* {connection.reported} EXISTS")
                connection.stream.readline()
                connection.done(tag)
                lie.count += 1

            lie.count = 0
            with BadImap(MESSAGES, {"IDLE": lie}, times=10**9) as server:
                with start(server) as reader:
                    reader.wait_messages(4)
                    reader.wait_fact(lambda: lie.count >= 12, "some lies")
                    server.bad.clear()
                    server.add(b"true")
                    reader.wait_messages(5)
                    reader.end()

        def test_poison():
            """a message on which the connection always breaks is skipped and reported"""
            def break_on_second(server, connection, tag):
                _, rest = server.commands[-1]
                server.was_bad -= 1
                if " 2 " in rest:
                    connection.cut()
                uid = rest.split()[2]
                connection.do_message(tag, [uid], rest)

            for permanent in ("\\*", "\\Deleted"):
                mark = os.path.join(tap.subdirectory("poison" + permanent[1:2]), "mark")
                with BadImap(MESSAGES, {"MESSAGE": break_on_second},
                             permanent=permanent) as server:
                    with start(server, mark_file=mark) as reader:
                        got = reader.wait_messages(3)
                        assert count(got) == count(MESSAGES) - count(MESSAGES[1:2]), got
                        (reported,) = reader.wait_said("skip")
                        assert reported == ("7.2 0 cannot fetch message with UID 2 in 'INBOX': "
                                        "the connection broke 3 times"), reported
                        server.bad.clear()
                        reader.end()
                    with start(server, mark_file=mark, skipped="7.2") as reader:
                        reader.wait_fact(lambda: MESSAGES[1] in reader.stored_messages(),
                                         "the second message")
                        assert reader.wait_said("unskip") == ["7.2"], reader.output
                        reader.end()

        def test_lying_size():
            """a message larger than announced stays, and is reported"""
            def small(server, connection, tag):
                connection.say(*[f"* {uid} FETCH (UID {uid} RFC822.SIZE 10)"
                                 for uid in server.messages])
                connection.done(tag)

            large = b"x" * (1024 * 1024 + 1)
            with BadImap([large, MESSAGES[0]], {"FETCH": small}, times=10**9) as server:
                with start(server) as reader:
                    assert reader.wait_messages(1) == MESSAGES[:1]
                    assert "has 1048577 bytes" in reader.wait_said("skip")[0]
                    reader.wait_fact(lambda: DONE in server.flags[2], "one marked")
                    assert server.flags[1] == set(), server.flags
                    reader.end()

        def test_large_and_mark():
            """the cursor passes a message that is too large, which is still tracked"""
            large = b"Subject: x\r\n\r\n" + b"x" * (1024 * 1024 - 13)
            mark = os.path.join(tap.subdirectory("large"), "mark")
            with BadImap([large, *MESSAGES], permanent="\\Deleted") as server:
                with start(server, mark_file=mark) as reader:
                    assert count(reader.wait_messages(4)) == count(MESSAGES)
                    assert reader.wait_said("skip")[0].startswith("7.1 14 "), reader.output
                    reader.wait_fact(lambda: os.path.exists(mark)
                                     and open(mark).read() == "7 5\n", "the mark")
                    reader.end()
                with start(server, mark_file=mark, skipped="7.1") as reader:
                    server.add(b"later")
                    assert reader.wait_messages(1) == [b"later"]
                    assert not reader.said("skip") and not reader.said("unskip")
                    del server.messages[1]
                    assert reader.wait_said("unskip") == ["7.1"]
                    reader.end()
                with start(server, mark_file=mark, skipped="6.9") as reader:
                    assert reader.wait_said("unskip") == ["6.9"]
                    reader.end()

        def test_replaced_folder():
            """a new UIDVALIDITY between fetching and marking loses no message"""
            def validity_after(server, connection, tag):
                connection.say("* OK [UIDVALIDITY 8] changed")
                connection.do_message(tag, ["1"], "")
                server.validity = 8
                server.replace([b"other"])

            def cut_at_store(server, connection, _tag):
                server.replace([b"other"])
                connection.cut()

            for state, way, validity in (("MESSAGE", validity_after, 7),
                                         ("STORE", cut_at_store, None)):
                with BadImap(MESSAGES[:1], {state: way}, validity=validity) as server:
                    with start(server, expunge=True) as reader:
                        assert reader.wait_messages(2) == [MESSAGES[0], b"other"]
                        reader.wait_fact(lambda: not server.messages, "it is removed")
                        reader.end()

        def test_gone():
            """a message that cannot be fetched is reported until it can, or is gone"""
            def nothing(_server, connection, tag):
                connection.say("* 1 FETCH (UID 1 BODY[]<0> NIL)")
                connection.done(tag)

            for way in (nothing, lambda _server, connection, tag: connection.done(tag)):
                for state in ("MESSAGE", "FETCH"):
                    with BadImap(MESSAGES[:1], {state: way}) as server:
                        with start(server) as reader:
                            assert reader.wait_messages(1) == MESSAGES[:1]
                            if state == "MESSAGE":
                                assert "does not send" in reader.wait_said("skip")[0]
                                assert reader.wait_said("unskip") == ["7.1"]
                            reader.end()
                        assert server.connections == 1

        def test_waiting():
            """more messages than one cycle handles need several"""
            with BadImap([b"%d" % n for n in range(20050)]) as server:
                with start(server) as reader:
                    got = reader.wait_messages(20050, 300)
                    memory = reader.end()
                assert count(got) == count([b"%d" % n for n in range(20050)])
                assert memory < MEMORY_KIB, memory

        def test_stop_anywhere():
            """it stops at once while waiting for a response"""
            for state in STATES:
                with BadImap(MESSAGES, {state: hang}, times=1000) as server:
                    with start(server, command=100000) as reader:
                        reader.wait_fact(lambda: server.was_bad, "a hanging server")
                        reader.end()

        def test_no_starttls():
            """no password is sent without STARTTLS"""
            for capabilities, bad in (("IMAP4rev1 AUTH=PLAIN", {}),
                                      ("IMAP4rev1 STARTTLS AUTH=PLAIN",
                                       {"STARTTLS": refuse})):
                with BadImap(MESSAGES, bad, times=1000,
                             capabilities=capabilities) as server:
                    with start(server, tls="starttls") as reader:
                        reader.wait_note("STARTTLS is required")
                        reader.end()
                    names = {name for name, _ in server.commands}
                    assert names <= {"CAPABILITY", "STARTTLS", "LOGOUT"}, names

        def test_logins():
            """a host without SASL gets LOGIN; PREAUTH is rejected"""
            with BadImap(MESSAGES, capabilities="IMAP4rev1") as server:
                with start(server) as reader:
                    reader.wait_messages(4)
                    reader.end()
                names = [name for name, _ in server.commands]
                assert "LOGIN" in names and "AUTHENTICATE" not in names, names

            def known(_server, connection, _tag):
                connection.say("* PREAUTH welcome back")

            def wrong(_server, connection, tag):
                connection.say(f"{tag} NO [AUTHENTICATIONFAILED] no")

            with BadImap(MESSAGES, {"GREETING": known}) as server:
                with start(server) as reader:
                    reader.wait_messages(4)
                    reader.end()
                assert reader.said("note")[0].endswith("malformed or too long reply "
                                                         "while connecting (IMAP)"), reader.output
            with BadImap(MESSAGES, {"AUTHENTICATE": wrong}) as server:
                with start(server) as reader:
                    reader.wait_messages(4)
                    reader.end()
                assert reader.said("note")[0].endswith("login failed"), reader.output

        def test_hello_bounds():
            """lines before the login are limited in size and number"""
            def long_greeting(size):
                return {"GREETING": lambda _server, connection, _tag:
                        connection.say("* OK " + "x" * (size - 5))}

            def many_lines(count):
                def say(_server, connection, tag):
                    connection.say(*["* OK go on"] * (count - 2),
                                   "* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR",
                                   f"{tag} OK done")
                return {"CAPABILITY": say}

            for bad, is_refused in ((long_greeting(4096), False),
                                    (long_greeting(4097), True),
                                    (many_lines(64), False), (many_lines(65), True)):
                with BadImap(MESSAGES, bad) as server:
                    with start(server) as reader:
                        reader.wait_messages(4)
                        reader.end()
                    assert bool(reader.said("note")) == is_refused, reader.output

        def test_options():
            """invalid options are rejected"""
            for options in ({"folder": ""}, {"folder": "a\nb"}, {"folder": "a*"},
                            {"folder": "x" * 256}, {"folder": "a\x7f"},
                            {"folder": "A", "move_to": "A"}, {"move_to": ""}):
                with BadImap([]) as server, start(server, **options) as reader:
                    assert reader.wait_exit() == 1, (options, reader.output)
                    reader.wait_line("end cannot use the IMAP folder")
            with BadImap(MESSAGES) as server, start(server, folder="x" * 255) as reader:
                reader.wait_messages(4)
                reader.end()

        for state in STATES:
            name = "it lives through a server that misbehaves at " + state
            test = lambda state=state: test_state(state)
            test.__doc__ = name
            tap.run(test)
        for function in (test_forgets, test_no_keywords, test_postponed_mark, test_copy,
                         test_poll, test_idle_refused, test_early_news, test_early_removal,
                         test_own_removal, test_false_news, test_poison, test_lying_size,
                         test_large_and_mark, test_replaced_folder, test_gone,
                         test_waiting, test_stop_anywhere, test_no_starttls,
                         test_logins, test_hello_bounds, test_options):
            tap.run(function)


main()
