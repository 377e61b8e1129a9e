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
CREATE TABLE taste (
	subscriber_id INTEGER PRIMARY KEY REFERENCES subscriber (id),
	learned_at    INTEGER NOT NULL,
	weights       BLOB NOT NULL CHECK (weights <> x''), -- orders papers
	words         BLOB NOT NULL                         -- for people
) STRICT;

-- Links for answers in each entry of a digest.
ALTER TABLE subscriber ADD COLUMN feedback TEXT NOT NULL DEFAULT 'off'
	CHECK (feedback = 'off' OR feedback = 'on');
