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
	categories    TEXT, -- one per line, primary first
	comment       TEXT,
	journal       TEXT, -- its names, one per line: the full one, abbreviations
	doi           TEXT,
	pmid          TEXT, -- of PubMed
	pmcid         TEXT, -- of PubMed Central: PMC...
	mesh          TEXT, -- Medical Subject Headings, one per line
	published_at  INTEGER,
	upvotes       INTEGER CHECK (upvotes >= 0),
	upvotes_day   TEXT -- when they were read last, UTC
		CHECK (upvotes_day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	upvotes_before INTEGER, -- the last number read on the day before that; NULL: none
	comments      INTEGER CHECK (comments >= 0),
	stars         INTEGER CHECK (stars >= 0),
	source_rank        INTEGER NOT NULL DEFAULT 0 CHECK (source_rank BETWEEN 0 AND 2), -- of its text
	fetched_at       INTEGER NOT NULL, -- when the changing fields were read
	first_seen_at INTEGER NOT NULL,
	last_day      TEXT NOT NULL CHECK (last_day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
	replacement   INTEGER NOT NULL DEFAULT 0 CHECK (replacement >= 0), -- newest version announced as one; 0: none
	revision      INTEGER NOT NULL UNIQUE, -- increasing; a new one when all filters have to be matched with it again
	is_revised    INTEGER NOT NULL DEFAULT 0 CHECK (is_revised IN (0, 1)), -- it is not the first revision
	is_changed    INTEGER NOT NULL DEFAULT 0 CHECK (is_changed IN (0, 1)),
	-- Sets of services (enum paper_lookup): those that have reported the paper, and
	-- those to be asked about it.
	looked_up     INTEGER NOT NULL DEFAULT 0 CHECK (looked_up >= 0),
	awaited       INTEGER NOT NULL DEFAULT 0 CHECK (awaited >= 0),
	-- Missing values stay unknown until then, since a service fails; 0: for two hours
	delayed_until INTEGER NOT NULL DEFAULT 0,
	-- The lowest seq of all records of its work (src/store/paper/works.h); NULL: it is
	-- the only one.
	work          INTEGER CHECK (work <= seq)
) STRICT;
CREATE INDEX paper_work ON paper (work) WHERE work IS NOT NULL;
CREATE INDEX paper_changed ON paper (seq) WHERE is_changed = 1;
CREATE INDEX paper_last_day ON paper (last_day, revision);

-- Votes and age of papers, for the rank in a search.
CREATE INDEX paper_rank ON paper (seq, upvotes, last_day);
CREATE INDEX paper_awaited ON paper (first_seen_at) WHERE awaited <> 0;

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

-- Other records of the same work, as services say, also of papers that are not here yet;
-- and those that an operator has split from it.
CREATE TABLE paper_link (
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	name      TEXT NOT NULL CHECK (name <> ''), -- as in paper_alias
	is_same   INTEGER NOT NULL CHECK (is_same IN (0, 1)),
	PRIMARY KEY (paper_seq, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_link_name ON paper_link (name);
CREATE INDEX paper_link_split ON paper_link (paper_seq) WHERE is_same = 0;

-- What became of papers that were stored before, in the order in which that was noticed;
-- without retractions only of those that somebody watches, and their works.
CREATE TABLE paper_event (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	kind      TEXT NOT NULL CHECK (kind = 'retracted' OR kind = 'published'
		OR kind = 'version' OR kind = 'code'),
	version   INTEGER NOT NULL CHECK (version >= 0), -- of 'version'; else 0
	at        INTEGER NOT NULL,
	UNIQUE (paper_seq, kind, version)
) STRICT;
CREATE INDEX paper_event_at ON paper_event (at);

-- The last change of each paper or its listings, also of papers that were deleted.
CREATE TABLE paper_change (
	paper_seq INTEGER PRIMARY KEY, -- of paper
	number    INTEGER NOT NULL -- of the cursor 'paper changes'
) STRICT;
CREATE INDEX paper_change_number ON paper_change (number);

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

CREATE VIRTUAL TABLE paper_fts USING fts5 (title, abstract, authors, id, doi, categories,
	organization, keywords, comment, journal, pmid, pmcid, mesh,
	content = 'paper', content_rowid = 'seq', tokenize = 'bigram');

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
CREATE INDEX acronym_long ON acronym (long);

-- The configured source lists, as last seen by the collector.
CREATE TABLE source_list (
	position    INTEGER PRIMARY KEY,
	name        TEXT NOT NULL UNIQUE CHECK (name <> ''), -- as in source_fetch.source
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
CREATE INDEX source_fetch_source ON source_fetch (source);
CREATE INDEX source_fetch_time ON source_fetch (fetched_at);

CREATE TABLE filter (
	id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a cache of matches
	-- The revision of the papers through which it has seen them; NULL: batched, up to
	-- the cursor 'matched'.
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
	wrote_at     INTEGER, -- last mail or change on a page; NULL: never
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
	feedback     TEXT NOT NULL DEFAULT 'off' -- links for answers in each entry of a digest
		CHECK (feedback = 'off' OR feedback = 'on'),
	-- A monthly report on the filters, and when it is due (subscribers_insert()).
	checkup      TEXT NOT NULL DEFAULT 'on' CHECK (checkup = 'on' OR checkup = 'off'),
	checkup_at   INTEGER NOT NULL DEFAULT 0,
	-- Of the records of a work: the first that is sent, or all.
	versions     TEXT NOT NULL DEFAULT 'one' CHECK (versions = 'one' OR versions = 'all'),
	-- Of watched papers.
	retractions  TEXT NOT NULL DEFAULT 'digest'
		CHECK (retractions = 'digest' OR retractions = 'mail'),
	CHECK (state <> 'active' OR (consent_at IS NOT NULL AND ifnull(consent_text, '') <> '')),
	CHECK (state <> 'gone' OR next_due_at IS NULL)
) STRICT;
CREATE INDEX subscriber_due ON subscriber (next_due_at, id) WHERE state = 'active';
CREATE INDEX subscriber_pause_end ON subscriber (next_due_at, id) WHERE paused_until IS NOT NULL;

-- Somebody waits for these digests: they are built before the others.
CREATE INDEX subscriber_urgent ON subscriber (next_due_at, id)
	WHERE state = 'active' AND (is_first_due = 1 OR frequency = 'now');
CREATE INDEX subscriber_checkup ON subscriber (checkup_at, id)
	WHERE state = 'active' AND checkup = 'on';
CREATE INDEX subscriber_held ON subscriber (state, id) WHERE is_next_held = 1;
CREATE INDEX subscriber_inactive ON subscriber (state) WHERE state <> 'active';

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

CREATE TABLE match_pending (
	filter_id  INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	paper_seq  INTEGER NOT NULL REFERENCES paper (seq),
	decided_at INTEGER NOT NULL,
	due_at     INTEGER NOT NULL, -- when it is decided again
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
	-- No IN with three or more strings: SQLite would build a temporary table for each
	-- row written.
	state         TEXT NOT NULL CHECK (state = 'live' OR state = 'sent' OR state = 'failed'
		OR state = 'cancelled'),
	papers        INTEGER NOT NULL CHECK (papers >= 0), -- 0: a notice that there are none
	newest_day    TEXT NOT NULL, -- of the papers; without any, its own date
	-- Style, filters, papers and reasons (src/model/digest_contents.h).
	contents      BLOB NOT NULL CHECK (contents <> x''),
	event_id      INTEGER NOT NULL DEFAULT 0, -- the newest of papers; 0: none
	UNIQUE (subscriber_id, slot)
) STRICT;
CREATE INDEX digest_created ON digest (created_at) WHERE state <> 'live';
CREATE INDEX digest_live ON digest (subscriber_id) WHERE state = 'live';

-- By subscriber, since all of a subscriber are read together.
CREATE TABLE delivered (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	-- Papers and their versions: the head of the contents of the digest.  Subscribers
	-- with updates also get later versions.
	papers        BLOB NOT NULL CHECK (papers <> x''),
	PRIMARY KEY (subscriber_id, digest_id)
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
	held_why      TEXT CHECK (held_why = 'restore' OR held_why = 'operator' OR held_why = 'crash'),
	-- Stage of SMTP at which it failed (src/transport/delivery.h), until the failure is
	-- classified as a bounce.
	failed_stage  INTEGER CHECK (failed_stage IS NULL OR state = 'FAILED'),
	returned      INTEGER NOT NULL DEFAULT 0 CHECK (returned >= 0), -- by reports, and sent again
	-- Higher ones are claimed first (enum outbox_priority of src/store/mail/outbox.h).
	priority      INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 3),
	holder        INTEGER, -- the instance that claimed it last; while it is SENDING, its holder
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
CREATE INDEX outbox_address ON outbox (address_key) WHERE address_key IS NOT NULL;
CREATE INDEX outbox_sending ON outbox (id) WHERE state = 'SENDING';
CREATE INDEX outbox_live ON outbox (subscriber_id, state) WHERE ended_at IS NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX outbox_oldest ON outbox (queued_at, id)
	WHERE ended_at IS NULL AND state <> 'HELD';
CREATE INDEX outbox_failed ON outbox (ended_at) WHERE state = 'FAILED';
CREATE INDEX outbox_unclassified ON outbox (id) WHERE failed_stage IS NOT NULL;
CREATE INDEX outbox_priority ON outbox (priority, next_try_at, id)
	WHERE priority > 0 AND next_try_at IS NOT NULL;
CREATE INDEX outbox_retried ON outbox (state, queued_at, id)
	WHERE ended_at IS NULL AND (state = 'DEFERRED' OR state = 'UNKNOWN');
CREATE INDEX outbox_held ON outbox (held_why, id) WHERE state = 'HELD';

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
	purpose       TEXT NOT NULL CHECK (purpose IN ('confirm', 'undo', 'address', 'forget',
		'approval', 'invitation')),
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
		'owner', 'left', 'link', 'typed', 'invitation')),
	address_hash TEXT NOT NULL CHECK (length(address_hash) = 64),
	domain_hash  TEXT NOT NULL CHECK (length(domain_hash) = 64),
	at     INTEGER NOT NULL,
	-- How a request came in, for limits per domain and on all (src/store/mail/rate_log.h).
	budget TEXT NOT NULL DEFAULT 'mail'
		CHECK (budget = 'mail' OR budget = 'verified' OR budget = 'page')
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
INSERT INTO cursor (name, value) VALUES ('matches', 0);

-- Empty except in a backup, which contains its key, and until a restored or rotated key
-- has been written to the key file.
CREATE TABLE backup (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	made_at INTEGER NOT NULL,
	key     TEXT NOT NULL -- hexadecimal: the key in use, then the retired ones
		CHECK (length(key) BETWEEN 64 AND 1024 AND length(key) % 64 = 0),
	oauth   TEXT -- the file of OAuth logins
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

CREATE TABLE paper_moved (
	old_seq INTEGER PRIMARY KEY,
	new_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT;
CREATE INDEX paper_moved_new ON paper_moved (new_seq);

-- Papers that a subscriber liked or hid; the newest answer counts.
CREATE TABLE feedback (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	is_like       INTEGER NOT NULL CHECK (is_like BETWEEN 0 AND 1),
	at            INTEGER NOT NULL,
	source        TEXT NOT NULL CHECK (source = 'mail' OR source = 'page'
		OR source = 'operator'),
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_paper ON feedback (paper_seq);

-- Papers of which a subscriber wants to know what becomes of them.
CREATE TABLE watch (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	since         INTEGER NOT NULL,
	until         INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_paper ON watch (paper_seq);
CREATE INDEX watch_until ON watch (until);

-- Retractions that a mail of their own has reported: no digest does.
CREATE TABLE retraction_mail (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	event_id      INTEGER NOT NULL REFERENCES paper_event (id) ON DELETE CASCADE,
	PRIMARY KEY (subscriber_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX retraction_mail_event ON retraction_mail (event_id);

-- When services (enum paper_lookup) were asked last what became of watched papers.
CREATE TABLE watch_check (
	service       INTEGER NOT NULL,
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	at            INTEGER NOT NULL,
	PRIMARY KEY (service, paper_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_check_paper ON watch_check (paper_seq);
CREATE INDEX watch_check_at ON watch_check (at);

-- Works that a subscriber knows already, by names as in paper_alias, also of papers that
-- are not here yet.
CREATE TABLE known (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	name          TEXT NOT NULL CHECK (name <> ''),
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, name)
) STRICT, WITHOUT ROWID;

-- Weighted words of a subscriber, learned from these answers (src/model/taste_vector.h).
-- They order papers: each digest reads them.
CREATE TABLE taste (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	learned_at    INTEGER NOT NULL,
	words         BLOB NOT NULL CHECK (words <> x'')
) STRICT;

-- Commands proposed to a subscriber: "yes 2" applies one, "no 2" refuses it for good.
CREATE TABLE proposal (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	subscriber_id   INTEGER NOT NULL REFERENCES subscriber (id),
	number          INTEGER NOT NULL CHECK (number >= 1), -- the subscriber's
	subscription_id INTEGER NOT NULL, -- the filter that it changes, maybe gone; 0: none
	filter          TEXT NOT NULL,    -- its number and text: void once they differ
	term            TEXT NOT NULL,    -- what a refusal applies to
	command         TEXT NOT NULL CHECK (command <> ''),
	gained          INTEGER NOT NULL CHECK (gained >= 0), -- papers in these days
	lost            INTEGER NOT NULL CHECK (lost >= 0),
	days            INTEGER NOT NULL CHECK (days >= 0),
	title           TEXT NOT NULL, -- of the latest of these papers
	-- The message that showed it last, as the local part of its Message-ID; '': none.
	shown_in        TEXT NOT NULL DEFAULT '',
	made_at         INTEGER NOT NULL,
	expires_at      INTEGER NOT NULL,
	ended_at        INTEGER CHECK ((ended_at IS NULL) = (state = 'open')),
	state           TEXT NOT NULL CHECK (state = 'open' OR state = 'applied'
		OR state = 'undone' OR state = 'refused'),
	settings        TEXT -- once applied: lines that restore changed settings
) STRICT;
CREATE INDEX proposal_subscriber ON proposal (subscriber_id, number);
CREATE INDEX proposal_expires ON proposal (expires_at);

-- The filters that an applied proposal changed, before and after: columns as in
-- subscription, filter and follow.
CREATE TABLE proposal_change (
	proposal_id     INTEGER NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
	subscription_id INTEGER NOT NULL,
	is_after        INTEGER NOT NULL CHECK (is_after BETWEEN 0 AND 1),
	number          INTEGER NOT NULL,
	name            TEXT,
	text            TEXT NOT NULL,
	canonical       TEXT NOT NULL,
	since_day       TEXT NOT NULL,
	created_at      INTEGER NOT NULL,
	is_block        INTEGER NOT NULL,
	max_papers      INTEGER,
	note            TEXT,
	share_id        INTEGER, -- what the filter before followed; NULL: nothing
	version         INTEGER,
	is_fork         INTEGER,
	PRIMARY KEY (proposal_id, subscription_id, is_after)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_change_share ON proposal_change (share_id, version)
	WHERE share_id IS NOT NULL;

-- Filters that others can follow by their name (src/store/subscriber/shares.h).
CREATE TABLE share (
	id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: in restored backups
	name            TEXT NOT NULL UNIQUE CHECK (name GLOB '[a-z]*')
		CHECK (name NOT GLOB '*[^a-z0-9-]*'),
	-- The owner's.  Deferred: undo deletes and restores subscriptions.
	subscription_id INTEGER NOT NULL UNIQUE REFERENCES subscription (id)
		DEFERRABLE INITIALLY DEFERRED,
	version         INTEGER NOT NULL CHECK (version >= 1), -- the newest one
	created_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE share_version (
	share_id   INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
	version    INTEGER NOT NULL CHECK (version >= 1),
	text       TEXT NOT NULL CHECK (text <> ''), -- as the owner typed it
	created_at INTEGER NOT NULL,
	PRIMARY KEY (share_id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX share_version_created ON share_version (created_at);

-- Filters that follow a shared one, or were copied from it.
CREATE TABLE follow (
	subscription_id INTEGER PRIMARY KEY REFERENCES subscription (id) ON DELETE CASCADE
		DEFERRABLE INITIALLY DEFERRED,
	subscriber_id   INTEGER NOT NULL REFERENCES subscriber (id),
	share_id        INTEGER REFERENCES share (id), -- NULL: no longer shared
	version         INTEGER NOT NULL CHECK (version >= 1), -- that the filter has
	is_fork         INTEGER NOT NULL CHECK (is_fork BETWEEN 0 AND 1),
	-- The version that the subscriber has to be told of, 0: the end; NULL: none.
	news            INTEGER CHECK (news >= 0),
	CHECK (is_fork = 0 OR (share_id IS NOT NULL AND news IS NULL))
) STRICT;
CREATE INDEX follow_share ON follow (share_id);
CREATE INDEX follow_news ON follow (subscriber_id) WHERE news IS NOT NULL;
CREATE INDEX follow_change ON follow (share_id, version, news) WHERE news > 0;

-- Effect of a new version on filters with an older one.
CREATE TABLE share_change (
	share_id     INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
	from_version INTEGER NOT NULL,
	to_version   INTEGER NOT NULL,
	added        TEXT NOT NULL, -- clauses, one a line
	removed      TEXT NOT NULL, -- clauses, one a line
	gained       INTEGER NOT NULL CHECK (gained >= 0), -- papers of 30 days
	lost         INTEGER NOT NULL CHECK (lost >= 0),
	PRIMARY KEY (share_id, from_version, to_version)
) STRICT, WITHOUT ROWID;

-- Runs of paperboyd, and the end of their leases (src/store/core/instances.h).
CREATE TABLE instance (
	id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: holders
	name       TEXT NOT NULL CHECK (name <> ''), -- host and state directory
	program    TEXT NOT NULL, -- version
	started_at INTEGER NOT NULL,
	expires_at INTEGER -- NULL: while it runs
) STRICT;

-- Work that one instance at a time does (src/store/core/jobs.h).
CREATE TABLE job (
	name   TEXT PRIMARY KEY,
	holder INTEGER -- instance; NULL: never taken
) STRICT, WITHOUT ROWID;

-- A retry sends the same bytes.
CREATE TRIGGER outbox_mail_frozen BEFORE UPDATE OF kind, recipient, sender, message ON outbox
WHEN NEW.kind <> OLD.kind OR NEW.recipient IS NOT OLD.recipient
	OR NEW.sender IS NOT OLD.sender
	OR (NEW.message IS NOT OLD.message AND NEW.message IS NOT NULL)
BEGIN
	SELECT RAISE(ABORT, 'the content of a message is frozen');
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

CREATE TRIGGER paper_deleted_unmerged BEFORE DELETE ON paper
WHEN NOT EXISTS (SELECT 1 FROM paper_moved WHERE old_seq = OLD.seq)
BEGIN
	SELECT RAISE(ABORT, 'only a merged paper is deleted');
END;

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

-- A number that each change of papers advances, for caches and for digests in progress.
-- Its row is locked until the commit, so that numbers are in the order of commits.
CREATE TRIGGER paper_change_insert AFTER INSERT ON paper
BEGIN
	INSERT INTO cursor (name, value) VALUES ('paper changes', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
	INSERT INTO paper_change (paper_seq, number)
	SELECT NEW.seq, value FROM cursor WHERE name = 'paper changes'
	ON CONFLICT (paper_seq) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER paper_change_update AFTER UPDATE ON paper
BEGIN
	INSERT INTO cursor (name, value) VALUES ('paper changes', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
	INSERT INTO paper_change (paper_seq, number)
	SELECT NEW.seq, value FROM cursor WHERE name = 'paper changes'
	ON CONFLICT (paper_seq) DO UPDATE SET number = excluded.number;
END;

CREATE TRIGGER paper_change_delete AFTER DELETE ON paper
BEGIN
	INSERT INTO cursor (name, value) VALUES ('paper changes', 1)
	ON CONFLICT (name) DO UPDATE SET value = value + 1;
	INSERT INTO paper_change (paper_seq, number)
	SELECT OLD.seq, value FROM cursor WHERE name = 'paper changes'
	ON CONFLICT (paper_seq) DO UPDATE SET number = excluded.number;
END;

-- A filter without terms is a candidate for every paper.
CREATE TRIGGER filter_is_indexed AFTER INSERT ON filter
BEGIN
	INSERT INTO filter_term (kind, term, filter_id) VALUES (0, '', NEW.id);
END;

CREATE TRIGGER filter_deletes_matches AFTER DELETE ON filter
BEGIN
	DELETE FROM match WHERE filter_id = OLD.id;
END;

CREATE TRIGGER share_ends BEFORE DELETE ON share
BEGIN
	DELETE FROM follow WHERE share_id = OLD.id AND is_fork = 1;
	UPDATE follow SET share_id = NULL, news = 0 WHERE share_id = OLD.id;
END;

CREATE TRIGGER subscription_unshares BEFORE DELETE ON subscription
BEGIN
	DELETE FROM share WHERE subscription_id = OLD.id;
END;

CREATE TRIGGER paper_fts_insert AFTER INSERT ON paper
BEGIN
	INSERT INTO paper_fts (rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal, pmid, pmcid, mesh)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors, NEW.id, NEW.doi, NEW.categories,
		NEW.organization, NEW.keywords, NEW.comment, NEW.journal, NEW.pmid, NEW.pmcid,
		NEW.mesh);
END;

CREATE TRIGGER paper_fts_update AFTER UPDATE OF title, abstract, authors, id, doi, categories,
	organization, keywords, comment, journal, pmid, pmcid, mesh ON paper
WHEN (OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi, OLD.categories, OLD.organization,
	OLD.keywords, OLD.comment, OLD.journal, OLD.pmid, OLD.pmcid, OLD.mesh) IS NOT (NEW.title, NEW.abstract, NEW.authors,
	NEW.id, NEW.doi, NEW.categories, NEW.organization, NEW.keywords, NEW.comment, NEW.journal, NEW.pmid, NEW.pmcid,
		NEW.mesh)
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal, pmid, pmcid, mesh)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi,
		OLD.categories, OLD.organization, OLD.keywords, OLD.comment, OLD.journal, OLD.pmid,
		OLD.pmcid, OLD.mesh);
	INSERT INTO paper_fts (rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal, pmid, pmcid, mesh)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors, NEW.id, NEW.doi, NEW.categories,
		NEW.organization, NEW.keywords, NEW.comment, NEW.journal, NEW.pmid, NEW.pmcid,
		NEW.mesh);
END;

CREATE TRIGGER paper_fts_delete AFTER DELETE ON paper
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal, pmid, pmcid, mesh)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi,
		OLD.categories, OLD.organization, OLD.keywords, OLD.comment, OLD.journal, OLD.pmid,
		OLD.pmcid, OLD.mesh);
END;
