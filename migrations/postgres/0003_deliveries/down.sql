DROP TABLE attempts;
DROP INDEX events_kept;
DROP INDEX events_due;
CREATE INDEX events_due ON events (next_attempt_at) WHERE state = 1;
ALTER TABLE mails DROP COLUMN lease_id;
ALTER TABLE events DROP COLUMN cause_id;
ALTER TABLE events DROP COLUMN attempts_before_replay;
ALTER TABLE events DROP COLUMN lease_id;
