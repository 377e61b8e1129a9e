-- 001: papers, filters, people, digests, the outbox.
-- Times are seconds since the epoch, UTC; days are YYYY-MM-DD.

CREATE TABLE paper (
	seq           INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: matches refer to it
	id            TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 200),
	title         TEXT NOT NULL CHECK (title <> ''),
	abstract      TEXT NOT NULL,
	summary       TEXT, -- one sentence that the source generated
	authors       TEXT NOT NULL, -- one per line
	url           TEXT NOT NULL CHECK (url GLOB 'http*://*'),
	code_url      TEXT,
	project_url   TEXT,
	video_url     TEXT,
	organization  TEXT,
	keywords      TEXT, -- one per line; NULL: unknown
	categories    TEXT, -- one per line, primary first; NULL: not enriched by arXiv yet
	comment       TEXT,
	journal       TEXT,
	doi           TEXT,
	published_at  INTEGER,
	upvotes       INTEGER CHECK (upvotes >= 0),
	upvotes_day   TEXT, -- when they were read last, YYYY-MM-DD, UTC
	upvotes_before INTEGER, -- the last number of the day before that
	comments      INTEGER CHECK (comments >= 0),
	stars         INTEGER CHECK (stars >= 0),
	source_rank        INTEGER NOT NULL DEFAULT 0 CHECK (source_rank BETWEEN 0 AND 2), -- of its text
	fetched_at       INTEGER NOT NULL, -- when the changing fields were read
	first_seen_at INTEGER NOT NULL,
	last_day      TEXT NOT NULL CHECK (last_day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	replacement   INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0), -- version announced; 0: none
	revision      INTEGER NOT NULL UNIQUE, -- of its text; filters are matched through one
	is_revised    INTEGER NOT NULL DEFAULT 0 CHECK (is_revised IN (0, 1)), -- not its first
	is_changed    INTEGER NOT NULL DEFAULT 0 CHECK (is_changed IN (0, 1))
) STRICT;
CREATE INDEX paper_changed ON paper (seq) WHERE is_changed = 1;
CREATE INDEX paper_last_day ON paper (last_day, revision);
-- Votes and age of papers, for the rank in a search.
CREATE INDEX paper_rank ON paper (seq, upvotes, last_day);
CREATE INDEX paper_unenriched ON paper (first_seen_at) WHERE categories IS NULL;

