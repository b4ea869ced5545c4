-- A recognition in plain SQL: wallets, their ledger, recognitions and events to send. Ids are derived from numbers, so
-- that a script can name them.
CREATE TABLE wallets (
  id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  kind smallint NOT NULL,
  cents bigint NOT NULL,
  spent bigint NOT NULL DEFAULT 0,
  CHECK (cents >= 0)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX wallets_owner ON wallets (owner_id, kind);
CREATE TABLE recognitions (
  id uuid PRIMARY KEY,
  company_id uuid NOT NULL,
  sender_kind smallint NOT NULL,
  sender_id uuid NOT NULL,
  receiver_id uuid NOT NULL,
  occasion_id uuid NOT NULL,
  cents bigint NOT NULL,
  points bigint NOT NULL,
  message text NOT NULL,
  share boolean NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at);
CREATE INDEX recognitions_sender ON recognitions (sender_id, created_at);
CREATE TABLE wallet_transactions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet_id uuid NOT NULL,
  kind smallint NOT NULL,
  cents bigint NOT NULL,
  reason smallint NOT NULL,
  recognition_id uuid,
  created_at timestamptz NOT NULL
);
CREATE INDEX wallet_transactions_wallet ON wallet_transactions (wallet_id, created_at);
CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  provider_id uuid NOT NULL,
  payload text NOT NULL,
  attempts smallint NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  delivered_at timestamptz
);
CREATE INDEX outbox_due ON outbox (next_attempt_at) WHERE delivered_at IS NULL;

CREATE FUNCTION uid(kind text, number bigint) RETURNS uuid
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN md5(kind || number)::uuid;
CREATE FUNCTION payload() RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN repeat('x', 600);

INSERT INTO wallets (id, owner_id, kind, cents)
  SELECT uid('uw', n), uid('u', n), 1, 0 FROM generate_series(1, 10000) n
  UNION ALL SELECT uid('pw', n), uid('u', n), 2, 1000000000000 FROM generate_series(1, 10000) n
  UNION ALL SELECT uid('rw', 0), uid('c', 0), 0, 1000000000000000;
ANALYZE;
