-- Everything of the first release. Amounts are nano-dollars.

CREATE TABLE providers (
  id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  api_key TEXT NOT NULL UNIQUE,
  api_secret_hash BLOB NOT NULL,
  shared_secret_sealed BLOB NOT NULL,
  callback_url TEXT,
  manages_all_domain_resources INTEGER NOT NULL,
  suspended INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE corporations (
  id BLOB NOT NULL PRIMARY KEY,
  provider_id BLOB NOT NULL REFERENCES providers (id),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX corporations_provider ON corporations (provider_id, created_at, id);

-- owner_id names a user whose row follows in the same transaction.
CREATE TABLE companies (
  id BLOB NOT NULL PRIMARY KEY,
  provider_id BLOB NOT NULL REFERENCES providers (id),
  corporation_id BLOB REFERENCES corporations (id),
  domain TEXT NOT NULL UNIQUE CHECK (length(domain) BETWEEN 3 AND 253),
  company_name TEXT NOT NULL CHECK (length(company_name) BETWEEN 1 AND 255),
  owner_id BLOB NOT NULL,
  logo_url TEXT NOT NULL CHECK (length(logo_url) <= 2048),
  points_per_dollar INTEGER NOT NULL CHECK (points_per_dollar BETWEEN 1 AND 10000),
  reserve_alert INTEGER CHECK (reserve_alert >= 0),
  reserve_bcc TEXT CHECK (length(reserve_bcc) <= 254),
  allow_zero_points INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX companies_provider ON companies (provider_id, created_at, id);
CREATE INDEX companies_corporation ON companies (corporation_id, created_at, id);

CREATE TABLE users (
  id BLOB NOT NULL PRIMARY KEY,
  company_id BLOB NOT NULL REFERENCES companies (id),
  email TEXT NOT NULL CHECK (length(email) <= 254),
  email_folded TEXT NOT NULL,
  first_name TEXT NOT NULL CHECK (length(first_name) BETWEEN 1 AND 255),
  last_name TEXT CHECK (length(last_name) BETWEEN 1 AND 255),
  department TEXT CHECK (length(department) <= 255),
  title TEXT CHECK (length(title) <= 255),
  supervisor_email TEXT CHECK (length(supervisor_email) <= 254),
  employee_id TEXT CHECK (length(employee_id) <= 255),
  birthday TEXT CHECK (length(birthday) = 5),
  country_code TEXT CHECK (length(country_code) BETWEEN 2 AND 3),
  work_start_date TEXT CHECK (length(work_start_date) = 10),
  office_city TEXT CHECK (length(office_city) <= 255),
  office_state TEXT CHECK (length(office_state) <= 255),
  office_country TEXT CHECK (length(office_country) <= 255),
  manager INTEGER NOT NULL,
  company_admin INTEGER NOT NULL,
  corporation_admin INTEGER NOT NULL,
  group_names TEXT CHECK (length(group_names) <= 4096),
  custom_field_1 TEXT CHECK (length(custom_field_1) <= 255),
  custom_field_2 TEXT CHECK (length(custom_field_2) <= 255),
  custom_field_3 TEXT CHECK (length(custom_field_3) <= 255),
  custom_field_4 TEXT CHECK (length(custom_field_4) <= 255),
  custom_field_5 TEXT CHECK (length(custom_field_5) <= 255),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX users_email ON users (company_id, email_folded) WHERE deleted_at IS NULL;
CREATE INDEX users_company ON users (company_id, created_at, id);

CREATE TABLE occasions (
  id BLOB NOT NULL PRIMARY KEY,
  company_id BLOB REFERENCES companies (id),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 255),
  default_message TEXT NOT NULL CHECK (length(default_message) <= 10000),
  enabled INTEGER NOT NULL,
  visible INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE INDEX occasions_company ON occasions (company_id, created_at, id);

-- The hot tables name rows that were read in the same transaction and are never removed, so they carry no foreign
-- keys: on PostgreSQL each would lock the row it names.
CREATE TABLE recognitions (
  id BLOB NOT NULL PRIMARY KEY,
  company_id BLOB NOT NULL,
  occasion_id BLOB NOT NULL,
  sender_kind INTEGER NOT NULL CHECK (sender_kind IN (1, 2)),
  sender_id BLOB NOT NULL,
  receiver_id BLOB NOT NULL,
  message TEXT NOT NULL CHECK (length(message) <= 10000),
  points INTEGER NOT NULL CHECK (points >= 0),
  share INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at, id);
CREATE INDEX recognitions_sender ON recognitions (sender_id, created_at, id);

-- An account is known by its owner (a user or a company) and its kind:
-- 1 user wallet, 2 peer wallet, 3 manager wallet, 4 reserve; outside: 5 funding, 6 redeemed, 7 rounding.
-- made_up is what the last payment out of it was short of, within the tolerance.
CREATE TABLE accounts (
  owner_id BLOB NOT NULL,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 7),
  company_id BLOB NOT NULL,
  debits INTEGER NOT NULL CHECK (debits >= 0),
  credits INTEGER NOT NULL CHECK (credits >= 0),
  spent INTEGER NOT NULL,
  made_up INTEGER NOT NULL CHECK (made_up >= 0),
  created_at INTEGER NOT NULL,
  closed_at INTEGER,
  PRIMARY KEY (owner_id, kind),
  CONSTRAINT never_negative CHECK (kind >= 5 OR credits >= debits),
  CONSTRAINT spent_is_debited CHECK (spent BETWEEN 0 AND debits)
) STRICT, WITHOUT ROWID;

CREATE TABLE transfers (
  id BLOB NOT NULL PRIMARY KEY,
  company_id BLOB NOT NULL,
  debit_owner BLOB NOT NULL,
  debit_kind INTEGER NOT NULL,
  credit_owner BLOB NOT NULL,
  credit_kind INTEGER NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  points INTEGER NOT NULL CHECK (points >= 0),
  points_per_dollar INTEGER NOT NULL,
  reason INTEGER NOT NULL CHECK (reason BETWEEN 1 AND 8),
  cause_id BLOB,
  created_at INTEGER NOT NULL,
  CONSTRAINT two_accounts CHECK (debit_owner <> credit_owner OR debit_kind <> credit_kind)
) STRICT;
CREATE INDEX transfers_debit ON transfers (debit_owner, debit_kind, created_at, id);
CREATE INDEX transfers_credit ON transfers (credit_owner, credit_kind, created_at, id);
CREATE TRIGGER transfers_keep_updates_out BEFORE UPDATE ON transfers
  BEGIN SELECT RAISE(ABORT, 'transfers are never changed'); END;
CREATE TRIGGER transfers_keep_deletes_out BEFORE DELETE ON transfers
  BEGIN SELECT RAISE(ABORT, 'transfers are never changed'); END;

-- state: 1 pending, 2 delivered, 3 exhausted, 4 unaddressed.
CREATE TABLE events (
  id BLOB NOT NULL PRIMARY KEY,
  provider_id BLOB NOT NULL,
  kind INTEGER NOT NULL,
  body BLOB NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_due ON events (next_attempt_at) WHERE state = 1;

-- state: 1 pending, 2 sent.
CREATE TABLE mails (
  id BLOB NOT NULL PRIMARY KEY,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 2),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE state = 1;

CREATE TABLE idempotency_records (
  scope BLOB NOT NULL,
  idempotency_key TEXT NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  request_hash BLOB NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (scope, idempotency_key)
) STRICT;
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
