-- 001: papers, filters, people, digests, the outbox.
-- Times are seconds since the epoch, UTC; days are YYYY-MM-DD.

CREATE TABLE paper (
	seq           INTEGER PRIMARY KEY,
	id            TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 200),
	title         TEXT NOT NULL CHECK (title <> ''),
	abstract      TEXT NOT NULL,
	authors       TEXT NOT NULL, -- one a line
	url           TEXT NOT NULL CHECK (url GLOB 'http*://*'),
	code_url      TEXT,
	project_url   TEXT,
	video_url     TEXT,
	organization  TEXT,
	keywords      TEXT, -- one a line; NULL: not told
	categories    TEXT, -- one a line, the primary one first; NULL: arXiv has not answered
	comment       TEXT,
	journal       TEXT,
	doi           TEXT,
	published_at  INTEGER,
	upvotes       INTEGER CHECK (upvotes >= 0),
	comments      INTEGER CHECK (comments >= 0),
	stars         INTEGER CHECK (stars >= 0),
	teller        INTEGER NOT NULL DEFAULT 0 CHECK (teller BETWEEN 0 AND 2), -- of its text
	told_at       INTEGER NOT NULL, -- when the changing fields were read
	first_seen_at INTEGER NOT NULL,
	last_day      TEXT NOT NULL CHECK (last_day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	revision      INTEGER NOT NULL UNIQUE, -- of its text; filters are matched through one
	is_changed    INTEGER NOT NULL DEFAULT 0 CHECK (is_changed IN (0, 1))
) STRICT;
CREATE INDEX paper_changed ON paper (seq) WHERE is_changed = 1;
CREATE INDEX paper_last_day ON paper (last_day, revision);
CREATE INDEX paper_bare ON paper (first_seen_at) WHERE categories IS NULL;

