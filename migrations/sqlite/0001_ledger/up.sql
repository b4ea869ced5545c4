-- The schema of the first release. Amounts are in nano-dollars. Rarely changed tables come first, then the ledger,
-- then the outbox. The numbers of kinds are defined in the domain crate.

CREATE TABLE providers (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  api_key TEXT NOT NULL UNIQUE CHECK (length(api_key) BETWEEN 1 AND 255),
  api_secret_hash BLOB NOT NULL,
  encrypted_shared_secret BLOB NOT NULL,
  former_api_secret_hash BLOB,
  former_api_secret_until INTEGER CHECK ((former_api_secret_until IS NULL) = (former_api_secret_hash IS NULL)),
  former_encrypted_shared_secret BLOB,
  former_shared_secret_until INTEGER
    CHECK ((former_shared_secret_until IS NULL) = (former_encrypted_shared_secret IS NULL)),
  callback_url TEXT CHECK (length(callback_url) <= 2048),
  manages_all_domain_resources INTEGER NOT NULL CHECK (manages_all_domain_resources IN (0, 1)),
  suspended INTEGER NOT NULL CHECK (suspended IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE corporations (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  provider_id BLOB NOT NULL REFERENCES providers (id) CHECK (length(provider_id) = 16),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX corporations_provider ON corporations (provider_id, created_at, id);

-- owner_id is a user whose row is inserted later in the same transaction.
-- handed_over_at is set while the company is closed here, because it was handed over to another cell.
CREATE TABLE companies (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  provider_id BLOB NOT NULL REFERENCES providers (id) CHECK (length(provider_id) = 16),
  corporation_id BLOB REFERENCES corporations (id) CHECK (length(corporation_id) = 16),
  domain TEXT NOT NULL UNIQUE CHECK (length(domain) BETWEEN 3 AND 253),
  company_name TEXT NOT NULL CHECK (length(company_name) BETWEEN 1 AND 255),
  owner_id BLOB NOT NULL CHECK (length(owner_id) = 16),
  logo_url TEXT NOT NULL CHECK (length(logo_url) <= 2048),
  points_per_dollar INTEGER NOT NULL CONSTRAINT rate_within_bounds CHECK (points_per_dollar BETWEEN 1 AND 10000),
  reserve_alert INTEGER CHECK (reserve_alert >= 0),
  reserve_bcc TEXT CHECK (length(reserve_bcc) <= 254),
  allow_zero_points INTEGER NOT NULL CHECK (allow_zero_points IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  handed_over_at INTEGER
) STRICT;
CREATE INDEX companies_provider ON companies (provider_id, created_at, id);
CREATE INDEX companies_corporation ON companies (corporation_id, created_at, id);

CREATE TABLE users (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  company_id BLOB NOT NULL REFERENCES companies (id) CHECK (length(company_id) = 16),
  email TEXT NOT NULL CHECK (length(email) <= 254),
  email_folded TEXT NOT NULL CHECK (length(email_folded) <= 254),
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
  manager INTEGER NOT NULL CHECK (manager IN (0, 1)),
  company_admin INTEGER NOT NULL CHECK (company_admin IN (0, 1)),
  corporation_admin INTEGER NOT NULL CHECK (corporation_admin IN (0, 1)),
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
CREATE INDEX users_active ON users (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX users_all ON users (company_id, created_at, id);
CREATE INDEX users_employee ON users (company_id, employee_id, created_at, id) WHERE employee_id IS NOT NULL;
CREATE INDEX users_admins ON users (company_id, id) WHERE company_admin AND deleted_at IS NULL;
CREATE INDEX users_updated ON users (company_id, updated_at);

-- The number of a company's users that are not deleted. Triggers maintain it. With a single writer there is only one
-- part.
CREATE TABLE active_users (
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  part INTEGER NOT NULL CONSTRAINT known_part CHECK (part = 0),
  number INTEGER NOT NULL CHECK (number >= 0),
  PRIMARY KEY (company_id, part)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER users_count_new AFTER INSERT ON users WHEN NEW.deleted_at IS NULL
  BEGIN
    INSERT INTO active_users VALUES (NEW.company_id, 0, 1)
      ON CONFLICT (company_id, part) DO UPDATE SET number = number + 1;
  END;
CREATE TRIGGER users_count_changed AFTER UPDATE OF deleted_at ON users
  WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)
  BEGIN
    UPDATE active_users SET number = number + CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END
      WHERE company_id = NEW.company_id;
  END;

CREATE TABLE occasions (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  company_id BLOB REFERENCES companies (id) CHECK (length(company_id) = 16),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 255),
  default_message TEXT NOT NULL CHECK (length(default_message) <= 10000),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  visible INTEGER NOT NULL CHECK (visible IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE INDEX occasions_company ON occasions (company_id, created_at, id) WHERE deleted_at IS NULL;

-- notified_of_expiry is the expiry time of the certificate about which the administrators were notified.
CREATE TABLE saml_settings (
  company_id BLOB NOT NULL PRIMARY KEY REFERENCES companies (id) CHECK (length(company_id) = 16),
  idp_id TEXT CHECK (length(idp_id) BETWEEN 1 AND 1024),
  idp_url TEXT CHECK (length(idp_url) <= 2048),
  idp_certificate TEXT CHECK (length(idp_certificate) <= 65536),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  updated_at INTEGER NOT NULL,
  notified_of_expiry INTEGER,
  CONSTRAINT active_is_complete CHECK (
    NOT active OR (idp_id IS NOT NULL AND idp_url IS NOT NULL AND idp_certificate IS NOT NULL)
  )
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A recurring distribution. next_on is the oldest date that is not settled yet. due_at is when it is tried next: 00:00
-- UTC of that date, or later after a failed attempt. failing_since is the time of the first failed attempt, and failure
-- is the reason for the last refusal.
CREATE TABLE schedules (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  company_id BLOB NOT NULL REFERENCES companies (id) CHECK (length(company_id) = 16),
  wallet INTEGER NOT NULL CONSTRAINT known_wallet CHECK (wallet BETWEEN 1 AND 3),
  points INTEGER NOT NULL CHECK (points > 0),
  period INTEGER NOT NULL CONSTRAINT known_period CHECK (period IN (1, 2)),
  start_on TEXT NOT NULL CHECK (length(start_on) = 10),
  next_on TEXT NOT NULL CHECK (length(next_on) = 10 AND next_on >= start_on),
  due_at INTEGER NOT NULL,
  failing_since INTEGER,
  failure TEXT,
  created_at INTEGER NOT NULL,
  cancelled_at INTEGER,
  CONSTRAINT failing_has_a_reason CHECK ((failing_since IS NULL) = (failure IS NULL))
) STRICT;
CREATE INDEX schedules_due ON schedules (due_at, id) WHERE cancelled_at IS NULL;
CREATE INDEX schedules_company ON schedules (company_id, created_at, id);

-- Skipped dates, with the reason. A paid date has a journal entry instead.
CREATE TABLE skipped_dates (
  schedule_id BLOB NOT NULL REFERENCES schedules (id) CHECK (length(schedule_id) = 16),
  due_on TEXT NOT NULL CHECK (length(due_on) = 10),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (schedule_id, due_on)
) STRICT, WITHOUT ROWID;

-- Moves of companies between cells. direction: 1 the company was handed over by this cell, 2 it was imported, 3 this cell
-- refuses to import it. archived_at: when a file of this hand-over was last complete; no file exists before.
-- completed_at: when it was imported, or reopened in the cell that had handed it over.
CREATE TABLE company_moves (
  token BLOB NOT NULL PRIMARY KEY CHECK (length(token) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  direction INTEGER NOT NULL CONSTRAINT known_direction CHECK (direction BETWEEN 1 AND 3),
  release_code TEXT CHECK (length(release_code) BETWEEN 1 AND 255),
  created_at INTEGER NOT NULL,
  archived_at INTEGER,
  completed_at INTEGER,
  CONSTRAINT only_outgoing_has_code CHECK ((direction = 1) = (release_code IS NOT NULL)),
  CONSTRAINT incoming_is_complete CHECK (direction = 1 OR completed_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX company_moves_open ON company_moves (company_id) WHERE direction = 1 AND completed_at IS NULL;
CREATE INDEX company_moves_company ON company_moves (company_id, created_at);

-- The remaining work of distributions in steps: for each distribution, the number of receivers that could not be paid;
-- for each remaining step, a row with the concatenated ids of its receivers. leg is the leg of the first of these
-- receivers.
CREATE TABLE unfinished_distributions (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  unpaid_receivers INTEGER NOT NULL CHECK (unpaid_receivers >= 0)
) STRICT, WITHOUT ROWID;
CREATE TABLE distribution_steps (
  journal_entry_id BLOB NOT NULL REFERENCES unfinished_distributions (id) CHECK (length(journal_entry_id) = 16),
  leg INTEGER NOT NULL CHECK (leg >= 1),
  receivers BLOB NOT NULL CHECK (length(receivers) > 0 AND length(receivers) % 16 = 0),
  PRIMARY KEY (journal_entry_id, leg)
) STRICT, WITHOUT ROWID;

-- The tables of the ledger refer to rows that were read in the same transaction and are never deleted, so they have
-- no foreign keys: on PostgreSQL each foreign key would lock the referenced row. Each row has its company_id.

-- Journal entries: a row for each requested operation that moved points or changed a company or a recognition.
-- kind: 1 company creation, 2 rate change, 3 transfer to another provider, 4 recognition, 5 amendment of a recognition,
-- 6 deposit, 7 distribution, 8 redemption, 9 refund, 10 override, 11 deletion of a user, 12 withdrawal.
-- actor: 1 provider, 2 operator, 3 schedule.
-- reference: the id of the request, or the user of the operating system.
-- subject_id: the object of the operation, which is the sender, the user, the redemption, the schedule, the
-- recognition or the new provider.
-- legs: the number of transfers of the entry, or of its recognitions.
CREATE TABLE journal_entries (
  position INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  provider_id BLOB NOT NULL CHECK (length(provider_id) = 16),
  kind INTEGER NOT NULL,
  actor INTEGER NOT NULL CONSTRAINT known_actor CHECK (actor BETWEEN 1 AND 3),
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 255),
  idempotency_key TEXT CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  points_per_dollar INTEGER NOT NULL CONSTRAINT rate_within_bounds CHECK (points_per_dollar BETWEEN 1 AND 10000),
  points INTEGER NOT NULL CHECK (points >= 0),
  legs INTEGER NOT NULL CHECK (legs >= 0),
  wallet INTEGER CONSTRAINT known_wallet CHECK (wallet BETWEEN 1 AND 3),
  subject_id BLOB CHECK (length(subject_id) = 16),
  occasion_id BLOB CHECK (length(occasion_id) = 16),
  due_on TEXT CHECK (length(due_on) = 10),
  share INTEGER CHECK (share IN (0, 1)),
  message TEXT CHECK (length(message) <= 10000),
  created_at INTEGER NOT NULL,
  CONSTRAINT columns_match_kind CHECK (
    CASE kind
      WHEN 1 THEN legs = 0 AND points = 0 AND subject_id IS NULL
      WHEN 2 THEN legs = 0 AND points = 0 AND subject_id IS NULL
      WHEN 3 THEN legs = 0 AND points = 0 AND subject_id IS NOT NULL
      WHEN 4 THEN legs >= 1 AND legs <= 10000 AND subject_id IS NOT NULL AND message IS NOT NULL
      WHEN 5 THEN legs = 0 AND points = 0 AND subject_id IS NOT NULL AND (share IS NOT NULL OR message IS NOT NULL)
      WHEN 6 THEN legs = 1 AND points > 0 AND subject_id IS NULL
      WHEN 7 THEN legs >= 1 AND points > 0 AND wallet IS NOT NULL AND (subject_id IS NULL) = (due_on IS NULL)
      WHEN 8 THEN legs = 1 AND points > 0 AND subject_id IS NOT NULL
      WHEN 9 THEN legs = 1 AND subject_id IS NOT NULL
      WHEN 10 THEN legs = 1 AND subject_id IS NOT NULL AND wallet IS NOT NULL
      WHEN 11 THEN legs >= 0 AND legs <= 3 AND points = 0 AND subject_id IS NOT NULL
      WHEN 12 THEN legs = 1 AND points > 0 AND subject_id IS NULL
      ELSE 0
    END
  ),
  CONSTRAINT only_a_sending_has_an_occasion CHECK ((kind = 4) = (occasion_id IS NOT NULL)),
  CONSTRAINT only_recognitions_are_shared CHECK (kind IN (4, 5) OR (share IS NULL AND message IS NULL)),
  CONSTRAINT sending_has_share CHECK (kind <> 4 OR share IS NOT NULL),
  CONSTRAINT wallet_of_distribution_or_override CHECK (kind IN (7, 10) OR wallet IS NULL),
  CONSTRAINT only_schedules_have_dates CHECK (kind = 7 OR due_on IS NULL)
) STRICT;
CREATE UNIQUE INDEX journal_entries_unique_subject ON journal_entries (subject_id) WHERE kind IN (9, 11);
CREATE INDEX journal_entries_company_changes ON journal_entries (company_id, position) WHERE kind <= 3;
CREATE INDEX journal_entries_by_company ON journal_entries (company_id, id);
CREATE INDEX journal_entries_not_recognitions ON journal_entries (kind, id) WHERE kind <> 4;
CREATE INDEX journal_entries_listed ON journal_entries (id) WHERE kind <> 4;
CREATE INDEX journal_entries_listed_by_company ON journal_entries (company_id, id) WHERE kind <> 4;
CREATE INDEX journal_entries_not_by_provider ON journal_entries (id) WHERE actor <> 1;
CREATE INDEX journal_entries_by_subject ON journal_entries (subject_id, kind, created_at, legs);
CREATE INDEX journal_entries_amended ON journal_entries (subject_id, position) WHERE kind = 5;
CREATE UNIQUE INDEX journal_entries_unique_date ON journal_entries (subject_id, due_on) WHERE due_on IS NOT NULL;
CREATE TRIGGER journal_entries_reject_updates BEFORE UPDATE ON journal_entries
  BEGIN SELECT RAISE(ABORT, 'rows of journal_entries are immutable'); END;
CREATE TRIGGER journal_entries_reject_deletes BEFORE DELETE ON journal_entries
  BEGIN SELECT RAISE(ABORT, 'rows of journal_entries are immutable'); END;

-- A recognition is a leg of a journal entry, which has its points, occasion and message; the column message is set only if an
-- amendment replaced that message. If a company sends a recognition, sender_id is the id of the company.
CREATE TABLE recognitions (
  journal_entry_id BLOB NOT NULL CHECK (length(journal_entry_id) = 16),
  leg INTEGER NOT NULL CONSTRAINT leg_within_bounds CHECK (leg BETWEEN 1 AND 10000),
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  sender_id BLOB NOT NULL CHECK (length(sender_id) = 16),
  receiver_id BLOB NOT NULL CHECK (length(receiver_id) = 16),
  share INTEGER NOT NULL CHECK (share IN (0, 1)),
  message TEXT CHECK (length(message) <= 10000),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (journal_entry_id, leg),
  CONSTRAINT receiver_is_not_sender CHECK (sender_id <> receiver_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at, id);
CREATE TRIGGER recognitions_reject_updates BEFORE UPDATE OF journal_entry_id, leg, id, company_id, sender_id, receiver_id, created_at ON recognitions
  BEGIN SELECT RAISE(ABORT, 'these columns of recognitions are immutable'); END;
CREATE TRIGGER recognitions_reject_deletes BEFORE DELETE ON recognitions
  BEGIN SELECT RAISE(ABORT, 'rows of recognitions cannot be deleted'); END;

-- An account is identified by its owner (a user or a company) and its kind: 1 user wallet, 2 peer wallet, 3 manager
-- wallet, 4 reserve, 5 in transit; outside: 6 funding, 7 redeemed, 8 rounding. entry_count is the number of its
-- entries. spent saturates at the maximum of a 64-bit integer. rounding_shortfall is the shortfall of the last debit,
-- within the tolerance. An alert is sent when the balance falls below alert_below.
CREATE TABLE accounts (
  owner_id BLOB NOT NULL CHECK (length(owner_id) = 16),
  kind INTEGER NOT NULL CONSTRAINT known_kind CHECK (kind BETWEEN 1 AND 8),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  balance INTEGER NOT NULL,
  spent INTEGER NOT NULL CHECK (spent >= 0),
  entry_count INTEGER NOT NULL CHECK (entry_count >= 0),
  rounding_shortfall INTEGER NOT NULL CONSTRAINT within_tolerance CHECK (rounding_shortfall BETWEEN 0 AND 10000000),
  alert_below INTEGER,
  created_at INTEGER NOT NULL,
  closed_at INTEGER,
  PRIMARY KEY (owner_id, kind),
  CONSTRAINT balance_is_not_negative CHECK (kind >= 6 OR balance >= 0),
  CONSTRAINT funded_within_bounds CHECK (kind <> 6 OR balance >= -9000000000000000000),
  CONSTRAINT redeemed_is_not_negative CHECK (kind <> 7 OR balance >= 0),
  CONSTRAINT rounding_is_not_positive CHECK (kind <> 8 OR balance <= 0),
  CONSTRAINT owner_matches_kind CHECK ((kind >= 4) = (owner_id = company_id)),
  CONSTRAINT only_wallets_close CHECK (closed_at IS NULL OR (kind <= 3 AND balance = 0)),
  CONSTRAINT only_reserve_has_alert CHECK (alert_below IS NULL OR kind = 4)
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_company ON accounts (company_id, owner_id, kind);
CREATE TRIGGER accounts_reject_updates BEFORE UPDATE OF owner_id, kind, company_id, created_at ON accounts
  BEGIN SELECT RAISE(ABORT, 'these columns of accounts are immutable'); END;
CREATE TRIGGER accounts_reject_deletes BEFORE DELETE ON accounts
  BEGIN SELECT RAISE(ABORT, 'rows of accounts cannot be deleted'); END;

-- reason: 1 recognition, 2 redemption, 3 point distribution, 4 user deleted, 5 refund, 6 override, 7 deposit,
-- 8 rounding, which is leg 0 of its journal entry, 9 withdrawal. debit_sequence and credit_sequence are the numbers of
-- the two entries in the histories of their accounts. No list in a condition has over two values: for longer ones,
-- SQLite fills a temporary table for each row.
CREATE TABLE transfers (
  journal_entry_id BLOB NOT NULL CHECK (length(journal_entry_id) = 16),
  leg INTEGER NOT NULL CHECK (leg >= 0),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  debit_owner BLOB NOT NULL CHECK (length(debit_owner) = 16),
  debit_kind INTEGER NOT NULL,
  debit_sequence INTEGER NOT NULL CHECK (debit_sequence >= 1),
  credit_owner BLOB NOT NULL CHECK (length(credit_owner) = 16),
  credit_kind INTEGER NOT NULL,
  credit_sequence INTEGER NOT NULL CHECK (credit_sequence >= 1),
  amount INTEGER NOT NULL CHECK (amount > 0),
  points INTEGER NOT NULL CHECK (points >= 0),
  points_per_dollar INTEGER NOT NULL CONSTRAINT rate_within_bounds CHECK (points_per_dollar BETWEEN 1 AND 10000),
  reason INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (journal_entry_id, leg),
  CONSTRAINT accounts_match_reason CHECK (
    CASE reason
      WHEN 1 THEN debit_kind BETWEEN 2 AND 4 AND credit_kind = 1
      WHEN 2 THEN debit_kind = 1 AND credit_kind = 7
      WHEN 3 THEN (debit_kind IN (4, 5) AND credit_kind BETWEEN 1 AND 3) OR (debit_kind = 4 AND credit_kind = 5)
        OR (debit_kind = 5 AND credit_kind = 4)
      WHEN 4 THEN debit_kind BETWEEN 1 AND 3 AND credit_kind = 4
      WHEN 5 THEN debit_kind = 7 AND credit_kind = 1
      WHEN 6 THEN (debit_kind = 4 AND credit_kind <= 3) OR (credit_kind = 4 AND debit_kind <= 3)
      WHEN 7 THEN debit_kind = 6 AND credit_kind = 4
      WHEN 8 THEN debit_kind = 8 AND credit_kind <= 4
      WHEN 9 THEN debit_kind = 4 AND credit_kind = 6
      ELSE 0
    END
  ),
  CONSTRAINT company_accounts_belong_to_company CHECK (
    (debit_kind >= 4) = (debit_owner = company_id) AND (credit_kind >= 4) = (credit_owner = company_id)
  ),
  CONSTRAINT rounding_is_leg_zero CHECK (
    (reason = 8) = (leg = 0) AND (reason <> 8 OR (points = 0 AND amount <= 10000000))
  ),
  CONSTRAINT reason_has_one_leg CHECK (leg = 1 OR reason IN (1, 3) OR reason IN (4, 8)),
  -- Tolerates half a nano-dollar in both directions. Whole dollars come first, so that no product overflows. A transfer
  -- into transit, or of the remainder from there, is the sum of the amounts for many receivers.
  CONSTRAINT amount_matches_points CHECK (
    reason BETWEEN 4 AND 6 OR reason = 8 OR (debit_kind = 4 AND credit_kind = 5) OR (debit_kind = 5 AND credit_kind = 4) OR CASE
      WHEN abs((amount / 1000000000) * points_per_dollar - points) > 20000 THEN 0
      ELSE abs(((amount / 1000000000) * points_per_dollar - points) * 1000000000
        + (amount % 1000000000) * points_per_dollar) * 2 <= points_per_dollar
    END
  )
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX transfers_debit ON transfers (debit_owner, debit_kind, debit_sequence);
CREATE UNIQUE INDEX transfers_credit ON transfers (credit_owner, credit_kind, credit_sequence);
CREATE TRIGGER transfers_reject_updates BEFORE UPDATE ON transfers
  BEGIN SELECT RAISE(ABORT, 'rows of transfers are immutable'); END;
CREATE TRIGGER transfers_reject_deletes BEFORE DELETE ON transfers
  BEGIN SELECT RAISE(ABORT, 'rows of transfers are immutable'); END;

-- Seal n extends the chain of seal n - 1 by the rows that no earlier seal covers: the journal entries before
-- `journal_before`, with their transfers and recognitions, and the audit entries before `audit_before`. A message is
-- represented by its digest. The events of these journal entries are represented by one digest over their ids and
-- bodies, which remains when events are deleted. The counts are the numbers of rows that the seal covers. format is 1,
-- the format described here.
CREATE TABLE seals (
  sequence INTEGER NOT NULL PRIMARY KEY CHECK (sequence >= 1),
  format INTEGER NOT NULL CONSTRAINT known_format CHECK (format = 1),
  journal_before INTEGER NOT NULL,
  journal_entries INTEGER NOT NULL CHECK (journal_entries >= 0),
  audit_before INTEGER NOT NULL,
  audit_entries INTEGER NOT NULL CHECK (audit_entries >= 0),
  events INTEGER NOT NULL CHECK (events >= 0),
  events_digest BLOB NOT NULL CHECK (length(events_digest) = 32),
  head BLOB NOT NULL CHECK (length(head) = 32),
  created_at INTEGER NOT NULL,
  CONSTRAINT covers_an_entry CHECK (journal_entries + audit_entries >= 1)
) STRICT;
CREATE TRIGGER seals_reject_updates BEFORE UPDATE ON seals
  BEGIN SELECT RAISE(ABORT, 'rows of seals are immutable'); END;
CREATE TRIGGER seals_reject_deletes BEFORE DELETE ON seals
  BEGIN SELECT RAISE(ABORT, 'rows of seals are immutable'); END;

-- The id of an event is that of its subject: the recognition, the amendment or the redemption. kind: 1 recognition
-- received, 2 recognition updated, 3 redemption created. The last event is never deleted, because the position of the
-- next event is computed from it.
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  provider_id BLOB NOT NULL CHECK (length(provider_id) = 16),
  kind INTEGER NOT NULL CONSTRAINT known_kind CHECK (kind BETWEEN 1 AND 3),
  journal_entry_id BLOB NOT NULL CHECK (length(journal_entry_id) = 16),
  body BLOB NOT NULL CHECK (length(body) >= 2),
  original_digest BLOB CHECK (length(original_digest) = 32),
  created_at INTEGER NOT NULL,
  CONSTRAINT id_matches_subject CHECK ((kind = 1) = (id <> journal_entry_id))
) STRICT;

CREATE INDEX events_feed ON events (provider_id, position);
CREATE INDEX events_not_received ON events (kind, id) WHERE kind <> 1;

-- The delivery of an event. state: 1 pending, 2 delivered, 3 exhausted, 4 unaddressed, 5 handed over with its company
-- while it was pending. While it is claimed, next_attempt_at is the end of its lease.
CREATE TABLE deliveries (
  event_id BLOB NOT NULL PRIMARY KEY CHECK (length(event_id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  provider_id BLOB NOT NULL CHECK (length(provider_id) = 16),
  state INTEGER NOT NULL CONSTRAINT known_state CHECK (state BETWEEN 1 AND 5),
  attempts INTEGER NOT NULL,
  attempts_before_replay INTEGER NOT NULL CONSTRAINT replayed_after_attempts CHECK (attempts_before_replay BETWEEN 0 AND attempts),
  next_attempt_at INTEGER,
  lease_id BLOB CHECK (length(lease_id) = 16),
  CONSTRAINT pending_has_next_attempt CHECK ((state = 1) = (next_attempt_at IS NOT NULL)),
  CONSTRAINT only_pending_is_leased CHECK (lease_id IS NULL OR state = 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (provider_id, next_attempt_at, event_id) WHERE state = 1;
CREATE INDEX deliveries_exhausted ON deliveries (event_id) WHERE state = 3;
CREATE INDEX deliveries_exhausted_by_provider ON deliveries (provider_id, event_id) WHERE state = 3;
CREATE INDEX deliveries_unaddressed ON deliveries (event_id) WHERE state = 4;
CREATE INDEX deliveries_unaddressed_by_provider ON deliveries (provider_id, event_id) WHERE state = 4;
CREATE INDEX deliveries_handed_over ON deliveries (event_id) WHERE state = 5;

-- Only delivered events may be deleted. A deleted user's data can be erased from the body of any event.
CREATE TRIGGER events_reject_updates
  BEFORE UPDATE OF position, id, company_id, provider_id, kind, journal_entry_id, created_at ON events
  BEGIN SELECT RAISE(ABORT, 'these columns of events are immutable'); END;
CREATE TRIGGER events_deleted_after_delivery BEFORE DELETE ON events
  WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = OLD.id AND state = 2)
  BEGIN SELECT RAISE(ABORT, 'only delivered events may be deleted'); END;

CREATE TABLE attempts (
  event_id BLOB NOT NULL CHECK (length(event_id) = 16),
  id BLOB NOT NULL CHECK (length(id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  number INTEGER NOT NULL CHECK (number >= 1),
  started_at INTEGER NOT NULL,
  duration_micros INTEGER NOT NULL CHECK (duration_micros >= 0),
  status INTEGER,
  failure TEXT,
  response_headers TEXT CHECK (length(response_headers) <= 1024),
  response BLOB NOT NULL CHECK (length(response) <= 4096),
  PRIMARY KEY (event_id, id)
) STRICT, WITHOUT ROWID;

-- channel: 1 mail. recipient: an address of the channel. notification: a JSON object with a kind and its data, from
-- which the channel renders a message. state: 1 waiting, 2 sent, 3 given up.
CREATE TABLE notifications (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  provider_id BLOB NOT NULL CHECK (length(provider_id) = 16),
  channel INTEGER NOT NULL CHECK (channel >= 1),
  recipient TEXT NOT NULL CHECK (length(recipient) <= 2048),
  notification TEXT NOT NULL,
  state INTEGER NOT NULL CONSTRAINT known_state CHECK (state BETWEEN 1 AND 3),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  next_attempt_at INTEGER,
  lease_id BLOB CHECK (length(lease_id) = 16),
  created_at INTEGER NOT NULL,
  CONSTRAINT waiting_has_next_attempt CHECK ((state = 1) = (next_attempt_at IS NOT NULL)),
  CONSTRAINT only_waiting_is_leased CHECK (lease_id IS NULL OR state = 1)
) STRICT;
CREATE INDEX notifications_due ON notifications (channel, next_attempt_at) WHERE state = 1;
-- Providers take turns.
CREATE INDEX notifications_due_by_provider ON notifications (provider_id, channel, next_attempt_at, id) WHERE state = 1;
CREATE INDEX notifications_given_up ON notifications (id, channel) WHERE state = 3;
CREATE INDEX notifications_sent ON notifications (id, channel) WHERE state = 2;

CREATE TABLE idempotency_records (
  scope BLOB NOT NULL CHECK (length(scope) = 16),
  idempotency_key TEXT NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  company_id BLOB CHECK (length(company_id) = 16),
  request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
  status INTEGER NOT NULL CONSTRAINT only_successes CHECK (status BETWEEN 200 AND 299),
  body BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL CHECK (expires_at > created_at),
  PRIMARY KEY (scope, idempotency_key)
) STRICT; -- rows in insertion order: in key order, bodies would be scattered over the table
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

-- Audit entries: who changed what, if no journal entry records it: credentials, single sign-on settings, options,
-- schedules, changes by the operator. The numbers of actions are defined in the domain crate. state_digest is a
-- digest of the state that the action left: of the provider, the schedule, the single sign-on settings, the options
-- or the global occasion.
CREATE TABLE audit_entries (
  position INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  actor INTEGER NOT NULL CONSTRAINT known_actor CHECK (actor BETWEEN 1 AND 3),
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 255),
  idempotency_key TEXT CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  action INTEGER NOT NULL CHECK (action >= 1),
  company_id BLOB CHECK (length(company_id) = 16),
  provider_id BLOB CHECK (length(provider_id) = 16),
  object_id BLOB CHECK (length(object_id) = 16),
  detail TEXT NOT NULL,
  state_digest BLOB CHECK (length(state_digest) = 32),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_entries_company ON audit_entries (company_id, id);
CREATE INDEX audit_entries_provider ON audit_entries (provider_id, id);
CREATE TRIGGER audit_entries_reject_updates BEFORE UPDATE ON audit_entries
  BEGIN SELECT RAISE(ABORT, 'rows of audit_entries are immutable'); END;
CREATE TRIGGER audit_entries_reject_deletes BEFORE DELETE ON audit_entries
  BEGIN SELECT RAISE(ABORT, 'rows of audit_entries are immutable'); END;

-- The latest failed requests, without personal data. provider_id is NULL if the request had no valid credentials; route
-- is NULL if the path matches no route. status_class is 4 or 5.
CREATE TABLE failed_requests (
  id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
  request_id TEXT NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
  provider_id BLOB CHECK (length(provider_id) = 16),
  method TEXT NOT NULL CHECK (length(method) <= 16),
  route TEXT CHECK (length(route) <= 255),
  status INTEGER NOT NULL,
  status_class INTEGER NOT NULL CONSTRAINT failed_class CHECK (status_class IN (4, 5) AND status_class = status / 100),
  duration_ms INTEGER NOT NULL CONSTRAINT not_negative_duration CHECK (duration_ms >= 0),
  reason TEXT NOT NULL CHECK (length(reason) <= 500),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_requests_class ON failed_requests (status_class, id);
CREATE INDEX failed_requests_provider ON failed_requests (status_class, provider_id, id);

-- Statistics for the operator's console: per company and day (since 1970; day 0 is the total), recognitions and
-- changes of the accounts in nano-dollars, updated when a seal is written; per company, day and occasion; per hour of
-- the service; per hour of a provider's deliveries.
CREATE TABLE company_statistics (
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  day INTEGER NOT NULL CHECK (day >= 0),
  recognitions INTEGER NOT NULL,
  points INTEGER NOT NULL,
  reserve INTEGER NOT NULL,
  user_wallets INTEGER NOT NULL,
  peer_wallets INTEGER NOT NULL,
  manager_wallets INTEGER NOT NULL,
  PRIMARY KEY (company_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE occasion_statistics (
  company_id BLOB NOT NULL CHECK (length(company_id) = 16),
  day INTEGER NOT NULL CHECK (day >= 0),
  occasion_id BLOB NOT NULL CHECK (length(occasion_id) = 16),
  recognitions INTEGER NOT NULL,
  points INTEGER NOT NULL,
  PRIMARY KEY (company_id, day, occasion_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX occasion_statistics_day ON occasion_statistics (day, company_id);
CREATE TABLE service_statistics (
  hour INTEGER NOT NULL PRIMARY KEY,
  recognitions INTEGER NOT NULL,
  points INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  client_errors INTEGER NOT NULL,
  server_errors INTEGER NOT NULL,
  duration_micros INTEGER NOT NULL
) STRICT;
CREATE TABLE provider_statistics (
  provider_id BLOB NOT NULL CHECK (length(provider_id) = 16),
  hour INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  duration_micros INTEGER NOT NULL,
  PRIMARY KEY (provider_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX provider_statistics_hour ON provider_statistics (hour);
-- The durations in an hour, counted in buckets: of requests to the API (the nil UUID), or of a provider's deliveries.
CREATE TABLE duration_statistics (
  subject_id BLOB NOT NULL CHECK (length(subject_id) = 16),
  hour INTEGER NOT NULL,
  bucket INTEGER NOT NULL CONSTRAINT known_bucket CHECK (bucket BETWEEN 0 AND 14),
  number INTEGER NOT NULL,
  PRIMARY KEY (subject_id, hour, bucket)
) STRICT, WITHOUT ROWID;
CREATE INDEX duration_statistics_hour ON duration_statistics (hour);
-- The results of a provider's latest attempts: one bit for each attempt, which is 1 if the attempt was confirmed. The
-- lowest bit is the newest attempt.
CREATE TABLE latest_attempts (
  provider_id BLOB NOT NULL PRIMARY KEY CHECK (length(provider_id) = 16),
  results INTEGER NOT NULL CONSTRAINT bits_of_latest_attempts CHECK (results BETWEEN 0 AND 1048575),
  attempts INTEGER NOT NULL CONSTRAINT latest_attempts_only CHECK (attempts BETWEEN 0 AND 20),
  ended_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
