CREATE TABLE redemptions (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  user_id uuid NOT NULL,
  points bigint NOT NULL CHECK (points > 0),
  amount bigint NOT NULL CHECK (amount > 0),
  created_at timestamptz NOT NULL,
  refunded_at timestamptz
);
