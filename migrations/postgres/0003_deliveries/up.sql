-- While an event or a mail is claimed, next_attempt_at is the end of its lease.
-- cause_id names the recognition or redemption that the event tells of.
ALTER TABLE events ADD COLUMN lease_id uuid;
ALTER TABLE events ADD COLUMN attempts_before_replay smallint NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN cause_id uuid;
ALTER TABLE mails ADD COLUMN lease_id uuid;
DROP INDEX events_due;
CREATE INDEX events_due ON events (provider_id, next_attempt_at, id) WHERE state = 1;
CREATE INDEX events_kept ON events (provider_id, state, id) WHERE state IN (3, 4);

CREATE TABLE attempts (
  id uuid NOT NULL PRIMARY KEY,
  event_id uuid NOT NULL,
  number smallint NOT NULL CHECK (number >= 1),
  started_at timestamptz NOT NULL,
  duration_micros bigint NOT NULL CHECK (duration_micros >= 0),
  status smallint,
  cause text,
  answer bytea NOT NULL CHECK (length(answer) <= 1024)
);
CREATE INDEX attempts_event ON attempts (event_id, number);
