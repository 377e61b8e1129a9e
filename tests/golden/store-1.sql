PRAGMA application_id = 1885499257;
PRAGMA user_version = 1;
PRAGMA writable_schema = ON;
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
INSERT INTO paper VALUES (1, '2611.00000', 'Made-up paper number 0', 'It was made up.', NULL, 'Ada Example', 'https://huggingface.co/papers/2611.00000', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1794873600, 1, '2026-11-20', NULL, 0, NULL, 1, 1795161600, 1795161600, '2026-11-20', 0, 1, 0, 0, 0, 1, 0, NULL);
INSERT INTO paper VALUES (2, '2611.00001', 'Made-up paper number 1', 'It was made up.', NULL, 'Ada Example', 'https://huggingface.co/papers/2611.00001', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1794873600, 1, '2026-11-20', NULL, 0, NULL, 1, 1795161600, 1795161600, '2026-11-20', 0, 2, 0, 0, 0, 1, 0, NULL);
INSERT INTO paper VALUES (3, '2611.00002', 'Made-up paper number 2', 'It was made up.', NULL, 'Ada Example', 'https://huggingface.co/papers/2611.00002', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1794873600, 1, '2026-11-20', NULL, 0, NULL, 1, 1795161600, 1795161600, '2026-11-20', 0, 3, 0, 0, 0, 1, 0, NULL);
INSERT INTO paper VALUES (4, '2611.00003', 'Made-up paper number 3', 'It was made up.', NULL, 'Ada Example', 'https://huggingface.co/papers/2611.00003', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1794873600, 1, '2026-11-20', NULL, 0, NULL, 1, 1795161600, 1795161600, '2026-11-20', 0, 4, 0, 0, 0, 1, 0, NULL);
INSERT INTO sqlite_sequence VALUES ('subscriber', 3);
INSERT INTO sqlite_sequence VALUES ('filter', 6);
INSERT INTO sqlite_sequence VALUES ('instance', 2);
INSERT INTO sqlite_sequence VALUES ('paper', 4);
INSERT INTO sqlite_sequence VALUES ('digest', 3);
INSERT INTO sqlite_sequence VALUES ('outbox', 3);
INSERT INTO sqlite_sequence VALUES ('paper_event', 1);
INSERT INTO sqlite_sequence VALUES ('confirmation', 1);
INSERT INTO sqlite_sequence VALUES ('inbox', 2);
INSERT INTO sqlite_sequence VALUES ('proposal', 1);
INSERT INTO sqlite_sequence VALUES ('share', 1);
CREATE TABLE paper_alias (
	name      TEXT PRIMARY KEY CHECK (name <> ''),
	paper_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT, WITHOUT ROWID;
INSERT INTO paper_alias VALUES ('2611.00000', 1);
INSERT INTO paper_alias VALUES ('2611.00001', 2);
INSERT INTO paper_alias VALUES ('2611.00002', 3);
INSERT INTO paper_alias VALUES ('2611.00003', 4);
CREATE TABLE paper_duplicate (
	one_seq   INTEGER NOT NULL REFERENCES paper (seq),
	other_seq INTEGER NOT NULL REFERENCES paper (seq),
	PRIMARY KEY (one_seq, other_seq),
	CHECK (one_seq < other_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO paper_duplicate VALUES (1, 2);
CREATE TABLE paper_link (
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	name      TEXT NOT NULL CHECK (name <> ''), -- as in paper_alias
	is_same   INTEGER NOT NULL CHECK (is_same IN (0, 1)),
	PRIMARY KEY (paper_seq, name)
) STRICT, WITHOUT ROWID;
INSERT INTO paper_link VALUES (1, 'doi:10.1101/1', 1);
CREATE TABLE paper_event (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	paper_seq INTEGER NOT NULL REFERENCES paper (seq),
	kind      TEXT NOT NULL CHECK (kind = 'retracted' OR kind = 'published'
		OR kind = 'version' OR kind = 'code'),
	version   INTEGER NOT NULL CHECK (version >= 0), -- of 'version'; else 0
	at        INTEGER NOT NULL,
	UNIQUE (paper_seq, kind, version)
) STRICT;
INSERT INTO paper_event VALUES (1, 1, 'version', 2, 5);
CREATE TABLE paper_change (
	paper_seq INTEGER PRIMARY KEY, -- of paper
	number    INTEGER NOT NULL -- of the cursor 'paper changes'
) STRICT;
INSERT INTO paper_change VALUES (1, 1);
INSERT INTO paper_change VALUES (2, 2);
INSERT INTO paper_change VALUES (3, 3);
INSERT INTO paper_change VALUES (4, 4);
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
INSERT INTO listing VALUES ('hf', '2026-11-20', 1, 'new', NULL, 1, 1795161600);
INSERT INTO listing VALUES ('hf', '2026-11-20', 2, 'new', NULL, 1, 1795161600);
INSERT INTO listing VALUES ('hf', '2026-11-20', 3, 'new', NULL, 1, 1795161600);
INSERT INTO listing VALUES ('hf', '2026-11-20', 4, 'new', NULL, 1, 1795161600);
INSERT INTO sqlite_schema VALUES ('table', 'paper_fts', 'paper_fts', 0, 'CREATE VIRTUAL TABLE paper_fts USING fts5 (title, abstract, authors, id, doi, categories,
	organization, keywords, comment, journal, pmid, pmcid, mesh,
	content = ''paper'', content_rowid = ''seq'', tokenize = ''bigram'')');
CREATE TABLE 'paper_fts_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO paper_fts_data VALUES (1, X'0414100808000000000000000000');
INSERT INTO paper_fts_data VALUES (10, X'000000000104040004010101020101030101040101');
INSERT INTO paper_fts_data VALUES (137438953473, X'00000076023030010206020430303030010601030301043236313101060103020103616461010601020201076578616D706C65010601020301026974010601010201046D61646501080201010401066E756D62657201020501057061706572010204010275700108030101050103776173010601010304060B0B0A0E090C0B0A0A');
INSERT INTO paper_fts_data VALUES (274877906945, X'0000007706303030303031020601030301013102020601043236313102060103020103616461020601020201076578616D706C65020601020301026974020601010201046D61646502080201010401066E756D626572020205010570617065720202040102757002080301010501037761730206010103040C060B0A0E090C0B0A0A');
INSERT INTO paper_fts_data VALUES (412316860417, X'00000076063030303030320306010303010132030206020336313103060103020103616461030601020201076578616D706C65030601020301026974030601010201046D61646503080201010401066E756D626572030205010570617065720302040102757003080301010501037761730306010103040C060A0A0E090C0B0A0A');
INSERT INTO paper_fts_data VALUES (549755813889, X'0000007706303030303033040601030301043236313104060103020101330402060103616461040601020201076578616D706C65040601020301026974040601010201046D61646504080201010401066E756D626572040205010570617065720402040102757004080301010501037761730406010103040C0B060A0E090C0B0A0A');
CREATE TABLE 'paper_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO paper_fts_idx VALUES (1, X'', 2);
INSERT INTO paper_fts_idx VALUES (2, X'', 2);
INSERT INTO paper_fts_idx VALUES (3, X'', 2);
INSERT INTO paper_fts_idx VALUES (4, X'', 2);
CREATE TABLE 'paper_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO paper_fts_docsize VALUES (1, X'05040202000000000000000000');
INSERT INTO paper_fts_docsize VALUES (2, X'05040202000000000000000000');
INSERT INTO paper_fts_docsize VALUES (3, X'05040202000000000000000000');
INSERT INTO paper_fts_docsize VALUES (4, X'05040202000000000000000000');
CREATE TABLE 'paper_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO paper_fts_config VALUES ('version', 4);
CREATE TABLE vocabulary (
	text   TEXT PRIMARY KEY CHECK (text <> ''),
	folded TEXT NOT NULL CHECK (folded <> ''),
	papers INTEGER NOT NULL CHECK (papers >= 1)
) STRICT, WITHOUT ROWID;
INSERT INTO vocabulary VALUES ('0', '0', 1);
INSERT INTO vocabulary VALUES ('1', '1', 1);
INSERT INTO vocabulary VALUES ('2', '2', 1);
INSERT INTO vocabulary VALUES ('3', '3', 1);
INSERT INTO vocabulary VALUES ('it', 'it', 4);
INSERT INTO vocabulary VALUES ('made', 'made', 4);
INSERT INTO vocabulary VALUES ('number', 'number', 4);
INSERT INTO vocabulary VALUES ('paper', 'paper', 4);
INSERT INTO vocabulary VALUES ('up', 'up', 4);
INSERT INTO vocabulary VALUES ('was', 'was', 4);
CREATE TABLE acronym (
	short  TEXT NOT NULL CHECK (short <> ''), -- folded: lora
	long   TEXT NOT NULL CHECK (long <> ''),  -- folded: low rank adaptation
	shown  TEXT NOT NULL CHECK (shown <> ''), -- as the first paper wrote the long one
	papers INTEGER NOT NULL CHECK (papers >= 1),
	PRIMARY KEY (short, long)
) STRICT, WITHOUT ROWID;
INSERT INTO acronym VALUES ('lora', 'low rank adaptation', 'low-rank adaptation', 2);
CREATE TABLE source_list (
	position    INTEGER PRIMARY KEY,
	name        TEXT NOT NULL UNIQUE CHECK (name <> ''), -- as in source_fetch.source
	label       TEXT NOT NULL CHECK (label <> ''),
	expected_by INTEGER CHECK (expected_by BETWEEN 0 AND 1439), -- minute of a working day
	wait_s      INTEGER NOT NULL CHECK (wait_s >= 0)
) STRICT;
INSERT INTO source_list VALUES (0, 'hf', 'Hugging Face', 600, 3600);
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
INSERT INTO source_fetch VALUES (1, 'hf', '2026-11-20', 1795161600, 'ok', NULL, 4, 4, '9453c1668eea9ed26cd9ceae41287e75a79e62fbfe0acdb8f00bc605384f92b1', NULL, 0);
INSERT INTO source_fetch VALUES (2, 'hf', '2026-11-19', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (3, 'hf', '2026-11-18', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (4, 'hf', '2026-11-17', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (5, 'hf', '2026-11-16', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (6, 'hf', '2026-11-15', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (7, 'hf', '2026-11-14', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (8, 'hf', '2026-11-13', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (9, 'hf', '2026-11-12', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (10, 'hf', '2026-11-11', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (11, 'hf', '2026-11-10', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (12, 'hf', '2026-11-09', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (13, 'hf', '2026-11-08', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (14, 'hf', '2026-11-07', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
INSERT INTO source_fetch VALUES (15, 'hf', '2026-11-06', 1795161600, 'not-yet', NULL, 0, 0, NULL, NULL, 0);
CREATE TABLE filter (
	id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a cache of matches
	-- The revision of the papers through which it has seen them; NULL: batched, up to
	-- the cursor 'matched'.
	matched_revision INTEGER,
	canonical       TEXT NOT NULL UNIQUE CHECK (canonical <> ''),
	hash            TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	created_at      INTEGER NOT NULL
) STRICT;
INSERT INTO filter VALUES (1, NULL, 'paper', '382635c9325bf3273d195ff1b8a44e5b11afd7d97addeb8863ea35feb98c1a07', 1795154400);
INSERT INTO filter VALUES (4, NULL, 'paper AND upvotes:>=99', '8ad39a523bb3b04512fb11950a237a20536482895136a5ef85306a8fb3bad6ae', 1795154400);
INSERT INTO filter VALUES (5, NULL, 'made', 'ea0890697a77af0a2e054cccec587c8a42feb5cf38e778c6c6e2a96bfb945c0b', 1795154400);
INSERT INTO filter VALUES (6, NULL, 'zebra', '676cb75018edccf10fce6f376f2124e02c3293fa3fe8f953c75386198c714514', 1795154400);
CREATE TABLE filter_term (
	kind      INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4),
	term      TEXT NOT NULL CHECK ((term = '') = (kind = 0)),
	filter_id INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	PRIMARY KEY (kind, term, filter_id)
) STRICT, WITHOUT ROWID;
INSERT INTO filter_term VALUES (1, 'paper', 1);
INSERT INTO filter_term VALUES (1, 'paper', 4);
INSERT INTO filter_term VALUES (1, 'made', 5);
INSERT INTO filter_term VALUES (1, 'zebra', 6);
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
INSERT INTO subscriber VALUES (1, 'ada@example.org', 'ada@example.org', NULL, 'active', 'daily', 127, 450, 'UTC', 20, 'score', 'brief', 'both', 'off', 'off', 'on', 'none', 'off', NULL, NULL, 1795154400, NULL, NULL, 1, 1795154400, 'asked for it', 0, 1795246200, NULL, 0, 'on', 'on', 1, 'one', 'digest');
INSERT INTO subscriber VALUES (2, 'bob@example.org', 'bob@example.org', NULL, 'active', 'daily', 127, 450, 'UTC', 20, 'score', 'brief', 'both', 'off', 'off', 'on', 'none', 'off', NULL, NULL, 1795154400, NULL, NULL, 1, 1795154400, 'asked for it', 0, 1795246200, NULL, 0, 'on', 'on', 1, 'one', 'digest');
INSERT INTO subscriber VALUES (3, 'eve@example.org', 'eve@example.org', NULL, 'active', 'daily', 127, 450, 'UTC', 20, 'score', 'brief', 'both', 'off', 'off', 'on', 'none', 'off', NULL, NULL, 1795154400, NULL, NULL, 1, 1795154400, 'asked for it', 0, 1795246200, NULL, 0, 'on', 'on', 1, 'one', 'digest');
CREATE TABLE erased (
	number INTEGER PRIMARY KEY -- subscriber.id, never used twice
) STRICT;
INSERT INTO erased VALUES (99);
CREATE TABLE suppression (
	hash   TEXT PRIMARY KEY CHECK (length(hash) = 64),
	reason TEXT NOT NULL CHECK (reason IN ('operator', 'never-again', 'complaint', 'dead')),
	at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO suppression VALUES ('0000000000000000000000000000000000000000000000000000000000000000', 'dead', 1);
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
INSERT INTO subscription VALUES (1, 1, 1, 1, NULL, 'paper', '2026-11-17', 1795154400, 0, NULL, NULL);
INSERT INTO subscription VALUES (2, 2, 1, 1, NULL, 'paper', '2026-11-17', 1795154400, 0, NULL, NULL);
INSERT INTO subscription VALUES (3, 3, 1, 1, NULL, 'paper', '2026-11-17', 1795154400, 0, NULL, NULL);
INSERT INTO subscription VALUES (4, 1, 2, 4, NULL, 'paper upvotes:>=99', '2026-11-17', 1795154400, 0, NULL, NULL);
INSERT INTO subscription VALUES (5, 1, 3, 5, NULL, 'made', '2026-11-17', 1795154400, 0, NULL, NULL);
INSERT INTO subscription VALUES (6, 1, 4, 6, NULL, 'zebra', '2026-11-17', 1795154400, 1, NULL, NULL);
CREATE TABLE match (
	filter_id  INTEGER NOT NULL, -- of filter
	decided_at INTEGER NOT NULL,
	papers     TEXT NOT NULL CHECK (papers GLOB '[1-9]*'), -- paper.seq, joined by commas
	PRIMARY KEY (filter_id, decided_at)
) STRICT, WITHOUT ROWID;
INSERT INTO match VALUES (1, 1795161600, '1,2,3,4');
INSERT INTO match VALUES (5, 1795161600, '1,2,3,4');
CREATE TABLE match_pending (
	filter_id  INTEGER NOT NULL REFERENCES filter (id) ON DELETE CASCADE,
	paper_seq  INTEGER NOT NULL REFERENCES paper (seq),
	decided_at INTEGER NOT NULL,
	due_at     INTEGER NOT NULL, -- when it is decided again
	PRIMARY KEY (filter_id, paper_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO match_pending VALUES (4, 1, 1795161600, 1796371200);
INSERT INTO match_pending VALUES (4, 2, 1795161600, 1796371200);
INSERT INTO match_pending VALUES (4, 3, 1795161600, 1796371200);
INSERT INTO match_pending VALUES (4, 4, 1795161600, 1796371200);
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
INSERT INTO digest VALUES (1, 1, 'first-1795154400', '2026-11-20', 'xcw565ye7ii37ly2x', 1795161600, 'sent', 4, '2026-11-20', X'01040100020003000400000000000048756767696E6720466163653A2034206E65772070617065727320636865636B65640057656C636F6D652E2054686573652061726520746865206C61737420746872656520646179733B2066726F6D20746F6D6F72726F772061626F757420342061206461792061742030373A33302E0002010470617065720070617065720003046D616465006D6164650080D2D40900020000000002007470617065720001744D61646509426D6164650000020000000002007470617065720001744D61646509426D6164650000020000000002007470617065720001744D61646509426D6164650000020000000002007470617065720001744D61646509426D61646500', 0);
INSERT INTO digest VALUES (2, 2, 'first-1795154400', '2026-11-20', 'x37v67oma7vl3juuz', 1795161600, 'live', 4, '2026-11-20', X'01040100020003000400000000000048756767696E6720466163653A2034206E65772070617065727320636865636B65640057656C636F6D652E2054686573652061726520746865206C61737420746872656520646179733B2066726F6D20746F6D6F72726F772061626F757420342061206461792061742030373A33302E0001010470617065720070617065720080D2D409000200000000010074706170657200000200000000010074706170657200000200000000010074706170657200000200000000010074706170657200', 0);
INSERT INTO digest VALUES (3, 3, 'first-1795154400', '2026-11-20', 'xqyf7wvlicb2spxyr', 1795161600, 'live', 4, '2026-11-20', X'01040100020003000400000000000048756767696E6720466163653A2034206E65772070617065727320636865636B65640057656C636F6D652E2054686573652061726520746865206C61737420746872656520646179733B2066726F6D20746F6D6F72726F772061626F757420342061206461792061742030373A33302E0001010470617065720070617065720080D2D409000200000000010074706170657200000200000000010074706170657200000200000000010074706170657200000200000000010074706170657200', 0);
CREATE TABLE delivered (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	digest_id     INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	-- Papers and their versions: the head of the contents of the digest.  Subscribers
	-- with updates also get later versions.
	papers        BLOB NOT NULL CHECK (papers <> x''),
	PRIMARY KEY (subscriber_id, digest_id)
) STRICT, WITHOUT ROWID;
INSERT INTO delivered VALUES (1, 1, 1795161600, X'01040100020003000400');
CREATE TABLE digest_rejected (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	times         INTEGER NOT NULL CHECK (times >= 1),
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO digest_rejected VALUES (1, 1, 1, 1);
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
INSERT INTO outbox VALUES (1, 'digest', 1, 1, NULL, NULL, NULL, NULL, 'SENT', 1, 0, 0, 1795161600, NULL, 1795161600, 1795161600, 250, '250 2.0.0 taken', '17faa939f63823bf6ebf30e4f1d1523cffc5887c9a0b21691b2a6d8d4bd0ef54', 7986076883142752481, NULL, NULL, NULL, 0, 2, 1);
INSERT INTO outbox VALUES (2, 'digest', 2, 2, NULL, NULL, NULL, NULL, 'HELD', 1, 0, 0, 1795161600, NULL, 1795161600, NULL, 450, '450 4.7.1 later', '17faa939f63823bf6ebf30e4f1d1523cffc5887c9a0b21691b2a6d8d4bd0ef54', 3424867834296216361, 'DEFERRED', 'operator', NULL, 0, 2, 1);
INSERT INTO outbox VALUES (3, 'digest', 3, 3, NULL, NULL, NULL, NULL, 'DEFERRED', 1, 0, 0, 1795161600, 1795161662, 1795161600, NULL, 450, '450 4.7.1 later', '17faa939f63823bf6ebf30e4f1d1523cffc5887c9a0b21691b2a6d8d4bd0ef54', 1869483978586126843, NULL, NULL, NULL, 0, 2, 1);
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
INSERT INTO bounce VALUES (1, 1, 'digest-1', 1795161600, 'dead', 1, 0, 'no-such-user', NULL, NULL, NULL, NULL);
CREATE TABLE bounce_probe (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	outbox_id     INTEGER NOT NULL, -- no foreign key: it is pruned earlier
	sent_at       INTEGER NOT NULL
) STRICT;
INSERT INTO bounce_probe VALUES (2, 1, 1795161600);
CREATE TABLE domain_pause (
	domain TEXT PRIMARY KEY CHECK (domain <> ''),
	since  INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	rule   TEXT NOT NULL,
	reply  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO domain_pause VALUES ('example.net', 1795161600, 9000000000, 'rule', '550 no');
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
INSERT INTO confirmation VALUES (1, '0000000000000000000000000000000000000000000000000000000000000000', 'confirm', 'ada@example.org', 'ada@example.org', 'ada@example.org', 1, 'add x', NULL, 1795161600, 1795334400, NULL, NULL);
CREATE TABLE pending_erasure (
	address_key TEXT PRIMARY KEY CHECK (address_key <> ''),
	outbox_id   INTEGER NOT NULL,
	address     TEXT NOT NULL,
	at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO pending_erasure VALUES ('bob@example.org', 2, 'bob@example.org', 1);
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
INSERT INTO rate_log VALUES (1, 'reply', '0000000000000000000000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', 1795161600, 'mail');
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
INSERT INTO inbox VALUES (1, '0000000000000000000000000000000000000000000000000000000000000000', 'lmtp', 'ada@example.org', 'paperboy@news.example', 1795161600, 2, 'quarantined', 0, 0, NULL, 1795161600, NULL, X'410A');
INSERT INTO inbox VALUES (2, '0000000000000000000000000000000000000000000000000000000000000001', 'lmtp', 'ada@example.org', 'paperboy@news.example', 1795161600, 9, 'new', 0, 0, 1795161600, NULL, NULL, X'46726F6D3A20616461406578616D706C652E6F72670D0A546F3A207061706572626F79406E6577732E6578616D706C650D0A5375626A6563743A20780D0A4D6573736167652D49443A203C61406578616D706C652E6F72673E0D0A446174653A204672692C203230204E6F7620323032362030393A30303A3030202B303030300D0A0D0A6C6973740D0A73657474696E67730D0A74617374650D0A77687920310D0A6578706F72740D0A');
CREATE TABLE skipped_message (
	receiver   TEXT NOT NULL CHECK (receiver IN ('maildir', 'imap')),
	name   TEXT NOT NULL, -- identifies it in the mailbox
	since  INTEGER NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (receiver, name)
) STRICT, WITHOUT ROWID;
INSERT INTO skipped_message VALUES ('imap', 'a', 1, 'too large');
CREATE TABLE cursor (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO cursor VALUES ('archive abstract words', 16);
INSERT INTO cursor VALUES ('archive papers', 4);
INSERT INTO cursor VALUES ('archive title words', 20);
INSERT INTO cursor VALUES ('clock is wrong', 0);
INSERT INTO cursor VALUES ('clock jump', 0);
INSERT INTO cursor VALUES ('clock jumped at', 0);
INSERT INTO cursor VALUES ('clock line', 1795161600);
INSERT INTO cursor VALUES ('clock ran', 0);
INSERT INTO cursor VALUES ('clock seen', 1795161600);
INSERT INTO cursor VALUES ('digests', 1795161600);
INSERT INTO cursor VALUES ('generation', 2);
INSERT INTO cursor VALUES ('hf old days', 1795161600);
INSERT INTO cursor VALUES ('list id', 5968717213082913998);
INSERT INTO cursor VALUES ('match', 1795161600);
INSERT INTO cursor VALUES ('matched', 4);
INSERT INTO cursor VALUES ('matches', 8);
INSERT INTO cursor VALUES ('matching', 4);
INSERT INTO cursor VALUES ('matching filter', 6);
INSERT INTO cursor VALUES ('paper changes', 4);
INSERT INTO cursor VALUES ('schema', 9191670802518579019);
INSERT INTO cursor VALUES ('upkeep', 1795161600);
CREATE TABLE backup (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	made_at INTEGER NOT NULL,
	key     TEXT NOT NULL -- hexadecimal: the key in use, then the retired ones
		CHECK (length(key) BETWEEN 64 AND 1024 AND length(key) % 64 = 0),
	oauth   TEXT -- the file of OAuth logins
) STRICT;
INSERT INTO backup VALUES (1, 1795262400, '21ed054adf4ea8f0f897af5b509399e673d1c8d1b72580abe8daf42e9b5c27b9', NULL);
CREATE TABLE key_check (
	id  INTEGER PRIMARY KEY CHECK (id = 1),
	mac TEXT NOT NULL CHECK (length(mac) = 64)
) STRICT;
INSERT INTO key_check VALUES (1, '717e7b34e1ba5a7b3f6e8fdd8085496d1a220873d274a6fe99f71081d5913b59');
CREATE TABLE audit_log (
	id            INTEGER PRIMARY KEY,
	at            INTEGER NOT NULL,
	who           TEXT NOT NULL,
	what          TEXT NOT NULL,
	subscriber_id INTEGER REFERENCES subscriber (id),
	detail        TEXT
) STRICT;
INSERT INTO audit_log VALUES (1, 1795154400, 'operator root', 'subscriber added', 1, 'asked for it');
INSERT INTO audit_log VALUES (2, 1795154400, 'operator root', 'subscriber added', 2, 'asked for it');
INSERT INTO audit_log VALUES (3, 1795154400, 'operator root', 'subscriber added', 3, 'asked for it');
INSERT INTO audit_log VALUES (4, 1795154400, 'operator root', 'filter added', 1, 'paper AND upvotes:>=99');
INSERT INTO audit_log VALUES (5, 1795154400, 'operator root', 'filter added', 1, 'made');
INSERT INTO audit_log VALUES (6, 1795154400, 'operator root', 'block added', 1, 'zebra');
CREATE TABLE paper_moved (
	old_seq INTEGER PRIMARY KEY,
	new_seq INTEGER NOT NULL REFERENCES paper (seq)
) STRICT;
INSERT INTO paper_moved VALUES (99, 1);
CREATE TABLE feedback (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	is_like       INTEGER NOT NULL CHECK (is_like BETWEEN 0 AND 1),
	at            INTEGER NOT NULL,
	source        TEXT NOT NULL CHECK (source = 'mail' OR source = 'page'
		OR source = 'operator'),
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO feedback VALUES (1, 1, 1, 1, 'mail');
CREATE TABLE watch (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	since         INTEGER NOT NULL,
	until         INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, paper_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO watch VALUES (1, 1, 1, 9000000000);
CREATE TABLE retraction_mail (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	event_id      INTEGER NOT NULL REFERENCES paper_event (id) ON DELETE CASCADE,
	PRIMARY KEY (subscriber_id, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO retraction_mail VALUES (1, 1);
CREATE TABLE watch_check (
	service       INTEGER NOT NULL,
	paper_seq     INTEGER NOT NULL REFERENCES paper (seq),
	at            INTEGER NOT NULL,
	PRIMARY KEY (service, paper_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO watch_check VALUES (1, 1, 1);
CREATE TABLE known (
	subscriber_id INTEGER NOT NULL REFERENCES subscriber (id),
	name          TEXT NOT NULL CHECK (name <> ''),
	at            INTEGER NOT NULL,
	PRIMARY KEY (subscriber_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO known VALUES (1, 'doi:10.5555/1', 1);
CREATE TABLE taste (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	learned_at    INTEGER NOT NULL,
	words         BLOB NOT NULL CHECK (words <> x'')
) STRICT;
INSERT INTO taste VALUES (1, 1, X'0101C73E6D61646500');
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
INSERT INTO proposal VALUES (1, 1, 1, 1, '1 paper', 'x', 'block x', 1, 0, 30, 't', '', 1, 9000000000, NULL, 'open', NULL);
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
INSERT INTO proposal_change VALUES (1, 1, 0, 1, NULL, 'paper', 'paper', '2026-11-20', 1, 0, NULL, NULL, NULL, NULL, NULL);
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
INSERT INTO share VALUES (1, 'news', 1, 2, 1);
CREATE TABLE share_version (
	share_id   INTEGER NOT NULL REFERENCES share (id) ON DELETE CASCADE,
	version    INTEGER NOT NULL CHECK (version >= 1),
	text       TEXT NOT NULL CHECK (text <> ''), -- as the owner typed it
	created_at INTEGER NOT NULL,
	PRIMARY KEY (share_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO share_version VALUES (1, 1, 'made', 1);
INSERT INTO share_version VALUES (1, 2, 'paper', 1);
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
INSERT INTO follow VALUES (2, 2, 1, 1, 0, 2);
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
INSERT INTO share_change VALUES (1, 1, 2, 'paper', 'made', 1, 0);
CREATE TABLE instance (
	id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: holders
	name       TEXT NOT NULL CHECK (name <> ''), -- host and state directory
	program    TEXT NOT NULL, -- version
	started_at INTEGER NOT NULL,
	expires_at INTEGER -- NULL: while it runs
) STRICT;
INSERT INTO instance VALUES (2, 'host', '1', 1, 2);
CREATE TABLE job (
	name   TEXT PRIMARY KEY,
	holder INTEGER -- instance; NULL: never taken
) STRICT, WITHOUT ROWID;
INSERT INTO job VALUES ('collector', NULL);
CREATE INDEX paper_work ON paper (work) WHERE work IS NOT NULL;
CREATE INDEX paper_changed ON paper (seq) WHERE is_changed = 1;
CREATE INDEX paper_last_day ON paper (last_day, revision);
CREATE INDEX paper_rank ON paper (seq, upvotes, last_day);
CREATE INDEX paper_awaited ON paper (first_seen_at) WHERE awaited <> 0;
CREATE INDEX paper_alias_paper ON paper_alias (paper_seq);
CREATE INDEX paper_duplicate_other ON paper_duplicate (other_seq);
CREATE INDEX paper_link_name ON paper_link (name);
CREATE INDEX paper_link_split ON paper_link (paper_seq) WHERE is_same = 0;
CREATE INDEX paper_event_at ON paper_event (at);
CREATE INDEX paper_change_number ON paper_change (number);
CREATE INDEX listing_paper ON listing (paper_seq);
CREATE INDEX vocabulary_class ON vocabulary (folded);
CREATE INDEX acronym_long ON acronym (long);
CREATE INDEX source_fetch_day ON source_fetch (source, day, id);
CREATE INDEX source_fetch_source ON source_fetch (source);
CREATE INDEX source_fetch_time ON source_fetch (fetched_at);
CREATE INDEX filter_lagging ON filter (matched_revision, id) WHERE matched_revision IS NOT NULL;
CREATE INDEX filter_term_filter ON filter_term (filter_id);
CREATE INDEX subscriber_due ON subscriber (next_due_at, id) WHERE state = 'active';
CREATE INDEX subscriber_pause_end ON subscriber (next_due_at, id) WHERE paused_until IS NOT NULL;
CREATE INDEX subscriber_urgent ON subscriber (next_due_at, id)
	WHERE state = 'active' AND (is_first_due = 1 OR frequency = 'now');
CREATE INDEX subscriber_checkup ON subscriber (checkup_at, id)
	WHERE state = 'active' AND checkup = 'on';
CREATE INDEX subscriber_held ON subscriber (state, id) WHERE is_next_held = 1;
CREATE INDEX subscriber_inactive ON subscriber (state) WHERE state <> 'active';
CREATE INDEX subscription_filter ON subscription (filter_id);
CREATE INDEX subscription_block ON subscription (subscriber_id, number) WHERE is_block = 1;
CREATE INDEX match_pending_due ON match_pending (due_at, paper_seq);
CREATE INDEX match_pending_paper ON match_pending (paper_seq, filter_id);
CREATE INDEX digest_created ON digest (created_at) WHERE state <> 'live';
CREATE INDEX digest_live ON digest (subscriber_id) WHERE state = 'live';
CREATE INDEX delivered_at ON delivered (at);
CREATE INDEX digest_rejected_at ON digest_rejected (at);
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
CREATE INDEX bounce_at ON bounce (at, class);
CREATE INDEX bounce_scored ON bounce (subscriber_id) WHERE is_scored = 1;
CREATE INDEX confirmation_address ON confirmation (address_key, purpose);
CREATE INDEX confirmation_expires ON confirmation (expires_at);
CREATE INDEX confirmation_subscriber ON confirmation (subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX rate_log_address ON rate_log (address_hash, kind, at);
CREATE INDEX rate_log_domain ON rate_log (domain_hash, kind, at);
CREATE INDEX rate_log_kind ON rate_log (kind, at);
CREATE INDEX rate_log_at ON rate_log (at);
CREATE INDEX inbox_due ON inbox (next_try_at, id) WHERE state = 'new';
CREATE INDEX inbox_quarantined ON inbox (ended_at) WHERE state = 'quarantined';
CREATE INDEX inbox_done ON inbox (received_at) WHERE state = 'done';
CREATE INDEX audit_log_subscriber ON audit_log (subscriber_id, id);
CREATE INDEX audit_log_at ON audit_log (at, id);
CREATE INDEX paper_moved_new ON paper_moved (new_seq);
CREATE INDEX feedback_paper ON feedback (paper_seq);
CREATE INDEX watch_paper ON watch (paper_seq);
CREATE INDEX watch_until ON watch (until);
CREATE INDEX retraction_mail_event ON retraction_mail (event_id);
CREATE INDEX watch_check_paper ON watch_check (paper_seq);
CREATE INDEX watch_check_at ON watch_check (at);
CREATE INDEX proposal_subscriber ON proposal (subscriber_id, number);
CREATE INDEX proposal_expires ON proposal (expires_at);
CREATE INDEX proposal_change_share ON proposal_change (share_id, version)
	WHERE share_id IS NOT NULL;
CREATE INDEX share_version_created ON share_version (created_at);
CREATE INDEX follow_share ON follow (share_id);
CREATE INDEX follow_news ON follow (subscriber_id) WHERE news IS NOT NULL;
CREATE INDEX follow_change ON follow (share_id, version, news) WHERE news > 0;
CREATE TRIGGER outbox_mail_frozen BEFORE UPDATE OF kind, recipient, sender, message ON outbox
WHEN NEW.kind <> OLD.kind OR NEW.recipient IS NOT OLD.recipient
	OR NEW.sender IS NOT OLD.sender
	OR (NEW.message IS NOT OLD.message AND NEW.message IS NOT NULL)
BEGIN
	SELECT RAISE(ABORT, 'the content of a message is frozen');
END;
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
