CREATE TABLE redemptions (
  id BLOB NOT NULL PRIMARY KEY,
  company_id BLOB NOT NULL,
  user_id BLOB NOT NULL,
  points INTEGER NOT NULL CHECK (points > 0),
  amount INTEGER NOT NULL CHECK (amount > 0),
  created_at INTEGER NOT NULL,
  refunded_at INTEGER
) STRICT;
