-- 002: one packed value per digest instead of a row per paper, and one per digest that was
-- delivered; messages have priorities; caches recognise changed papers and new filters.

-- Rows that were merged with others: packed values still name them.
CREATE TABLE paper_moved (
	old_seq INTEGER PRIMARY KEY,
	new_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT;
CREATE INDEX paper_moved_new ON paper_moved (new_seq);

CREATE TRIGGER paper_deleted_unmerged BEFORE DELETE ON paper
WHEN NOT EXISTS (SELECT 1 FROM paper_moved WHERE old_seq = OLD.seq)
BEGIN
	SELECT RAISE(ABORT, 'only a merged paper is deleted');
END;

CREATE TABLE digest_packed (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: in the Message-ID
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	slot          TEXT NOT NULL CHECK (slot <> ''),
	date          TEXT NOT NULL,
	message_token TEXT NOT NULL CHECK (length(message_token) = 17), -- in the Message-ID
	created_at    INTEGER NOT NULL,
	-- No IN with three or more strings: SQLite would build a temporary table for each
	-- row written.
	state         TEXT NOT NULL CHECK (state = 'live' OR state = 'sent' OR state = 'failed'
		OR state = 'cancelled'),
	papers        INTEGER NOT NULL CHECK (papers >= 0), -- 0: a notice that there are none
	newest_day    TEXT NOT NULL, -- of the papers; without any, its own date
	-- Style, filters, papers and reasons (src/model/digest_contents.h).
	contents      BLOB NOT NULL CHECK (contents <> x''),
	UNIQUE (subscriber_id, slot)
) STRICT;

INSERT INTO digest_packed (id, subscriber_id, slot, date, message_token, created_at, state,
	papers, newest_day, contents)
SELECT id, subscriber_id, slot, date, message_token, created_at, state,
	(SELECT count(*) FROM digest_item WHERE digest_id = digest.id),
	coalesce((SELECT max(day) FROM digest_item WHERE digest_id = digest.id), date),
	migrate_digest(id)
FROM digest ORDER BY id;

DELETE FROM sqlite_sequence WHERE name = 'digest_packed';
INSERT INTO sqlite_sequence (name, seq) SELECT 'digest_packed', seq FROM sqlite_sequence
WHERE name = 'digest';

DROP TABLE digest_reference;
DROP TABLE digest_item;
DROP TABLE digest;
ALTER TABLE digest_packed RENAME TO digest;

CREATE INDEX digest_message ON digest (message_token);
CREATE INDEX digest_created ON digest (created_at) WHERE state <> 'live';
CREATE INDEX digest_live ON digest (subscriber_id) WHERE state = 'live';

CREATE TRIGGER digest_needs_active BEFORE INSERT ON digest
WHEN (SELECT state FROM subscriber WHERE id = NEW.subscriber_id) IS NOT 'active'
BEGIN
	SELECT RAISE(ABORT, 'a digest is only for a subscriber who is active');
END;

CREATE TRIGGER digest_is_frozen BEFORE UPDATE OF slot, message_token, papers, newest_day, contents
	ON digest
BEGIN
	SELECT RAISE(ABORT, 'a digest is frozen');
END;

CREATE TRIGGER digest_end_is_final BEFORE UPDATE OF state ON digest
WHEN OLD.state <> 'live' AND NEW.state <> OLD.state
	-- A report returned it; it is sent again.
	AND NOT (OLD.state = 'sent' AND NEW.state = 'live')
BEGIN
	SELECT RAISE(ABORT, 'a digest that has ended stays as it is');
END;

-- By subscriber, since all of a subscriber are read together.
CREATE TABLE delivered_packed (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	-- Papers and their versions: the head of the contents of the digest.  Subscribers
	-- with updates also get later versions.
	papers        BLOB NOT NULL CHECK (papers <> x''),
	PRIMARY KEY (subscriber_id, digest_id)
) STRICT, WITHOUT ROWID;
SELECT migrate_delivered();
DROP TABLE delivered;
ALTER TABLE delivered_packed RENAME TO delivered;
CREATE INDEX delivered_at ON delivered (at);

-- A number that each change of papers advances, for caches and for digests in progress.
CREATE TRIGGER paper_change_update AFTER UPDATE ON paper
BEGIN
	INSERT INTO cursor (name, value) VALUES ('paper changes', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

CREATE TRIGGER paper_change_delete AFTER DELETE ON paper
BEGIN
	INSERT INTO cursor (name, value) VALUES ('paper changes', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
END;

CREATE TABLE filter_numbered (
	id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a cache of matches
	-- The revision of the papers through which it has seen them; NULL: that of the
	-- crowd, which is the cursor 'matched'.
	matched_revision INTEGER,
	canonical       TEXT NOT NULL UNIQUE CHECK (canonical <> ''),
	hash            TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	created_at      INTEGER NOT NULL
) STRICT;
INSERT INTO filter_numbered (id, matched_revision, canonical, hash, created_at)
SELECT id, matched_revision, canonical, hash, created_at FROM filter ORDER BY id;
DROP TABLE filter;
ALTER TABLE filter_numbered RENAME TO filter;
CREATE INDEX filter_lagging ON filter (matched_revision, id) WHERE matched_revision IS NOT NULL;

-- A filter without terms is a candidate for every paper.
CREATE TRIGGER filter_is_indexed AFTER INSERT ON filter
BEGIN
	INSERT INTO filter_term (kind, term, filter_id) VALUES (0, '', NEW.id);
END;

CREATE TRIGGER filter_deletes_matches AFTER DELETE ON filter
BEGIN
	DELETE FROM match WHERE filter_id = OLD.id;
END;

CREATE TRIGGER filter_count_insert AFTER INSERT ON filter
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'filter';
END;

CREATE TRIGGER filter_count_delete AFTER DELETE ON filter
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'filter';
END;

-- Somebody waits for these digests: they are built before the others.
CREATE INDEX subscriber_urgent ON subscriber (next_due_at, id)
	WHERE state = 'active' AND (is_first_due = 1 OR frequency = 'now');

-- Higher ones are claimed first (enum outbox_priority of src/store/mail/outbox.h).
ALTER TABLE outbox ADD COLUMN priority INTEGER NOT NULL DEFAULT 0
	CHECK (priority BETWEEN 0 AND 3);
UPDATE outbox SET priority = 3 WHERE kind <> 'digest';
DROP INDEX outbox_mail_due;
CREATE INDEX outbox_priority ON outbox (priority, next_try_at, id)
	WHERE priority > 0 AND next_try_at IS NOT NULL;

-- In a backup: the file of OAuth logins.
ALTER TABLE backup ADD COLUMN oauth TEXT;

CREATE INDEX acronym_long ON acronym (long);
