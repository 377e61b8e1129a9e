-- 003: answers to papers, and what is learned from them.

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

-- Weighted words of a subscriber, learned from these answers (src/model/taste_vector.h).
-- They order papers: each digest reads them.
CREATE TABLE taste (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	learned_at    INTEGER NOT NULL,
	words         BLOB NOT NULL CHECK (words <> x'')
) STRICT;

-- Links for answers in each entry of a digest.
ALTER TABLE subscriber ADD COLUMN feedback TEXT NOT NULL DEFAULT 'off'
	CHECK (feedback = 'off' OR feedback = 'on');

-- A monthly report on the filters, and when it is due (subscribers_insert()).
ALTER TABLE subscriber ADD COLUMN checkup TEXT NOT NULL DEFAULT 'on'
	CHECK (checkup = 'on' OR checkup = 'off');
ALTER TABLE subscriber ADD COLUMN checkup_at INTEGER NOT NULL DEFAULT 0;
UPDATE subscriber SET checkup_at = 86400 * (id % 28
	+ max(created_at / 86400 + 30, ifnull(next_due_at, 0) / 86400 + 1));
CREATE INDEX subscriber_checkup ON subscriber (checkup_at, id)
	WHERE state = 'active' AND checkup = 'on';

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
	removed      TEXT NOT NULL, -- likewise
	gained       INTEGER NOT NULL CHECK (gained >= 0), -- papers of 30 days
	lost         INTEGER NOT NULL CHECK (lost >= 0),
	PRIMARY KEY (share_id, from_version, to_version)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER share_ends BEFORE DELETE ON share
BEGIN
	DELETE FROM follow WHERE share_id = OLD.id AND is_fork = 1;
	UPDATE follow SET share_id = NULL, news = 0 WHERE share_id = OLD.id;
END;

CREATE TRIGGER subscription_unshares BEFORE DELETE ON subscription
BEGIN
	DELETE FROM share WHERE subscription_id = OLD.id;
END;

-- Full-text index of all texts and values that filters look into (src/query/eval/fts_query.h).
DROP TABLE paper_fts;
CREATE VIRTUAL TABLE paper_fts USING fts5 (title, abstract, authors, id, doi, categories,
	organization, keywords, comment, journal,
	content = 'paper', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO paper_fts (paper_fts) VALUES ('rebuild');

DROP TRIGGER paper_fts_insert;
CREATE TRIGGER paper_fts_insert AFTER INSERT ON paper
BEGIN
	INSERT INTO paper_fts (rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors, NEW.id, NEW.doi, NEW.categories,
		NEW.organization, NEW.keywords, NEW.comment, NEW.journal);
END;

DROP TRIGGER paper_fts_update;
CREATE TRIGGER paper_fts_update AFTER UPDATE OF title, abstract, authors, id, doi, categories,
	organization, keywords, comment, journal ON paper
WHEN (OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi, OLD.categories, OLD.organization,
	OLD.keywords, OLD.comment, OLD.journal) IS NOT (NEW.title, NEW.abstract, NEW.authors,
	NEW.id, NEW.doi, NEW.categories, NEW.organization, NEW.keywords, NEW.comment, NEW.journal)
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi,
		OLD.categories, OLD.organization, OLD.keywords, OLD.comment, OLD.journal);
	INSERT INTO paper_fts (rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal)
	VALUES (NEW.seq, NEW.title, NEW.abstract, NEW.authors, NEW.id, NEW.doi, NEW.categories,
		NEW.organization, NEW.keywords, NEW.comment, NEW.journal);
END;

DROP TRIGGER paper_fts_delete;
CREATE TRIGGER paper_fts_delete AFTER DELETE ON paper
BEGIN
	INSERT INTO paper_fts (paper_fts, rowid, title, abstract, authors, id, doi, categories,
		organization, keywords, comment, journal)
	VALUES ('delete', OLD.seq, OLD.title, OLD.abstract, OLD.authors, OLD.id, OLD.doi,
		OLD.categories, OLD.organization, OLD.keywords, OLD.comment, OLD.journal);
END;

-- IN with three strings: SQLite would build a temporary table for each row written.  The
-- rows stay as they are (https://sqlite.org/lang_altertable.html section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'held_why IN (''restore'', ''operator'', ''crash'')',
	'held_why = ''restore'' OR held_why = ''operator'' OR held_why = ''crash''')
WHERE name = 'outbox';
PRAGMA writable_schema = RESET;
