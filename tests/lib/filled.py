"""filled.py - an instance with rows in every table, as people and mail make them."""

import os

from daemon import Instance, at_hour, days_after
from smtp_fixture import Server
from tap import top_builddir

DAY = "2026-11-20"
NEXT = days_after(DAY, 1)
ADA, BOB = "ada@example.org", "bob@example.org"

# Rows of the tables that the fixture leaves empty.
HASH = "hex(zeroblob(32))"
ROWS = f"""
INSERT INTO paper_duplicate VALUES (1, 2);
INSERT INTO paper_moved VALUES (99, 1);
INSERT INTO paper_event VALUES (1, 1, 'version', 2, 5);
INSERT INTO watch VALUES (1, 1, 1, 9000000000);
INSERT INTO retraction_mail VALUES (1, 1);
INSERT INTO watch_check VALUES (1, 1, 1);
INSERT INTO known VALUES (1, 'doi:10.5555/1', 1);
INSERT INTO paper_link VALUES (1, 'doi:10.1101/1', 1);
INSERT INTO acronym VALUES ('lora', 'low rank adaptation', 'low-rank adaptation', 2);
INSERT INTO suppression VALUES ({HASH}, 'dead', 1);
INSERT INTO erased VALUES (99);
INSERT INTO confirmation (hash, purpose, address, address_key, recipient, subscriber_id,
    action, made_at, expires_at) SELECT {HASH}, 'confirm', '{ADA}', '{ADA}', '{ADA}', 1,
    'add x', queued_at, queued_at + 172800 FROM outbox LIMIT 1;
INSERT INTO bounce (subscriber_id, message, at, class, is_scored, rule) SELECT 1, 'digest-1',
    max(queued_at), 'dead', 1, 'no-such-user' FROM outbox;
INSERT INTO taste VALUES (1, 1, x'0101c73e6d61646500');
INSERT INTO bounce_probe SELECT 2, 1, queued_at FROM outbox LIMIT 1;
INSERT INTO domain_pause SELECT 'example.net', queued_at, 9000000000, 'rule', '550 no'
    FROM outbox LIMIT 1;
INSERT INTO pending_erasure VALUES ('{BOB}', 2, '{BOB}', 1);
INSERT INTO rate_log (kind, address_hash, domain_hash, at)
    SELECT 'reply', {HASH}, {HASH}, queued_at FROM outbox LIMIT 1;
INSERT INTO inbox (key, receiver, sender, recipient, received_at, size, state, ended_at, raw)
    SELECT {HASH}, 'lmtp', '{ADA}', 'paperboy@news.example', queued_at, 2, 'quarantined',
    queued_at, x'410a' FROM outbox LIMIT 1;
INSERT INTO skipped_message VALUES ('imap', 'a', 1, 'too large');
INSERT INTO digest_rejected VALUES (1, 1, 1, 1);
INSERT INTO feedback VALUES (1, 1, 1, 1, 'mail');
INSERT INTO proposal (subscriber_id, number, subscription_id, filter, term, command, gained,
    lost, days, title, made_at, expires_at, state) VALUES (1, 1, 1, '1 paper', 'x', 'block x',
    1, 0, 30, 't', 1, 9000000000, 'open');
INSERT INTO proposal_change VALUES (1, 1, 0, 1, NULL, 'paper', 'paper', '{DAY}', 1, 0, NULL,
    NULL, NULL, NULL, NULL);
INSERT INTO share (name, subscription_id, version, created_at) VALUES ('news', 1, 2, 1);
INSERT INTO share_version VALUES (1, 1, 'made', 1), (1, 2, 'paper', 1);
INSERT INTO follow SELECT id, subscriber_id, 1, 1, 0, 2 FROM subscription
    WHERE subscriber_id = 2;
INSERT INTO share_change VALUES (1, 1, 2, 'paper', 'made', 1, 0);
INSERT INTO instance (name, program, started_at, expires_at) VALUES ('host', '1', 1, 2);
INSERT OR IGNORE INTO job VALUES ('collector', NULL);
UPDATE subscriber SET feeds_since = 1, checkup_at = 1, feedback = 'on';
UPDATE outbox SET state = 'HELD', held_from = 'DEFERRED', held_why = 'operator',
    next_try_at = NULL WHERE id = (SELECT min(id) FROM outbox WHERE state = 'DEFERRED');
"""
MESSAGE = (f"From: {ADA}\r\nTo: paperboy@news.example\r\nSubject: x\r\n"
           "Message-ID: <a@example.org>\r\nDate: Fri, 20 Nov 2026 09:00:00 +0000\r\n\r\n"
           "list\r\nsettings\r\ntaste\r\nwhy 1\r\nexport\r\n")


def make_filled(directory):
    """@return an Instance that has run once, on the evening of DAY"""
    relay = Server()
    instance = Instance(directory, port=relay.port)
    instance.set(receive__parser=os.path.join(top_builddir(), "paperboy-parser"))
    instance.write_day(DAY, range(4))
    for address in (ADA, BOB, "eve@example.org"):
        instance.add_person(address, now=at_hour(DAY, 6))
    for query in ("paper upvotes:>=99", "made"):
        instance.ctl("filter", "add", ADA, query, now=at_hour(DAY, 6))
    instance.ctl("filter", "add", ADA, "zebra", "--block", now=at_hour(DAY, 6))
    relay.act = lambda verb, text: (
        b"450 4.7.1 later\r\n" if verb == "RCPT" and ADA not in text else None)
    instance.once(at_hour(DAY))
    relay.close()
    instance.write_day(NEXT, range(10, 14))
    instance.set(smtp__port=1)
    instance.change(ROWS)
    instance.change("INSERT INTO inbox (key, receiver, sender, recipient, received_at,"
                    " size, state, next_try_at, raw) SELECT hex(zeroblob(31)) || '01',"
                    " 'lmtp', ?, 'paperboy@news.example', max(queued_at), 9, 'new',"
                    " max(queued_at), CAST(? AS BLOB) FROM outbox", ADA, MESSAGE)
    return instance
