-- While an event or a mail is claimed, next_attempt_at is the end of its lease.
-- cause_id names the recognition or redemption that the event tells of.
ALTER TABLE events ADD COLUMN lease_id BLOB;
ALTER TABLE events ADD COLUMN attempts_before_replay INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN cause_id BLOB;
ALTER TABLE mails ADD COLUMN lease_id BLOB;
DROP INDEX events_due;
CREATE INDEX events_due ON events (provider_id, next_attempt_at, id) WHERE state = 1;
CREATE INDEX events_kept ON events (provider_id, state, id) WHERE state IN (3, 4);

CREATE TABLE attempts (
  id BLOB NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 1),
  started_at INTEGER NOT NULL,
  duration_micros INTEGER NOT NULL CHECK (duration_micros >= 0),
  status INTEGER,
  cause TEXT,
  answer BLOB NOT NULL CHECK (length(answer) <= 1024)
) STRICT;
CREATE INDEX attempts_event ON attempts (event_id, number);
