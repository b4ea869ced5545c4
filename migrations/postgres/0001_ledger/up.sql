-- Everything of the first release. Amounts are nano-dollars.

CREATE TABLE providers (
  id uuid NOT NULL PRIMARY KEY,
  name text NOT NULL,
  api_key text NOT NULL UNIQUE,
  api_secret_hash bytea NOT NULL,
  shared_secret_sealed bytea NOT NULL,
  callback_url text,
  manages_all_domain_resources boolean NOT NULL,
  suspended boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE corporations (
  id uuid NOT NULL PRIMARY KEY,
  provider_id uuid NOT NULL REFERENCES providers (id),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX corporations_provider ON corporations (provider_id, created_at, id);

-- owner_id names a user whose row follows in the same transaction.
CREATE TABLE companies (
  id uuid NOT NULL PRIMARY KEY,
  provider_id uuid NOT NULL REFERENCES providers (id),
  corporation_id uuid REFERENCES corporations (id),
  domain text NOT NULL UNIQUE CHECK (length(domain) BETWEEN 3 AND 253),
  company_name text NOT NULL CHECK (length(company_name) BETWEEN 1 AND 255),
  owner_id uuid NOT NULL,
  logo_url text NOT NULL CHECK (length(logo_url) <= 2048),
  points_per_dollar integer NOT NULL CHECK (points_per_dollar BETWEEN 1 AND 10000),
  reserve_alert bigint CHECK (reserve_alert >= 0),
  reserve_bcc text CHECK (length(reserve_bcc) <= 254),
  allow_zero_points boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX companies_provider ON companies (provider_id, created_at, id);
CREATE INDEX companies_corporation ON companies (corporation_id, created_at, id);

CREATE TABLE users (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL REFERENCES companies (id),
  email text NOT NULL CHECK (length(email) <= 254),
  email_folded text NOT NULL,
  first_name text NOT NULL CHECK (length(first_name) BETWEEN 1 AND 255),
  last_name text CHECK (length(last_name) BETWEEN 1 AND 255),
  department text CHECK (length(department) <= 255),
  title text CHECK (length(title) <= 255),
  supervisor_email text CHECK (length(supervisor_email) <= 254),
  employee_id text CHECK (length(employee_id) <= 255),
  birthday text CHECK (length(birthday) = 5),
  country_code text CHECK (length(country_code) BETWEEN 2 AND 3),
  work_start_date text CHECK (length(work_start_date) = 10),
  office_city text CHECK (length(office_city) <= 255),
  office_state text CHECK (length(office_state) <= 255),
  office_country text CHECK (length(office_country) <= 255),
  manager boolean NOT NULL,
  company_admin boolean NOT NULL,
  corporation_admin boolean NOT NULL,
  group_names text CHECK (length(group_names) <= 4096),
  custom_field_1 text CHECK (length(custom_field_1) <= 255),
  custom_field_2 text CHECK (length(custom_field_2) <= 255),
  custom_field_3 text CHECK (length(custom_field_3) <= 255),
  custom_field_4 text CHECK (length(custom_field_4) <= 255),
  custom_field_5 text CHECK (length(custom_field_5) <= 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz
);
CREATE UNIQUE INDEX users_email ON users (company_id, email_folded) WHERE deleted_at IS NULL;
CREATE INDEX users_company ON users (company_id, created_at, id);

CREATE TABLE occasions (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid REFERENCES companies (id),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  title text NOT NULL CHECK (length(title) BETWEEN 1 AND 255),
  default_message text NOT NULL CHECK (length(default_message) <= 10000),
  enabled boolean NOT NULL,
  visible boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz
);
CREATE INDEX occasions_company ON occasions (company_id, created_at, id);

-- The hot tables name rows that were read in the same transaction and are never removed, so they carry no foreign
-- keys: on PostgreSQL each would lock the row it names.
CREATE TABLE recognitions (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  occasion_id uuid NOT NULL,
  sender_kind smallint NOT NULL CHECK (sender_kind IN (1, 2)),
  sender_id uuid NOT NULL,
  receiver_id uuid NOT NULL,
  message text NOT NULL CHECK (length(message) <= 10000),
  points bigint NOT NULL CHECK (points >= 0),
  share boolean NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at, id);
CREATE INDEX recognitions_sender ON recognitions (sender_id, created_at, id);

-- An account is known by its owner (a user or a company) and its kind:
-- 1 user wallet, 2 peer wallet, 3 manager wallet, 4 reserve; outside: 5 funding, 6 redeemed, 7 rounding.
-- made_up is what the last payment out of it was short of, within the tolerance.
CREATE TABLE accounts (
  owner_id uuid NOT NULL,
  kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 7),
  company_id uuid NOT NULL,
  debits bigint NOT NULL CHECK (debits >= 0),
  credits bigint NOT NULL CHECK (credits >= 0),
  spent bigint NOT NULL,
  made_up bigint NOT NULL CHECK (made_up >= 0),
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  PRIMARY KEY (owner_id, kind),
  CONSTRAINT never_negative CHECK (kind >= 5 OR credits >= debits),
  CONSTRAINT spent_is_debited CHECK (spent BETWEEN 0 AND debits)
) WITH (fillfactor = 70);

CREATE TABLE transfers (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  debit_owner uuid NOT NULL,
  debit_kind smallint NOT NULL,
  credit_owner uuid NOT NULL,
  credit_kind smallint NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  points bigint NOT NULL CHECK (points >= 0),
  points_per_dollar integer NOT NULL,
  reason smallint NOT NULL CHECK (reason BETWEEN 1 AND 8),
  cause_id uuid,
  created_at timestamptz NOT NULL,
  CONSTRAINT two_accounts CHECK (debit_owner <> credit_owner OR debit_kind <> credit_kind)
);
CREATE INDEX transfers_debit ON transfers (debit_owner, debit_kind, created_at, id);
CREATE INDEX transfers_credit ON transfers (credit_owner, credit_kind, created_at, id);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION '% are never changed', TG_TABLE_NAME; END $$;
CREATE TRIGGER transfers_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- state: 1 pending, 2 delivered, 3 exhausted, 4 unaddressed.
CREATE TABLE events (
  id uuid NOT NULL PRIMARY KEY,
  provider_id uuid NOT NULL,
  kind smallint NOT NULL,
  body bytea NOT NULL,
  state smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
  attempts smallint NOT NULL CHECK (attempts >= 0),
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE INDEX events_due ON events (next_attempt_at) WHERE state = 1;

-- state: 1 pending, 2 sent.
CREATE TABLE mails (
  id uuid NOT NULL PRIMARY KEY,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  state smallint NOT NULL CHECK (state BETWEEN 1 AND 2),
  attempts smallint NOT NULL CHECK (attempts >= 0),
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL
);
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE state = 1;

CREATE TABLE idempotency_records (
  scope uuid NOT NULL,
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (scope, idempotency_key)
);
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

CREATE TABLE settings (
  name text NOT NULL PRIMARY KEY,
  value text NOT NULL
);
