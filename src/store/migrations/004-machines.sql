-- 004: several machines on one store: leases, and no row that every writer updates.

-- Rows are counted when they are needed: from an index, without reading them.
DROP TRIGGER paper_count_insert;
DROP TRIGGER paper_count_delete;
DROP TRIGGER filter_count_insert;
DROP TRIGGER filter_count_delete;
DROP TRIGGER match_pending_count_insert;
DROP TRIGGER match_pending_count_delete;
DROP TRIGGER match_count_insert;
DROP TRIGGER match_count_update;
DROP TRIGGER match_count_delete;
DROP TRIGGER subscriber_count_insert;
DROP TRIGGER subscriber_count_update;
DROP TRIGGER subscriber_count_delete;
DROP TRIGGER outbox_count_insert;
DROP TRIGGER outbox_count_update;
DROP TRIGGER outbox_count_delete;
DROP TRIGGER outbox_count_held;
DROP TRIGGER outbox_count_hold;
DROP TRIGGER outbox_count_unheld;

-- The matches that were found so far.
INSERT INTO cursor (name, value) SELECT 'matches', count FROM row_count WHERE name = 'match';
DROP TABLE row_count;

DROP INDEX outbox_deferred;
CREATE INDEX outbox_retried ON outbox (state, queued_at, id)
	WHERE ended_at IS NULL AND (state = 'DEFERRED' OR state = 'UNKNOWN');
DROP INDEX outbox_held;
CREATE INDEX outbox_held ON outbox (held_why, id) WHERE state = 'HELD';
DROP INDEX subscriber_held;
CREATE INDEX subscriber_held ON subscriber (state, id) WHERE is_next_held = 1;
CREATE INDEX subscriber_inactive ON subscriber (state) WHERE state <> 'active';

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

-- The instance that claimed a message last; of one that is SENDING: its holder.
ALTER TABLE outbox ADD COLUMN holder INTEGER;

-- How a request came in, for limits per domain and on all (src/store/mail/rate_log.h).
ALTER TABLE rate_log ADD COLUMN budget TEXT NOT NULL DEFAULT 'mail'
	CHECK (budget = 'mail' OR budget = 'verified' OR budget = 'page');

-- The Message-ID contains the id of the subscriber, by whose digests it is looked up.
-- Tokens are random: in an index, each digest of a page changed a page of its own.
DROP INDEX digest_message;

-- Papers to be looked up at arXiv.  A comment, journal or DOI that is empty is known not
-- to exist.
DROP INDEX paper_unenriched;
CREATE INDEX paper_unenriched ON paper (first_seen_at)
	WHERE categories IS NULL OR comment IS NULL OR journal IS NULL OR doi IS NULL;
