-- 004: no row that every writer updates.

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