-- Every name by which a paper is known (src/model/identity.h).
CREATE TABLE paper_name (
	name      TEXT PRIMARY KEY CHECK (name <> ''),
	paper_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_name_paper ON paper_name (paper_seq);

-- Two rows that are one paper, while neither can go: both are in messages on their way.
CREATE TABLE paper_twin (
	one_seq   INTEGER NOT NULL REFERENCES paper (seq),
	other_seq INTEGER NOT NULL REFERENCES paper (seq),
	PRIMARY KEY (one_seq, other_seq),
	CHECK (one_seq < other_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_twin_other ON paper_twin (other_seq);

CREATE TABLE listing (
	source        TEXT NOT NULL CHECK (source <> ''),
	day           TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	announcement  TEXT NOT NULL DEFAULT 'new' CHECK (announcement IN
		('new', 'cross', 'replace', 'replace-cross')),
	version       INTEGER CHECK (version >= 1), -- of the paper; NULL: not told
	upvotes       INTEGER CHECK (upvotes >= 0),
	first_seen_at INTEGER NOT NULL,
	PRIMARY KEY (source, day, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_paper ON listing (paper_seq);

-- The archive: every word of a title, an abstract or a name (https://sqlite.org/fts5.html
-- section 4.4.3), with the matcher's tokenizer.  The triggers keep it, whoever writes.
CREATE VIRTUAL TABLE paper_fts USING fts5 (title, abstract, authors,
	content = 'paper', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2');

CREATE TRIGGER paper_fts_insert AFTER INSERT ON paper
BEGIN
	INSERT INTO paper_fts (rowid, title, abstract, authors)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors);
END;

CREATE TRIGGER paper_fts_update AFTER UPDATE OF title, abstract, authors ON paper
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors);
	INSERT INTO paper_fts (rowid, title, abstract, authors)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors);
END;

CREATE TRIGGER paper_fts_delete AFTER DELETE ON paper
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors);
END;

-- Every word of titles and abstracts, its plural class, and in how many papers it is.
CREATE TABLE word (
	text   TEXT PRIMARY KEY CHECK (text <> ''),
	folded TEXT NOT NULL CHECK (folded <> ''),
	papers INTEGER NOT NULL CHECK (papers >= 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX word_class ON word (folded);

-- "low-rank adaptation (LoRA)": what short forms stand for, and how many papers say so.
CREATE TABLE short_form (
	short  TEXT NOT NULL CHECK (short <> ''), -- folded: lora
	long   TEXT NOT NULL CHECK (long <> ''),  -- folded: low rank adaptation
	shown  TEXT NOT NULL CHECK (shown <> ''), -- as the first paper wrote the long one
	papers INTEGER NOT NULL CHECK (papers >= 1),
	PRIMARY KEY (short, long)
) STRICT, WITHOUT ROWID;

-- The lists that are collected, as the collector last saw them.
CREATE TABLE list (
	position    INTEGER PRIMARY KEY,
	name        TEXT NOT NULL UNIQUE CHECK (name <> ''), -- as in batch.source
	label       TEXT NOT NULL CHECK (label <> ''),
	expected_by INTEGER CHECK (expected_by BETWEEN 0 AND 1439), -- minute of a working day
	wait_s      INTEGER NOT NULL CHECK (wait_s >= 0)
) STRICT;

CREATE TABLE batch (
	id       INTEGER PRIMARY KEY,
	source   TEXT NOT NULL CHECK (source <> ''),
	day      TEXT NOT NULL,
	asked_at INTEGER NOT NULL,
	status   TEXT NOT NULL CHECK (status IN ('ok', 'same', 'empty', 'not-yet', 'stale', 'failed')),
	etag     TEXT,
	count    INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0),
	fresh    INTEGER NOT NULL DEFAULT 0 CHECK (fresh >= 0), -- papers not seen before
	ids_hash TEXT,
	error    TEXT,
	CHECK ((status = 'failed') = (error IS NOT NULL))
) STRICT;
CREATE INDEX batch_day ON batch (source, day, id);
CREATE INDEX batch_asked ON batch (asked_at);

CREATE TABLE filter (
	id              INTEGER PRIMARY KEY,
	canonical       TEXT NOT NULL UNIQUE CHECK (canonical <> ''),
	hash            TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	-- The revision of the papers through which it has seen them; NULL: that of the
	-- crowd, which is the cursor 'matched'.
	matched_through INTEGER,
	created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX filter_behind ON filter (matched_through, id) WHERE matched_through IS NOT NULL;

-- Terms (src/query/terms.h), one of which a paper must have for the filter.
CREATE TABLE filter_term (
	kind      INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
	term      TEXT NOT NULL CHECK ((term = '') = (kind = 0)),
	filter_id INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	PRIMARY KEY (kind, term, filter_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX filter_term_filter ON filter_term (filter_id);

-- Whoever inserts it: until its terms are chosen it is asked about every paper.
CREATE TRIGGER filter_is_filed AFTER INSERT ON filter
BEGIN
	INSERT INTO filter_term (kind, term, filter_id) VALUES (0, '', NEW.id);
END;

CREATE TABLE subscriber (
	id           INTEGER PRIMARY KEY,
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
	cadence      TEXT NOT NULL CHECK (cadence IN ('daily', 'weekdays', 'weekly')),
	weekdays     INTEGER NOT NULL CHECK (weekdays BETWEEN 1 AND 127), -- bit 0 is Monday
	minute       INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),
	zone         TEXT NOT NULL CHECK (zone <> ''),
	max_full     INTEGER NOT NULL CHECK (max_full BETWEEN 1 AND 200),
	created_at   INTEGER NOT NULL,
	consent_at   INTEGER,
	consent_text TEXT,
	is_first_due INTEGER NOT NULL DEFAULT 1 CHECK (is_first_due IN (0, 1)), -- out of rhythm
	next_due_at  INTEGER, -- of the next edition; NULL: none
	paused_until TEXT -- the local day from which there is mail again; NULL: not known
		CHECK (paused_until GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')
		CHECK (paused_until IS NULL OR (state = 'paused' AND next_due_at IS NOT NULL)),
	-- A restored backup does not know what was mailed since: the next edition is HELD.
	is_next_held INTEGER NOT NULL DEFAULT 0 CHECK (is_next_held IN (0, 1)),
	CHECK (state <> 'active' OR (consent_at IS NOT NULL AND ifnull(consent_text, '') <> '')),
	CHECK (state <> 'gone' OR next_due_at IS NULL)
) STRICT;
CREATE INDEX subscriber_due ON subscriber (next_due_at, id) WHERE state = 'active';
CREATE INDEX subscriber_waking ON subscriber (next_due_at, id) WHERE paused_until IS NOT NULL;

-- Addresses never to mail, told by an HMAC of their key; outlives the person's row.
CREATE TABLE suppression (
	hash   TEXT PRIMARY KEY CHECK (length(hash) = 64),
	reason TEXT NOT NULL CHECK (reason IN ('operator', 'never-again', 'complaint', 'dead')),
	at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriber_held ON subscriber (id) WHERE is_next_held = 1;

CREATE TABLE subscription (
	id            INTEGER PRIMARY KEY,
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	number        INTEGER NOT NULL CHECK (number BETWEEN 1 AND 9999),
	filter_id     INTEGER NOT NULL REFERENCES filter (id),
	name          TEXT CHECK (name NOT GLOB '*[' || char(1) || '-' || char(31) || ']*'),
	text          TEXT NOT NULL CHECK (text <> ''), -- as the person typed it
	since_day     TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	is_block      INTEGER NOT NULL DEFAULT 0 CHECK (is_block IN (0, 1)), -- takes papers away
	UNIQUE (subscriber_id, number),
	UNIQUE (subscriber_id, filter_id)
) STRICT;
CREATE INDEX subscription_filter ON subscription (filter_id);
CREATE INDEX subscription_block ON subscription (subscriber_id, number) WHERE is_block = 1;

CREATE TABLE match (
	filter_id  INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	paper_seq  INTEGER NOT NULL REFERENCES paper (seq),
	state      TEXT NOT NULL CHECK (state IN ('yes', 'waiting')),
	decided_at INTEGER NOT NULL,
	due_at     INTEGER, -- of one that waits: when what is not told counts as false
	PRIMARY KEY (filter_id, paper_seq),
	CHECK (state <> 'waiting' OR due_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_decided ON match (decided_at);
CREATE INDEX match_due ON match (due_at, paper_seq) WHERE state = 'waiting';
CREATE INDEX match_waiting ON match (paper_seq, filter_id) WHERE state = 'waiting';

CREATE TABLE digest (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: it names the message
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	slot          TEXT NOT NULL CHECK (slot <> ''),
	date          TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	state         TEXT NOT NULL CHECK (state IN ('live', 'sent', 'failed', 'cancelled')),
	coverage      TEXT NOT NULL DEFAULT '', -- which lists it is made of, in one line
	UNIQUE (subscriber_id, slot)
) STRICT;
CREATE INDEX digest_created ON digest (created_at) WHERE state <> 'live';
CREATE INDEX digest_live ON digest (subscriber_id) WHERE state = 'live';

CREATE TABLE digest_item (
	digest_id INTEGER NOT NULL REFERENCES digest (id) ON DELETE CASCADE,
	position  INTEGER NOT NULL CHECK (position >= 1),
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	day       TEXT NOT NULL,
	upvotes   INTEGER,
	shown     INTEGER NOT NULL CHECK (shown BETWEEN 0 AND 2),
	reasons   TEXT NOT NULL CHECK (reasons <> ''), -- a line each: filter, tab, words
	PRIMARY KEY (digest_id, position),
	UNIQUE (digest_id, paper_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivered (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivered_at ON delivered (at);

-- How often a paper was in a message that was refused for its content.
CREATE TABLE refused (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	times         INTEGER NOT NULL CHECK (times >= 1),
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX refused_at ON refused (at);

CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	kind          TEXT NOT NULL CHECK (kind IN ('digest')),
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	digest_id     INTEGER NOT NULL UNIQUE REFERENCES digest (id),
	state         TEXT NOT NULL CHECK (state IN ('NEW', 'SENDING', 'SENT', 'DEFERRED',
		'FAILED', 'UNKNOWN', 'CANCELLED', 'HELD')),
	attempt       INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
	queued_at     INTEGER NOT NULL,
	next_try_at   INTEGER, -- NULL when it is not to be tried by itself
	claimed_at    INTEGER,
	ended_at      INTEGER,
	code          INTEGER,
	reply         TEXT,
	render_key    TEXT, -- of the bytes that were sent first
	octets        INTEGER, -- fingerprint of the message as it was composed last
	held_from     TEXT CHECK (held_from IN ('NEW', 'DEFERRED', 'UNKNOWN')), -- what it was
	held_why      TEXT CHECK (held_why IN ('restore', 'operator')),
	CHECK ((state IN ('NEW', 'DEFERRED')) <= (next_try_at IS NOT NULL)),
	CHECK ((state IN ('SENT', 'FAILED', 'CANCELLED')) <= (ended_at IS NOT NULL)),
	CHECK (state NOT IN ('SENDING', 'SENT', 'UNKNOWN') OR claimed_at IS NOT NULL),
	CHECK (state <> 'SENDING' OR attempt >= 1)
) STRICT;
CREATE INDEX outbox_due ON outbox (next_try_at, id) WHERE state IN ('NEW', 'DEFERRED', 'UNKNOWN');
CREATE INDEX outbox_sending ON outbox (id) WHERE state = 'SENDING';
CREATE INDEX outbox_live ON outbox (subscriber_id, state) WHERE ended_at IS NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX outbox_held ON outbox (id) WHERE state = 'HELD';

CREATE TABLE cursor (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Empty but in a backup, which is whole with its key, and in a store that was restored
-- and has not put the key into its file yet.
CREATE TABLE backup (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	made_at INTEGER NOT NULL,
	key     TEXT NOT NULL CHECK (length(key) = 64) -- hexadecimal
) STRICT;

CREATE TABLE change (
	id            INTEGER PRIMARY KEY,
	at            INTEGER NOT NULL,
	who           TEXT NOT NULL,
	what          TEXT NOT NULL,
	subscriber_id INTEGER REFERENCES subscriber (id),
	detail        TEXT
) STRICT;
CREATE INDEX change_subscriber ON change (subscriber_id, id);
CREATE INDEX change_at ON change (at, id);

-- Bad states are impossible, whoever writes.

CREATE TRIGGER digest_needs_active BEFORE INSERT ON digest
WHEN (SELECT state FROM subscriber WHERE id = NEW.subscriber_id) IS NOT 'active'
BEGIN
	SELECT RAISE(ABORT, 'a digest is only for a subscriber who is active');
END;

CREATE TRIGGER digest_end_is_final BEFORE UPDATE OF state ON digest
WHEN OLD.state <> 'live' AND NEW.state <> OLD.state
BEGIN
	SELECT RAISE(ABORT, 'a digest that has ended stays as it is');
END;

-- A digest is complete when it is in the outbox; it goes whole, with its row.
-- Only two rows of one paper may become one.
CREATE TRIGGER digest_frozen BEFORE UPDATE OF digest_id, position, day, upvotes, shown,
	reasons ON digest_item
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_frozen_paper BEFORE UPDATE OF paper_seq ON digest_item
WHEN NOT EXISTS (SELECT 1 FROM paper_twin
	WHERE one_seq = min(OLD.paper_seq, NEW.paper_seq)
	AND other_seq = max(OLD.paper_seq, NEW.paper_seq))
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_complete BEFORE INSERT ON digest_item
WHEN EXISTS (SELECT 1 FROM outbox WHERE digest_id = NEW.digest_id)
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_kept BEFORE DELETE ON digest_item
WHEN EXISTS (SELECT 1 FROM digest WHERE id = OLD.digest_id)
	AND NOT EXISTS (SELECT 1 FROM paper_twin t JOIN digest_item i
		ON i.digest_id = OLD.digest_id
		AND i.paper_seq = iif(t.one_seq = OLD.paper_seq, t.other_seq, t.one_seq)
		WHERE OLD.paper_seq IN (t.one_seq, t.other_seq))
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

-- Ended is what has an end: a message in doubt that was given up stays UNKNOWN.
CREATE TRIGGER outbox_end_is_final BEFORE UPDATE OF state, ended_at ON outbox
WHEN OLD.ended_at IS NOT NULL
	AND (NEW.state <> OLD.state OR NEW.ended_at IS NOT OLD.ended_at)
BEGIN
	SELECT RAISE(ABORT, 'a message that has ended stays as it is');
END;

CREATE TRIGGER outbox_sent_was_claimed BEFORE UPDATE OF state ON outbox
WHEN NEW.state = 'SENT' AND OLD.state NOT IN ('SENDING', 'UNKNOWN')
BEGIN
	SELECT RAISE(ABORT, 'only a claimed message can be sent');
END;

CREATE TRIGGER match_yes_is_final BEFORE UPDATE OF state ON match
WHEN OLD.state = 'yes' AND NEW.state <> 'yes'
BEGIN
	SELECT RAISE(ABORT, 'a match that was decided stays');
END;