-- All identifiers of a paper (src/model/paper_id.h).
CREATE TABLE paper_alias (
	name      TEXT PRIMARY KEY CHECK (name <> ''),
	paper_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_alias_paper ON paper_alias (paper_seq);

-- Two rows of one paper that cannot be merged yet: both are in queued messages.
CREATE TABLE paper_duplicate (
	one_seq   INTEGER NOT NULL REFERENCES paper (seq),
	other_seq INTEGER NOT NULL REFERENCES paper (seq),
	PRIMARY KEY (one_seq, other_seq),
	CHECK (one_seq < other_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_duplicate_other ON paper_duplicate (other_seq);

CREATE TABLE listing (
	source        TEXT NOT NULL CHECK (source <> ''),
	day           TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	type  TEXT NOT NULL DEFAULT 'new' CHECK (type IN
		('new', 'cross', 'replace', 'replace-cross')),
	version       INTEGER CHECK (version >= 1), -- of the paper; NULL: unknown
	upvotes       INTEGER CHECK (upvotes >= 0),
	first_seen_at INTEGER NOT NULL,
	PRIMARY KEY (source, day, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_paper ON listing (paper_seq);

-- Full-text index of titles, abstracts and authors, an external content table
-- (https://sqlite.org/fts5.html section 4.4.3) maintained by triggers.
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

-- Words of titles and abstracts, their stem, and their document frequency.
CREATE TABLE vocabulary (
	text   TEXT PRIMARY KEY CHECK (text <> ''),
	folded TEXT NOT NULL CHECK (folded <> ''),
	papers INTEGER NOT NULL CHECK (papers >= 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX vocabulary_class ON vocabulary (folded);

-- Acronyms as in "low-rank adaptation (LoRA)", and the number of papers that define them.
CREATE TABLE acronym (
	short  TEXT NOT NULL CHECK (short <> ''), -- folded: lora
	long   TEXT NOT NULL CHECK (long <> ''),  -- folded: low rank adaptation
	shown  TEXT NOT NULL CHECK (shown <> ''), -- as the first paper wrote the long one
	papers INTEGER NOT NULL CHECK (papers >= 1),
	PRIMARY KEY (short, long)
) STRICT, WITHOUT ROWID;

-- The configured source lists, as last seen by the collector.
CREATE TABLE source_list (
	position    INTEGER PRIMARY KEY,
	name        TEXT NOT NULL UNIQUE CHECK (name <> ''), -- as in batch.source
	label       TEXT NOT NULL CHECK (label <> ''),
	expected_by INTEGER CHECK (expected_by BETWEEN 0 AND 1439), -- minute of a working day
	wait_s      INTEGER NOT NULL CHECK (wait_s >= 0)
) STRICT;

CREATE TABLE source_fetch (
	id       INTEGER PRIMARY KEY,
	source   TEXT NOT NULL CHECK (source <> ''),
	day      TEXT NOT NULL,
	fetched_at INTEGER NOT NULL,
	status   TEXT NOT NULL CHECK (status IN ('ok', 'same', 'empty', 'not-yet', 'stale', 'failed')),
	etag     TEXT,
	count    INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0),
	fresh    INTEGER NOT NULL DEFAULT 0 CHECK (fresh >= 0), -- papers not seen before
	ids_hash TEXT,
	error    TEXT,
	-- 1: the failure is of this day alone, 0: of the source
	is_of_day INTEGER NOT NULL DEFAULT 0 CHECK (is_of_day IN (0, 1)),
	CHECK ((status = 'failed') = (error IS NOT NULL))
) STRICT;
CREATE INDEX source_fetch_day ON source_fetch (source, day, id);
CREATE INDEX source_fetch_time ON source_fetch (fetched_at);

CREATE TABLE filter (
	id              INTEGER PRIMARY KEY,
	-- The revision of the papers through which it has seen them; NULL: that of the
	-- crowd, which is the cursor 'matched'.
	matched_revision INTEGER,
	canonical       TEXT NOT NULL UNIQUE CHECK (canonical <> ''),
	hash            TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX filter_lagging ON filter (matched_revision, id) WHERE matched_revision IS NOT NULL;

-- Terms (src/query/eval/terms.h), one of which a paper must have for the filter.
CREATE TABLE filter_term (
	kind      INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
	term      TEXT NOT NULL CHECK ((term = '') = (kind = 0)),
	filter_id INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	PRIMARY KEY (kind, term, filter_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX filter_term_filter ON filter_term (filter_id);

-- A filter without terms is a candidate for every paper.
CREATE TRIGGER filter_is_indexed AFTER INSERT ON filter
BEGIN
	INSERT INTO filter_term (kind, term, filter_id) VALUES (0, '', NEW.id);
END;

CREATE TABLE subscriber (
	id           INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: Message-IDs contain it
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
	weekdays     INTEGER NOT NULL CHECK (weekdays BETWEEN 1 AND 127), -- bit 0 is Monday
	minute       INTEGER NOT NULL CHECK (minute BETWEEN 0 AND 1439),
	zone         TEXT NOT NULL CHECK (zone <> ''),
	max_full     INTEGER NOT NULL CHECK (max_full BETWEEN 1 AND 200),
	-- src/model/preferences.h
	sorting      TEXT NOT NULL DEFAULT 'score' CHECK (sorting IN ('score', 'votes', 'date')),
	abstract     TEXT NOT NULL DEFAULT 'brief'
		CHECK (abstract IN ('brief', 'short', 'full', 'none')),
	format       TEXT NOT NULL DEFAULT 'both' CHECK (format IN ('both', 'text', 'html')),
	empty_digest TEXT NOT NULL DEFAULT 'off' CHECK (empty_digest IN ('off', 'note')),
	updates      TEXT NOT NULL DEFAULT 'off' CHECK (updates IN ('off', 'on')),
	crosslist    TEXT NOT NULL DEFAULT 'on' CHECK (crosslist IN ('on', 'off')),
	attach       TEXT NOT NULL DEFAULT 'none' CHECK (attach IN ('none', 'bibtex', 'ris', 'markdown')),
	grouping     TEXT NOT NULL DEFAULT 'off' CHECK (grouping IN ('off', 'on')),
	language     TEXT CHECK (language GLOB '[a-z][a-z]'), -- NULL: the configured one
	-- Maximum papers of the digest after a pause; NULL: max_full.
	catch_up     INTEGER CHECK (catch_up BETWEEN 1 AND 200),
	created_at   INTEGER NOT NULL,
	moved_at     INTEGER, -- last change of address; NULL: never
	-- When private feeds were turned on, in their tokens; negative: off, of the last
	-- time, lest old tokens work again; NULL: never on.
	feeds_since  INTEGER,
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
CREATE INDEX subscriber_pause_end ON subscriber (next_due_at, id) WHERE paused_until IS NOT NULL;

-- Ids of erased subscribers, to erase them again when an older backup is restored.
CREATE TABLE erased (
	number INTEGER PRIMARY KEY -- subscriber.id, never used twice
) STRICT;

-- HMACs of addresses that must not be mailed; they survive erasure.
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
	text          TEXT NOT NULL CHECK (text <> ''), -- as typed
	since_day     TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	is_block      INTEGER NOT NULL DEFAULT 0 CHECK (is_block IN (0, 1)), -- takes papers away
	max_papers    INTEGER CHECK (max_papers BETWEEN 1 AND 200), -- in one digest; NULL: no limit
	note          TEXT CHECK (note NOT GLOB '*[' || char(1) || '-' || char(31) || ']*'),
	UNIQUE (subscriber_id, number),
	UNIQUE (subscriber_id, filter_id)
) STRICT;
CREATE INDEX subscription_filter ON subscription (filter_id);
CREATE INDEX subscription_block ON subscription (subscriber_id, number) WHERE is_block = 1;

-- Papers that a filter matches, one row per filter and run, since they are written and
-- read together.  No foreign key: the writer has read the filter in the same transaction,
-- and the check would double the time of writing.
CREATE TABLE match (
	filter_id  INTEGER NOT NULL, -- of filter
	decided_at INTEGER NOT NULL,
	papers     TEXT NOT NULL CHECK (papers GLOB '[1-9]*'), -- paper.seq, joined by commas
	PRIMARY KEY (filter_id, decided_at)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER filter_deletes_matches AFTER DELETE ON filter
BEGIN
	DELETE FROM match WHERE filter_id = OLD.id;
END;

CREATE TABLE match_pending (
	filter_id  INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	paper_seq  INTEGER NOT NULL REFERENCES paper (seq),
	decided_at INTEGER NOT NULL,
	due_at     INTEGER NOT NULL, -- when unset fields count as false
	PRIMARY KEY (filter_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX match_pending_due ON match_pending (due_at, paper_seq);
CREATE INDEX match_pending_paper ON match_pending (paper_seq, filter_id);

CREATE TABLE digest (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: in the Message-ID
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	slot          TEXT NOT NULL CHECK (slot <> ''),
	date          TEXT NOT NULL,
	message_token TEXT NOT NULL CHECK (length(message_token) = 17), -- in the Message-ID
	created_at    INTEGER NOT NULL,
	-- No IN with three or more strings here and in the outbox: SQLite would build a
	-- temporary table for each row written.
	state         TEXT NOT NULL CHECK (state = 'live' OR state = 'sent' OR state = 'failed'
		OR state = 'cancelled'),
	coverage      TEXT NOT NULL DEFAULT '', -- which lists it is made of, in one line
	notices       TEXT NOT NULL DEFAULT '', -- what is unusual, a line each
	filters       TEXT NOT NULL DEFAULT '', -- lines of number, papers, label, query
	papers        INTEGER NOT NULL DEFAULT 0 CHECK (papers >= 0),
	-- Style, frozen when the digest is built (src/model/preferences.h).
	abstract      TEXT NOT NULL DEFAULT 'brief'
		CHECK (abstract = 'brief' OR abstract = 'short' OR abstract = 'full'
			OR abstract = 'none'),
	format        TEXT NOT NULL DEFAULT 'both'
		CHECK (format = 'both' OR format = 'text' OR format = 'html'),
	attach        TEXT NOT NULL DEFAULT 'none' CHECK (attach IN ('none', 'bibtex', 'ris', 'markdown')),
	grouping      TEXT NOT NULL DEFAULT 'off' CHECK (grouping IN ('off', 'on')),
	language      TEXT CHECK (language GLOB '[a-z][a-z]'), -- NULL: that of the settings
	is_note       INTEGER NOT NULL DEFAULT 0 CHECK (is_note IN (0, 1)), -- no papers, said so
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
	upvotes_before INTEGER, -- the last number of the day before
	stars     INTEGER,
	venue     TEXT,
	shown     INTEGER NOT NULL CHECK (shown BETWEEN 0 AND 2),
	reasons   TEXT NOT NULL CHECK (reasons <> ''), -- lines: filter, tab, hits (src/model/hit.h)
	replacement INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0), -- version at that time
	PRIMARY KEY (digest_id, position),
	UNIQUE (digest_id, paper_seq)
) STRICT, WITHOUT ROWID;

-- Columns of papers that attached files show and that may still change.
CREATE TABLE digest_reference (
	digest_id    INTEGER NOT NULL,
	position     INTEGER NOT NULL,
	journal      TEXT,
	doi          TEXT,
	published_at INTEGER,
	categories   TEXT,
	keywords     TEXT,
	PRIMARY KEY (digest_id, position),
	FOREIGN KEY (digest_id, position) REFERENCES digest_item ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE delivered (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	-- Version of the paper; subscribers with updates also get later ones.
	replacement   INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq, replacement)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivered_at ON delivered (at);

-- Papers in messages that were rejected for their content.
CREATE TABLE digest_rejected (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	times         INTEGER NOT NULL CHECK (times >= 1),
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_rejected_at ON digest_rejected (at);

CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	kind          TEXT NOT NULL CHECK (kind = 'digest' OR kind = 'answer'
		OR kind = 'confirmation' OR kind = 'notice'),
	subscriber_id INTEGER REFERENCES subscriber (id), -- NULL: not a subscriber
	digest_id     INTEGER UNIQUE REFERENCES digest (id),
	-- Of system mail: recipient, envelope sender ('' is the null sender), and the
	-- message until it has ended.
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
	-- Copies that the relay may have accepted: in flight when the daemon was killed, or
	-- cut off after the final dot.  Deferrals do not count.
	possible_copies INTEGER NOT NULL DEFAULT 0 CHECK (possible_copies >= 0),
	crashes       INTEGER NOT NULL DEFAULT 0 -- of these, in flight at a crash
		CHECK (crashes >= 0 AND crashes <= possible_copies),
	queued_at     INTEGER NOT NULL,
	next_try_at   INTEGER, -- NULL: no automatic attempt
	claimed_at    INTEGER,
	ended_at      INTEGER,
	code          INTEGER,
	reply         TEXT,
	cache_key    TEXT, -- of the bytes that were sent first
	message_hash  INTEGER, -- FNV-1a of the message as composed last
	held_from     TEXT -- what it was
		CHECK (held_from = 'NEW' OR held_from = 'DEFERRED' OR held_from = 'UNKNOWN'),
	held_why      TEXT CHECK (held_why IN ('restore', 'operator', 'crash')),
	-- Stage of SMTP at which it failed (src/transport/delivery.h), until the failure is
	-- classified as a bounce.
	failed_stage  INTEGER CHECK (failed_stage IS NULL OR state = 'FAILED'),
	returned      INTEGER NOT NULL DEFAULT 0 CHECK (returned >= 0), -- by reports, and sent again
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

-- Evidence from bounces and complaints, one row for each message.
CREATE TABLE bounce (
	id            INTEGER PRIMARY KEY,
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	message       TEXT NOT NULL CHECK (message GLOB 'digest-[1-9]*' OR message GLOB 'mail-[1-9]*'
			OR message = 'complaint'),
	at            INTEGER NOT NULL,
	class         TEXT NOT NULL
		CHECK (class IN ('dead', 'full', 'temporary', 'sender', 'complaint')),
	is_scored     INTEGER NOT NULL CHECK (is_scored IN (0, 1)), -- counts against the address
	is_domain_fault INTEGER NOT NULL DEFAULT 0 CHECK (is_domain_fault IN (0, 1)),
	rule          TEXT NOT NULL,
	status        TEXT,
	code          INTEGER,
	agent         TEXT,
	line          TEXT,
	UNIQUE (subscriber_id, message),
	CHECK (is_scored = 0 OR class IN ('dead', 'full', 'temporary'))
) STRICT;
CREATE INDEX bounce_at ON bounce (at, class);
CREATE INDEX bounce_scored ON bounce (subscriber_id) WHERE is_scored = 1;

-- Probe messages whose bounce suspends the subscriber.
CREATE TABLE bounce_probe (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	outbox_id     INTEGER NOT NULL, -- no foreign key: it is pruned earlier
	sent_at       INTEGER NOT NULL
) STRICT;

-- Domains that refuse our mail: nothing is sent to them until then.
CREATE TABLE domain_pause (
	domain TEXT PRIMARY KEY CHECK (domain <> ''),
	since  INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	rule   TEXT NOT NULL,
	reply  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Pending actions (double opt-in).  Only the hash of a token is stored.
CREATE TABLE confirmation (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: in bounce addresses
	hash          TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	purpose       TEXT NOT NULL CHECK (purpose IN ('confirm', 'undo', 'address', 'forget')),
	address       TEXT NOT NULL CHECK (address GLOB '?*@?*.?*')
		CHECK (address NOT GLOB '*[' || char(1) || '-' || char(32) || ']*'),
	address_key   TEXT NOT NULL CHECK (address_key <> ''),
	recipient     TEXT NOT NULL CHECK (recipient GLOB '?*@?*.?*')
		CHECK (recipient NOT GLOB '*[' || char(1) || '-' || char(32) || ']*'),
	subscriber_id INTEGER REFERENCES subscriber (id), -- NULL: not a subscriber
	action        TEXT NOT NULL, -- commands to run; '' once used
	details       TEXT,
	made_at       INTEGER NOT NULL,
	expires_at    INTEGER NOT NULL CHECK (expires_at > made_at),
	used_at       INTEGER,
	questioned_at INTEGER, -- an unclear reply was answered with a question
	CHECK ((used_at IS NULL) = (action <> ''))
) STRICT;
CREATE INDEX confirmation_address ON confirmation (address_key, purpose);
CREATE INDEX confirmation_expires ON confirmation (expires_at);
CREATE INDEX confirmation_subscriber ON confirmation (subscriber_id) WHERE subscriber_id IS NOT NULL;

-- Erasures that follow the delivery of the last reply.
CREATE TABLE pending_erasure (
	address_key TEXT PRIMARY KEY CHECK (address_key <> ''),
	outbox_id   INTEGER NOT NULL,
	address     TEXT NOT NULL,
	at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Recent replies, for rate limits.  Addresses and domains are HMACs.
CREATE TABLE rate_log (
	id     INTEGER PRIMARY KEY,
	kind   TEXT NOT NULL CHECK (kind IN ('confirmation', 'unknown', 'reply', 'proven',
		'help', 'owner', 'left', 'link', 'typed')),
	address_hash TEXT NOT NULL CHECK (length(address_hash) = 64),
	domain_hash  TEXT NOT NULL CHECK (length(domain_hash) = 64),
	at     INTEGER NOT NULL
) STRICT;
CREATE INDEX rate_log_address ON rate_log (address_hash, kind, at);
CREATE INDEX rate_log_domain ON rate_log (domain_hash, kind, at);
CREATE INDEX rate_log_kind ON rate_log (kind, at);
CREATE INDEX rate_log_at ON rate_log (at);

-- Inbound messages.  Of a handled one only the dedup key and metadata are retained, so
-- that another copy is recognised; its content and addresses are deleted.
CREATE TABLE inbox (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	key         TEXT NOT NULL UNIQUE CHECK (length(key) = 64),
	receiver        TEXT NOT NULL CHECK (receiver IN ('lmtp', 'maildir', 'imap')),
	sender      TEXT, -- of the envelope: '' is the null sender; NULL: unknown
	recipient   TEXT, -- of the envelope, one per line; NULL: unknown
	received_at     INTEGER NOT NULL,
	-- Of the whole message, bytes; raw is only its header if it is too large.
	size        INTEGER NOT NULL CHECK (size >= 0),
	state       TEXT NOT NULL CHECK (state IN ('new', 'done', 'quarantined')),
	tries       INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0), -- failed attempts
	-- Attempts without a result: paperboyd crashed.
	started     INTEGER NOT NULL DEFAULT 0 CHECK (started >= 0),
	next_try_at INTEGER,
	ended_at    INTEGER,
	verdict     TEXT, -- result, or last error
	raw         BLOB, -- last column: the others are read without it
	CHECK ((state = 'done') = (raw IS NULL)),
	CHECK (state <> 'done' OR (sender IS NULL AND recipient IS NULL)),
	CHECK ((state = 'new') = (next_try_at IS NOT NULL)),
	CHECK ((state = 'new') = (ended_at IS NULL))
) STRICT;
CREATE INDEX inbox_due ON inbox (next_try_at, id) WHERE state = 'new';
CREATE INDEX inbox_quarantined ON inbox (ended_at) WHERE state = 'quarantined';
CREATE INDEX inbox_done ON inbox (received_at) WHERE state = 'done';

-- Messages left in a mailbox, since they are too large or unreadable.
CREATE TABLE skipped_message (
	receiver   TEXT NOT NULL CHECK (receiver IN ('maildir', 'imap')),
	name   TEXT NOT NULL, -- identifies it in the mailbox
	since  INTEGER NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (receiver, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursor (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Empty except in a backup, which contains its key, and until a restored or rotated key
-- has been written to the key file.
CREATE TABLE backup (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	made_at INTEGER NOT NULL,
	key     TEXT NOT NULL -- hexadecimal: the key in use, then the retired ones
		CHECK (length(key) BETWEEN 64 AND 1024 AND length(key) % 64 = 0)
) STRICT;

-- MAC of the key file, to detect a wrong or damaged key.
CREATE TABLE key_check (
	id  INTEGER PRIMARY KEY CHECK (id = 1),
	mac TEXT NOT NULL CHECK (length(mac) = 64)
) STRICT;

CREATE TABLE audit_log (
	id            INTEGER PRIMARY KEY,
	at            INTEGER NOT NULL,
	who           TEXT NOT NULL,
	what          TEXT NOT NULL,
	subscriber_id INTEGER REFERENCES subscriber (id),
	detail        TEXT
) STRICT;
CREATE INDEX audit_log_subscriber ON audit_log (subscriber_id, id);
CREATE INDEX audit_log_at ON audit_log (at, id);

-- Invariants, enforced for every writer.

CREATE TRIGGER digest_needs_active BEFORE INSERT ON digest
WHEN (SELECT state FROM subscriber WHERE id = NEW.subscriber_id) IS NOT 'active'
BEGIN
	SELECT RAISE(ABORT, 'a digest is only for a subscriber who is active');
END;

CREATE TRIGGER digest_is_frozen BEFORE UPDATE OF slot, message_token, abstract, format, attach, grouping, language, is_note,
	coverage, notices, filters, papers
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

-- A retry sends the same bytes.
CREATE TRIGGER outbox_mail_frozen BEFORE UPDATE OF kind, recipient, sender, message ON outbox
WHEN NEW.kind <> OLD.kind OR NEW.recipient IS NOT OLD.recipient
	OR NEW.sender IS NOT OLD.sender
	OR (NEW.message IS NOT OLD.message AND NEW.message IS NOT NULL)
BEGIN
	SELECT RAISE(ABORT, 'the content of a message is frozen');
END;

-- A digest is complete once it is queued, and is deleted as a whole.  Only the merge of
-- duplicate papers may change it.
CREATE TRIGGER digest_frozen BEFORE UPDATE OF digest_id, position, day, upvotes,
	upvotes_before, stars, venue, shown, reasons, replacement ON digest_item
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_frozen_paper BEFORE UPDATE OF paper_seq ON digest_item
WHEN NOT EXISTS (SELECT 1 FROM paper_duplicate
	WHERE one_seq = min(OLD.paper_seq, NEW.paper_seq)
	AND other_seq = max(OLD.paper_seq, NEW.paper_seq))
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_frozen_reference BEFORE UPDATE ON digest_reference
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_complete BEFORE INSERT ON digest_item
WHEN EXISTS (SELECT 1 FROM outbox WHERE digest_id = NEW.digest_id)
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

CREATE TRIGGER digest_frozen_delete BEFORE DELETE ON digest_item
WHEN EXISTS (SELECT 1 FROM digest WHERE id = OLD.digest_id)
	AND NOT EXISTS (SELECT 1 FROM paper_duplicate t JOIN digest_item i
		ON i.digest_id = OLD.digest_id
		AND i.paper_seq = iif(t.one_seq = OLD.paper_seq, t.other_seq, t.one_seq)
		WHERE OLD.paper_seq IN (t.one_seq, t.other_seq))
BEGIN
	SELECT RAISE(ABORT, 'what is in a digest is frozen');
END;

-- A message in doubt that has ended stays UNKNOWN.  Only a report returns one.
CREATE TRIGGER outbox_end_is_final BEFORE UPDATE OF state, ended_at ON outbox
WHEN OLD.ended_at IS NOT NULL
	AND (NEW.state <> OLD.state OR NEW.ended_at IS NOT OLD.ended_at)
	AND NOT (OLD.state = 'SENT' AND NEW.state = 'DEFERRED'
		AND NEW.returned = OLD.returned + 1)
BEGIN
	SELECT RAISE(ABORT, 'a message that has ended stays as it is');
END;

CREATE TRIGGER outbox_sent_was_claimed BEFORE UPDATE OF state ON outbox
WHEN NEW.state = 'SENT' AND OLD.state NOT IN ('SENDING', 'UNKNOWN')
BEGIN
	SELECT RAISE(ABORT, 'only a claimed message can be sent');
END;

-- subscriber_id may be set later.
CREATE TRIGGER confirmation_is_used_once BEFORE UPDATE OF id, hash, purpose, address, address_key,
	recipient, action, details, made_at, expires_at, used_at ON confirmation
WHEN OLD.used_at IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'a confirmation is used once');
END;

CREATE TRIGGER match_is_final BEFORE UPDATE ON match
WHEN NEW.filter_id <> OLD.filter_id OR NEW.decided_at <> OLD.decided_at
	OR (substr(NEW.papers, 1, length(OLD.papers) + 1) <> OLD.papers || ','
	-- Only two rows of one paper may become one.
	AND NOT EXISTS (SELECT 1
		FROM (SELECT one_seq AS gone, other_seq AS merged FROM paper_duplicate
			UNION ALL SELECT other_seq, one_seq FROM paper_duplicate)
		WHERE ',' || NEW.papers || ',' IN (
			replace(',' || OLD.papers || ',', ',' || gone || ',', ',' || merged || ','),
			replace(',' || OLD.papers || ',', ',' || gone || ',', ','))))
BEGIN
	SELECT RAISE(ABORT, 'a match that was decided stays');
END;

CREATE TRIGGER inbox_done_is_final BEFORE UPDATE OF state ON inbox
WHEN OLD.state = 'done' AND NEW.state <> 'done'
BEGIN
	SELECT RAISE(ABORT, 'an inbound message that was handled stays done');
END;

-- Row counts for status and metrics, maintained by triggers: counting takes seconds in a
-- large store.
CREATE TABLE row_count (
	name  TEXT PRIMARY KEY CHECK (name <> ''),
	count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages are counted by state while they have not ended, and when they are FAILED.
INSERT INTO row_count (name, count) VALUES ('paper', 0), ('filter', 0), ('match', 0),
	('match_pending', 0), ('next held', 0),
	('subscriber pending', 0), ('subscriber active', 0), ('subscriber paused', 0),
	('subscriber suspended', 0), ('subscriber gone', 0),
	('outbox NEW', 0), ('outbox SENDING', 0), ('outbox DEFERRED', 0),
	('outbox UNKNOWN', 0), ('outbox HELD', 0), ('outbox FAILED', 0),
	('held restore', 0), ('held operator', 0), ('held crash', 0);

CREATE TRIGGER paper_count_insert AFTER INSERT ON paper
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'paper';
END;

CREATE TRIGGER paper_count_delete AFTER DELETE ON paper
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'paper';
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

CREATE TRIGGER match_pending_count_insert AFTER INSERT ON match_pending
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'match_pending';
END;

CREATE TRIGGER match_pending_count_delete AFTER DELETE ON match_pending
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'match_pending';
END;

CREATE TRIGGER match_count_insert AFTER INSERT ON match
BEGIN
	UPDATE row_count SET count = count + (1 + length(NEW.papers) - length(replace(NEW.papers, ',', '')))
	WHERE name = 'match';
END;

CREATE TRIGGER match_count_update AFTER UPDATE OF papers ON match
BEGIN
	UPDATE row_count SET count = count - (1 + length(OLD.papers) - length(replace(OLD.papers, ',', '')))
		+ (1 + length(NEW.papers) - length(replace(NEW.papers, ',', '')))
	WHERE name = 'match';
END;

CREATE TRIGGER match_count_delete AFTER DELETE ON match
BEGIN
	UPDATE row_count SET count = count - (1 + length(OLD.papers) - length(replace(OLD.papers, ',', '')))
	WHERE name = 'match';
END;

CREATE TRIGGER subscriber_count_insert AFTER INSERT ON subscriber
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'subscriber ' || NEW.state;
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.is_next_held AND NEW.state = 'active', 'next held', '');
END;

CREATE TRIGGER subscriber_count_update AFTER UPDATE OF state, is_next_held ON subscriber
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'subscriber ' || OLD.state;
	UPDATE row_count SET count = count + 1
	WHERE name = 'subscriber ' || NEW.state;
	UPDATE row_count SET count = count - 1
	WHERE name = iif(OLD.is_next_held AND OLD.state = 'active', 'next held', '');
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.is_next_held AND NEW.state = 'active', 'next held', '');
END;

CREATE TRIGGER subscriber_count_delete AFTER DELETE ON subscriber
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'subscriber ' || OLD.state;
	UPDATE row_count SET count = count - 1
	WHERE name = iif(OLD.is_next_held AND OLD.state = 'active', 'next held', '');
END;

CREATE TRIGGER outbox_count_insert AFTER INSERT ON outbox
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.ended_at IS NULL OR NEW.state = 'FAILED', 'outbox ' || NEW.state, '');
END;

CREATE TRIGGER outbox_count_update AFTER UPDATE OF state, ended_at ON outbox
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = iif(OLD.ended_at IS NULL OR OLD.state = 'FAILED', 'outbox ' || OLD.state, '');
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.ended_at IS NULL OR NEW.state = 'FAILED', 'outbox ' || NEW.state, '');
END;

CREATE TRIGGER outbox_count_delete AFTER DELETE ON outbox
WHEN OLD.ended_at IS NULL OR OLD.state = 'FAILED'
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'outbox ' || OLD.state;
END;

CREATE TRIGGER outbox_count_held AFTER INSERT ON outbox
WHEN NEW.state = 'HELD'
BEGIN
	UPDATE row_count SET count = count + 1
	WHERE name = 'held ' || NEW.held_why;
END;

CREATE TRIGGER outbox_count_hold AFTER UPDATE OF state, held_why ON outbox
WHEN OLD.state = 'HELD' OR NEW.state = 'HELD'
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = iif(OLD.state = 'HELD', 'held ' || OLD.held_why, '');
	UPDATE row_count SET count = count + 1
	WHERE name = iif(NEW.state = 'HELD', 'held ' || NEW.held_why, '');
END;

CREATE TRIGGER outbox_count_unheld AFTER DELETE ON outbox
WHEN OLD.state = 'HELD'
BEGIN
	UPDATE row_count SET count = count - 1
	WHERE name = 'held ' || OLD.held_why;
END;
