-- mailing.sql: the tables that a mailing is written to, as of revision 5373249d, with
-- their constraints, their indexes and the triggers of an INSERT.  Frozen: rows.c writes
-- the rows of that revision, whatever paperboy writes today.

-- Others refer to this column only.
CREATE TABLE paper (
	seq INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

CREATE TABLE subscriber (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	address      TEXT NOT NULL
		CHECK (length(CAST(address AS BLOB)) BETWEEN 3 AND 254)
		CHECK (address GLOB '?*@?*.?*')
		CHECK (instr(address, char(0)) = 0)
		CHECK (address NOT GLOB '*[' || char(1) || '-' || char(32) || ']*')
		CHECK (address NOT GLOB '*[<>' || char(127) || ']*'),
	address_key  TEXT NOT NULL UNIQUE,
	name         TEXT CHECK (name NOT GLOB '*[' || char(1) || '-' || char(31) || ']*'),
	state        TEXT NOT NULL
		CHECK (state IN ('pending', 'active', 'paused', 'suspended', 'gone')),
	frequency      TEXT NOT NULL CHECK (frequency IN ('now', 'daily', 'weekdays', 'weekly')),
	weekdays     INTEGER NOT NULL CHECK (weekdays BETWEEN 1 AND 127),
	minute       INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),
	zone         TEXT NOT NULL CHECK (zone <> ''),
	max_full     INTEGER NOT NULL CHECK (max_full BETWEEN 1 AND 200),
	sorting      TEXT NOT NULL DEFAULT 'score' CHECK (sorting IN ('score', 'votes', 'date')),
	abstract     TEXT NOT NULL DEFAULT 'brief'
		CHECK (abstract IN ('brief', 'short', 'full', 'none')),
	format       TEXT NOT NULL DEFAULT 'both' CHECK (format IN ('both', 'text', 'html')),
	empty_digest TEXT NOT NULL DEFAULT 'off' CHECK (empty_digest IN ('off', 'note')),
	updates      TEXT NOT NULL DEFAULT 'off' CHECK (updates IN ('off', 'on')),
	crosslist    TEXT NOT NULL DEFAULT 'on' CHECK (crosslist IN ('on', 'off')),
	attach       TEXT NOT NULL DEFAULT 'none' CHECK (attach IN ('none', 'bibtex')),
	grouping     TEXT NOT NULL DEFAULT 'off' CHECK (grouping IN ('off', 'on')),
	language     TEXT CHECK (language GLOB '[a-z][a-z]'),
	catch_up     INTEGER CHECK (catch_up BETWEEN 1 AND 200),
	created_at   INTEGER NOT NULL,
	moved_at     INTEGER,
	feeds_since  INTEGER,
	consent_at   INTEGER,
	consent_text TEXT,
	is_first_due INTEGER NOT NULL DEFAULT 1 CHECK (is_first_due IN (0, 1)),
	next_due_at  INTEGER,
	paused_until TEXT
		CHECK (paused_until GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')
		CHECK (paused_until IS NULL OR (state = 'paused' AND next_due_at IS NOT NULL)),
	is_next_held INTEGER NOT NULL DEFAULT 0 CHECK (is_next_held IN (0, 1)),
	CHECK (state <> 'active' OR (consent_at IS NOT NULL AND ifnull(consent_text, '') <> '')),
	CHECK (state <> 'gone' OR next_due_at IS NULL)
) STRICT;
CREATE INDEX subscriber_due ON subscriber (next_due_at, id) WHERE state = 'active';
CREATE INDEX subscriber_pause_end ON subscriber (next_due_at, id) WHERE paused_until IS NOT NULL;
CREATE INDEX subscriber_held ON subscriber (id) WHERE is_next_held = 1;

CREATE TABLE digest (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	slot          TEXT NOT NULL CHECK (slot <> ''),
	date          TEXT NOT NULL,
	message_token TEXT NOT NULL CHECK (length(message_token) = 17),
	created_at    INTEGER NOT NULL,
	state         TEXT NOT NULL CHECK (state = 'live' OR state = 'sent' OR state = 'failed'
		OR state = 'cancelled'),
	coverage      TEXT NOT NULL DEFAULT '',
	abstract      TEXT NOT NULL DEFAULT 'brief'
		CHECK (abstract = 'brief' OR abstract = 'short' OR abstract = 'full'
			OR abstract = 'none'),
	format        TEXT NOT NULL DEFAULT 'both'
		CHECK (format = 'both' OR format = 'text' OR format = 'html'),
	attach        TEXT NOT NULL DEFAULT 'none' CHECK (attach IN ('none', 'bibtex')),
	grouping      TEXT NOT NULL DEFAULT 'off' CHECK (grouping IN ('off', 'on')),
	language      TEXT CHECK (language GLOB '[a-z][a-z]'),
	is_note       INTEGER NOT NULL DEFAULT 0 CHECK (is_note IN (0, 1)),
	UNIQUE (subscriber_id, slot)
) STRICT;
CREATE INDEX digest_message ON digest (message_token);
CREATE INDEX digest_created ON digest (created_at) WHERE state <> 'live';
CREATE INDEX digest_live ON digest (subscriber_id) WHERE state = 'live';

CREATE TABLE digest_item (
	digest_id INTEGER NOT NULL REFERENCES digest (id) ON DELETE CASCADE,
	position  INTEGER NOT NULL CHECK (position >= 1),
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	day       TEXT NOT NULL,
	upvotes   INTEGER,
	shown     INTEGER NOT NULL CHECK (shown BETWEEN 0 AND 2),
	reasons   TEXT NOT NULL CHECK (reasons <> ''),
	replacement INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0),
	PRIMARY KEY (digest_id, position),
	UNIQUE (digest_id, paper_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivered (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	replacement   INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq, replacement)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivered_at ON delivered (at);

CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	kind          TEXT NOT NULL CHECK (kind = 'digest' OR kind = 'answer'
		OR kind = 'confirmation' OR kind = 'notice'),
	subscriber_id INTEGER REFERENCES subscriber (id),
	digest_id     INTEGER UNIQUE REFERENCES digest (id),
	recipient     TEXT
		CHECK (length(CAST(recipient AS BLOB)) BETWEEN 3 AND 254)
		CHECK (recipient GLOB '?*@?*.?*')
		CHECK (instr(recipient, char(0)) = 0)
		CHECK (recipient NOT GLOB '*[' || char(1) || '-' || char(32) || ']*')
		CHECK (recipient NOT GLOB '*[<>' || char(127) || ']*'),
	address_key   TEXT CHECK (address_key <> ''),
	sender        TEXT
		CHECK (length(CAST(sender AS BLOB)) <= 254)
		CHECK (sender = '' OR sender GLOB '?*@?*')
		CHECK (instr(sender, char(0)) = 0)
		CHECK (sender NOT GLOB '*[' || char(1) || '-' || char(32) || ']*')
		CHECK (sender NOT GLOB '*[<>' || char(127) || ']*'),
	message       BLOB CHECK (length(message) BETWEEN 1 AND 262144),
	state         TEXT NOT NULL CHECK (state = 'NEW' OR state = 'SENDING' OR state = 'SENT'
		OR state = 'DEFERRED' OR state = 'FAILED' OR state = 'UNKNOWN'
		OR state = 'CANCELLED' OR state = 'HELD'),
	attempt       INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
	possible_copies INTEGER NOT NULL DEFAULT 0 CHECK (possible_copies >= 0),
	crashes       INTEGER NOT NULL DEFAULT 0
		CHECK (crashes >= 0 AND crashes <= possible_copies),
	queued_at     INTEGER NOT NULL,
	next_try_at   INTEGER,
	claimed_at    INTEGER,
	ended_at      INTEGER,
	code          INTEGER,
	reply         TEXT,
	cache_key    TEXT,
	message_hash  INTEGER,
	held_from     TEXT
		CHECK (held_from = 'NEW' OR held_from = 'DEFERRED' OR held_from = 'UNKNOWN'),
	held_why      TEXT CHECK (held_why IN ('restore', 'operator', 'crash')),
	failed_stage  INTEGER CHECK (failed_stage IS NULL OR state = 'FAILED'),
	returned      INTEGER NOT NULL DEFAULT 0 CHECK (returned >= 0),
	CHECK ((kind = 'digest') = (digest_id IS NOT NULL)),
	CHECK (kind <> 'digest' OR subscriber_id IS NOT NULL),
	CHECK ((kind = 'digest') = (recipient IS NULL)),
	CHECK ((kind = 'digest') = (address_key IS NULL)),
	CHECK ((kind = 'digest') = (sender IS NULL)),
	CHECK ((kind = 'digest' OR ended_at IS NOT NULL) = (message IS NULL)),
	CHECK ((state IN ('NEW', 'DEFERRED')) <= (next_try_at IS NOT NULL)),
	CHECK (next_try_at IS NULL OR state = 'NEW' OR state = 'DEFERRED' OR state = 'UNKNOWN'),
	CHECK (ended_at IS NOT NULL
		OR (state <> 'SENT' AND state <> 'FAILED' AND state <> 'CANCELLED')),
	CHECK (claimed_at IS NOT NULL
		OR (state <> 'SENDING' AND state <> 'SENT' AND state <> 'UNKNOWN')),
	CHECK (state <> 'SENDING' OR attempt >= 1)
) STRICT;
CREATE INDEX outbox_due ON outbox (next_try_at, id) WHERE next_try_at IS NOT NULL;
CREATE INDEX outbox_mail_due ON outbox (next_try_at, id)
	WHERE kind <> 'digest' AND next_try_at IS NOT NULL;
CREATE INDEX outbox_address ON outbox (address_key) WHERE address_key IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (id) WHERE state = 'SENDING';
CREATE INDEX outbox_live ON outbox (subscriber_id, state) WHERE ended_at IS NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX outbox_held ON outbox (id) WHERE state = 'HELD';
CREATE INDEX outbox_oldest ON outbox (queued_at, id)
	WHERE ended_at IS NULL AND state <> 'HELD';
CREATE INDEX outbox_deferred ON outbox (queued_at, id)
	WHERE ended_at IS NULL AND state = 'DEFERRED';
CREATE INDEX outbox_failed ON outbox (ended_at) WHERE state = 'FAILED';
CREATE INDEX outbox_unclassified ON outbox (id) WHERE failed_stage IS NOT NULL;

CREATE TABLE row_count (
	name  TEXT PRIMARY KEY CHECK (name <> ''),
	count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO row_count (name, count) VALUES ('next held', 0), ('subscriber active', 0),
	('outbox NEW', 0);

CREATE TRIGGER subscriber_count_insert AFTER INSERT ON subscriber
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'subscriber ' || NEW.state;
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.is_next_held AND NEW.state = 'active', 'next held', '');
END;

CREATE TRIGGER digest_needs_active BEFORE INSERT ON digest
WHEN (SELECT state FROM subscriber WHERE id = NEW.subscriber_id) IS NOT 'active'
BEGIN
	SELECT RAISE(ABORT, 'a digest is only for a subscriber who is active');
END;

CREATE TRIGGER digest_complete BEFORE INSERT ON digest_item
WHEN EXISTS (SELECT 1 FROM outbox WHERE digest_id = NEW.digest_id)
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER outbox_count_insert AFTER INSERT ON outbox
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.ended_at IS NULL OR NEW.state = 'FAILED', 'outbox ' || NEW.state, '');
END;

CREATE TRIGGER outbox_count_held AFTER INSERT ON outbox
WHEN NEW.state = 'HELD'
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'held ' || NEW.held_why;
END;
