-- The schema of the first release. Amounts are in nano-dollars. Rarely changed tables come first, then the ledger,
-- then the outbox. The numbers of kinds are defined in the domain crate.

CREATE TABLE providers (
  id uuid NOT NULL PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  api_key text NOT NULL UNIQUE CHECK (length(api_key) BETWEEN 1 AND 255),
  api_secret_hash bytea NOT NULL,
  encrypted_shared_secret bytea NOT NULL,
  former_api_secret_hash bytea,
  former_api_secret_until timestamptz CHECK ((former_api_secret_until IS NULL) = (former_api_secret_hash IS NULL)),
  former_encrypted_shared_secret bytea,
  former_shared_secret_until timestamptz
    CHECK ((former_shared_secret_until IS NULL) = (former_encrypted_shared_secret IS NULL)),
  callback_url text CHECK (length(callback_url) <= 2048),
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

-- owner_id is a user whose row is inserted later in the same transaction.
-- handed_over_at is set while the company is closed here, because it was handed over to another cell.
CREATE TABLE companies (
  id uuid NOT NULL PRIMARY KEY,
  provider_id uuid NOT NULL REFERENCES providers (id),
  corporation_id uuid REFERENCES corporations (id),
  domain text NOT NULL UNIQUE CHECK (length(domain) BETWEEN 3 AND 253),
  company_name text NOT NULL CHECK (length(company_name) BETWEEN 1 AND 255),
  owner_id uuid NOT NULL,
  logo_url text NOT NULL CHECK (length(logo_url) <= 2048),
  points_per_dollar integer NOT NULL CONSTRAINT rate_within_bounds CHECK (points_per_dollar BETWEEN 1 AND 10000),
  reserve_alert bigint CHECK (reserve_alert >= 0),
  reserve_bcc text CHECK (length(reserve_bcc) <= 254),
  allow_zero_points boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  handed_over_at timestamptz
);
CREATE INDEX companies_provider ON companies (provider_id, created_at, id);
CREATE INDEX companies_corporation ON companies (corporation_id, created_at, id);

CREATE TABLE users (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL REFERENCES companies (id),
  email text NOT NULL CHECK (length(email) <= 254),
  email_folded text NOT NULL CHECK (length(email_folded) <= 254),
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
CREATE INDEX users_active ON users (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX users_all ON users (company_id, created_at, id);
CREATE INDEX users_employee ON users (company_id, employee_id, created_at, id) WHERE employee_id IS NOT NULL;
CREATE INDEX users_admins ON users (company_id, id) WHERE company_admin AND deleted_at IS NULL;
CREATE INDEX users_updated ON users (company_id, updated_at);

-- The number of a company's users that are not deleted: the sum of up to 16 parts, so that users who are created at
-- the same time rarely wait for each other. Triggers maintain it. The last hexadecimal digit of a user's id selects
-- the part.
-- Functions that use tables are bound to the schema of the migration, whatever the search_path of their caller.
CREATE TABLE active_users (
  company_id uuid NOT NULL,
  part smallint NOT NULL CONSTRAINT known_part CHECK (part BETWEEN 0 AND 15),
  number bigint NOT NULL CHECK (number >= 0),
  PRIMARY KEY (company_id, part)
) WITH (fillfactor = 70);
CREATE FUNCTION count_new_user() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    INSERT INTO active_users AS a VALUES (NEW.company_id, get_byte(uuid_send(NEW.id), 15) & 15, 1)
      ON CONFLICT (company_id, part) DO UPDATE SET number = a.number + 1;
    RETURN NULL;
  END $$;
CREATE FUNCTION count_changed_user() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    UPDATE active_users SET number = number + CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END
      WHERE company_id = NEW.company_id AND part = get_byte(uuid_send(NEW.id), 15) & 15;
    RETURN NULL;
  END $$;
CREATE TRIGGER users_count_new AFTER INSERT ON users
  FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION count_new_user();
CREATE TRIGGER users_count_changed AFTER UPDATE OF deleted_at ON users
  FOR EACH ROW WHEN ((OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)) EXECUTE FUNCTION count_changed_user();

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
CREATE INDEX occasions_company ON occasions (company_id, created_at, id) WHERE deleted_at IS NULL;

-- notified_of_expiry is the expiry time of the certificate about which the administrators were notified.
CREATE TABLE saml_settings (
  company_id uuid NOT NULL PRIMARY KEY REFERENCES companies (id),
  idp_id text CHECK (length(idp_id) BETWEEN 1 AND 1024),
  idp_url text CHECK (length(idp_url) <= 2048),
  idp_certificate text CHECK (length(idp_certificate) <= 65536),
  active boolean NOT NULL,
  updated_at timestamptz NOT NULL,
  notified_of_expiry timestamptz,
  CONSTRAINT active_is_complete CHECK (
    NOT active OR (idp_id IS NOT NULL AND idp_url IS NOT NULL AND idp_certificate IS NOT NULL)
  )
);

CREATE TABLE settings (
  name text NOT NULL PRIMARY KEY,
  value text NOT NULL
);

-- A recurring distribution. next_on is the oldest date that is not settled yet. due_at is when it is tried next: 00:00
-- UTC of that date, or later after a failed attempt. failing_since is the time of the first failed attempt, and failure
-- is the reason for the last refusal.
CREATE TABLE schedules (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL REFERENCES companies (id),
  wallet smallint NOT NULL CONSTRAINT known_wallet CHECK (wallet BETWEEN 1 AND 3),
  points bigint NOT NULL CHECK (points > 0),
  period smallint NOT NULL CONSTRAINT known_period CHECK (period IN (1, 2)),
  start_on text NOT NULL CHECK (length(start_on) = 10),
  next_on text NOT NULL CHECK (length(next_on) = 10 AND next_on >= start_on),
  due_at timestamptz NOT NULL,
  failing_since timestamptz,
  failure text,
  created_at timestamptz NOT NULL,
  cancelled_at timestamptz,
  CONSTRAINT failing_has_a_reason CHECK ((failing_since IS NULL) = (failure IS NULL))
);
CREATE INDEX schedules_due ON schedules (due_at, id) WHERE cancelled_at IS NULL;
CREATE INDEX schedules_company ON schedules (company_id, created_at, id);

-- Skipped dates, with the reason. A paid date has a journal entry instead.
CREATE TABLE skipped_dates (
  schedule_id uuid NOT NULL REFERENCES schedules (id),
  due_on text NOT NULL CHECK (length(due_on) = 10),
  company_id uuid NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (schedule_id, due_on)
);

-- Moves of companies between cells. direction: 1 the company was handed over by this cell, 2 it was imported, 3 this cell
-- refuses to import it. archived_at: when a file of this hand-over was last complete; no file exists before.
-- completed_at: when it was imported, or reopened in the cell that had handed it over.
CREATE TABLE company_moves (
  token uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  direction smallint NOT NULL CONSTRAINT known_direction CHECK (direction BETWEEN 1 AND 3),
  release_code text CHECK (length(release_code) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  archived_at timestamptz,
  completed_at timestamptz,
  CONSTRAINT only_outgoing_has_code CHECK ((direction = 1) = (release_code IS NOT NULL)),
  CONSTRAINT incoming_is_complete CHECK (direction = 1 OR completed_at IS NOT NULL)
);
CREATE UNIQUE INDEX company_moves_open ON company_moves (company_id) WHERE direction = 1 AND completed_at IS NULL;
CREATE INDEX company_moves_company ON company_moves (company_id, created_at);

-- The remaining work of distributions in steps: for each distribution, the number of receivers that could not be paid;
-- for each remaining step, a row with the concatenated ids of its receivers. leg is the leg of the first of these
-- receivers.
CREATE TABLE unfinished_distributions (
  id uuid NOT NULL PRIMARY KEY,
  unpaid_receivers integer NOT NULL CHECK (unpaid_receivers >= 0)
);
CREATE TABLE distribution_steps (
  journal_entry_id uuid NOT NULL REFERENCES unfinished_distributions (id),
  leg integer NOT NULL CHECK (leg >= 1),
  receivers bytea NOT NULL CHECK (length(receivers) > 0 AND length(receivers) % 16 = 0),
  PRIMARY KEY (journal_entry_id, leg)
);

-- The tables of the ledger refer to rows that were read in the same transaction and are never deleted, so they have
-- no foreign keys: on PostgreSQL each foreign key would lock the referenced row. Each row has its company_id.

-- Journal entries, events and audit entries are ordered by the id of the transaction that wrote them. Everything before
-- complete_before() is committed, and no later commit can add to it.
--
-- Only sessions of guerdon write such rows. Each takes an advisory lock when it connects, before its first transaction,
-- and holds it: the lock of the class 1735746917 whose number is the oid of the tables' schema. A transaction whose
-- session does not hold that lock in this database cannot add such rows, and is ignored. A transaction whose session is
-- unknown (a prepared one, or one that is just ending) counts as one of guerdon. journal_position() is null in every
-- other session, so that the database refuses these rows from such a session.
--
-- All three functions are bound to the objects that they use when they are created, whatever the search_path of their
-- caller. `guerdon migrate` replaces them after a restore into another cluster, which has a different transaction
-- counter.
CREATE FUNCTION journal_position() RETURNS bigint LANGUAGE sql STABLE
  RETURN CASE WHEN current_setting('guerdon.writer', true) = 'on' THEN pg_current_xact_id()::text::bigint + 0 END;
CREATE FUNCTION writing_transactions() RETURNS TABLE ("position" bigint, transaction_id xid, pid integer)
LANGUAGE sql STABLE
BEGIN ATOMIC
  -- Both sides of the join use a single read of the locks: between two reads a session could end.
  WITH locks AS MATERIALIZED (
    SELECT l.pid, l.locktype, l.transactionid, l.mode, l.database, l.classid, l.objid, l.objsubid FROM pg_locks AS l
  )
  SELECT under_way::text::bigint + 0, under_way::xid, owner.pid
  FROM pg_snapshot_xip(pg_current_snapshot()) AS under_way LEFT JOIN locks AS owner
    ON owner.locktype = 'transactionid' AND owner.mode = 'ExclusiveLock' AND owner.transactionid = under_way::xid
  WHERE owner.pid IS NULL OR EXISTS (
    SELECT FROM locks AS writer WHERE writer.pid = owner.pid AND writer.locktype = 'advisory'
      AND writer.classid = 1735746917 AND writer.objsubid = 2
      AND writer.objid = (SELECT relnamespace FROM pg_class WHERE oid = 'settings'::regclass)
      AND writer.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  );
END;
CREATE FUNCTION complete_before() RETURNS bigint LANGUAGE sql STABLE
  RETURN COALESCE(
    (SELECT min(position) FROM writing_transactions()), pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 0
  );

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME; END $$;
-- TRUNCATE has separate triggers: Citus does not create a trigger that combines TRUNCATE with other statements on the
-- node that stores the rows.

-- The rules of a journal entry and of a transfer are functions: PostgreSQL reads the text of a CHECK again for every
-- statement, which takes longer than writing a batch of rows, but compiles a function once for each session. They use
-- built-in functions only, so they need no search_path of their own, which PostgreSQL would set for each row.

CREATE FUNCTION journal_entry_is_valid(
  kind smallint, actor smallint, reference text, idempotency_key text, points_per_dollar integer, points bigint,
  legs integer, wallet smallint, subject_id uuid, occasion_id uuid, due_on text, share boolean, message text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN
    RETURN CASE kind
        WHEN 1 THEN legs = 0 AND points = 0 AND subject_id IS NULL
        WHEN 2 THEN legs = 0 AND points = 0 AND subject_id IS NULL
        WHEN 3 THEN legs = 0 AND points = 0 AND subject_id IS NOT NULL
        WHEN 4 THEN legs >= 1 AND legs <= 10000 AND points >= 0 AND subject_id IS NOT NULL AND message IS NOT NULL
          AND share IS NOT NULL
        WHEN 5 THEN legs = 0 AND points = 0 AND subject_id IS NOT NULL AND (share IS NOT NULL OR message IS NOT NULL)
        WHEN 6 THEN legs = 1 AND points > 0 AND subject_id IS NULL
        WHEN 7 THEN legs >= 1 AND points > 0 AND wallet IS NOT NULL AND (subject_id IS NULL) = (due_on IS NULL)
        WHEN 8 THEN legs = 1 AND points > 0 AND subject_id IS NOT NULL
        WHEN 9 THEN legs = 1 AND points >= 0 AND subject_id IS NOT NULL
        WHEN 10 THEN legs = 1 AND points >= 0 AND subject_id IS NOT NULL AND wallet IS NOT NULL
        WHEN 11 THEN legs >= 0 AND legs <= 3 AND points = 0 AND subject_id IS NOT NULL
        WHEN 12 THEN legs = 1 AND points > 0 AND subject_id IS NULL
        ELSE false
      END
      AND actor BETWEEN 1 AND 3
      AND (reference IS NULL OR length(reference) BETWEEN 1 AND 255)
      AND (idempotency_key IS NULL OR length(idempotency_key) BETWEEN 1 AND 255)
      AND points_per_dollar BETWEEN 1 AND 10000
      AND (kind = 4) = (occasion_id IS NOT NULL)
      AND (kind IN (4, 5) OR (share IS NULL AND message IS NULL))
      AND (message IS NULL OR length(message) <= 10000)
      AND (wallet IS NULL OR (kind IN (7, 10) AND wallet BETWEEN 1 AND 3))
      AND (due_on IS NULL OR (kind = 7 AND length(due_on) = 10));
  END $$;

-- Journal entries: a row for each requested operation that moved points or changed a company or a recognition.
-- kind: 1 company creation, 2 rate change, 3 transfer to another provider, 4 recognition, 5 amendment of a recognition,
-- 6 deposit, 7 distribution, 8 redemption, 9 refund, 10 override, 11 deletion of a user, 12 withdrawal.
-- actor: 1 provider, 2 operator, 3 schedule.
-- reference: the id of the request, or the user of the operating system.
-- subject_id: the object of the operation, which is the sender, the user, the redemption, the schedule, the
-- recognition or the new provider.
-- legs: the number of transfers of the entry, or of its recognitions.
CREATE TABLE journal_entries (
  position bigint NOT NULL DEFAULT journal_position(),
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  kind smallint NOT NULL,
  actor smallint NOT NULL,
  reference text,
  idempotency_key text,
  points_per_dollar integer NOT NULL,
  points bigint NOT NULL,
  legs integer NOT NULL,
  wallet smallint,
  subject_id uuid,
  occasion_id uuid,
  due_on text,
  share boolean,
  message text,
  created_at timestamptz NOT NULL,
  CONSTRAINT entry_is_valid CHECK (
    journal_entry_is_valid(
      kind, actor, reference, idempotency_key, points_per_dollar, points, legs, wallet, subject_id, occasion_id, due_on,
      share, message
    )
  )
);
CREATE UNIQUE INDEX journal_entries_position ON journal_entries (position, id);
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
CREATE TRIGGER journal_entries_immutable BEFORE UPDATE OR DELETE ON journal_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_entries_not_truncated BEFORE TRUNCATE ON journal_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A recognition is a leg of a journal entry, which has its points, occasion and message; the column message is set only if an
-- amendment replaced that message. If a company sends a recognition, sender_id is the id of the company.
CREATE TABLE recognitions (
  journal_entry_id uuid NOT NULL,
  leg integer NOT NULL CONSTRAINT leg_within_bounds CHECK (leg BETWEEN 1 AND 10000),
  id uuid NOT NULL UNIQUE,
  company_id uuid NOT NULL,
  sender_id uuid NOT NULL,
  receiver_id uuid NOT NULL,
  share boolean NOT NULL,
  message text CHECK (length(message) <= 10000),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (journal_entry_id, leg),
  CONSTRAINT receiver_is_not_sender CHECK (sender_id <> receiver_id)
);
CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at, id);
CREATE TRIGGER recognitions_immutable
  BEFORE UPDATE OF journal_entry_id, leg, id, company_id, sender_id, receiver_id, created_at OR DELETE ON recognitions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER recognitions_not_truncated BEFORE TRUNCATE ON recognitions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- An account is identified by its owner (a user or a company) and its kind: 1 user wallet, 2 peer wallet, 3 manager
-- wallet, 4 reserve, 5 in transit; outside: 6 funding, 7 redeemed, 8 rounding. entry_count is the number of its
-- entries. spent saturates at the maximum of a 64-bit integer. rounding_shortfall is the shortfall of the last debit,
-- within the tolerance. An alert is sent when the balance falls below alert_below.
CREATE TABLE accounts (
  owner_id uuid NOT NULL,
  kind smallint NOT NULL CONSTRAINT known_kind CHECK (kind BETWEEN 1 AND 8),
  company_id uuid NOT NULL,
  balance bigint NOT NULL,
  spent bigint NOT NULL CHECK (spent >= 0),
  entry_count bigint NOT NULL CHECK (entry_count >= 0),
  rounding_shortfall bigint NOT NULL CONSTRAINT within_tolerance CHECK (rounding_shortfall BETWEEN 0 AND 10000000),
  alert_below bigint,
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  PRIMARY KEY (owner_id, kind),
  CONSTRAINT balance_is_not_negative CHECK (kind >= 6 OR balance >= 0),
  CONSTRAINT funded_within_bounds CHECK (kind <> 6 OR balance >= -9000000000000000000),
  CONSTRAINT redeemed_is_not_negative CHECK (kind <> 7 OR balance >= 0),
  CONSTRAINT rounding_is_not_positive CHECK (kind <> 8 OR balance <= 0),
  CONSTRAINT owner_matches_kind CHECK ((kind >= 4) = (owner_id = company_id)),
  CONSTRAINT only_wallets_close CHECK (closed_at IS NULL OR (kind <= 3 AND balance = 0)),
  CONSTRAINT only_reserve_has_alert CHECK (alert_below IS NULL OR kind = 4)
) WITH (fillfactor = 70);
CREATE INDEX accounts_company ON accounts (company_id, owner_id, kind);
CREATE TRIGGER accounts_immutable
  BEFORE UPDATE OF owner_id, kind, company_id, created_at OR DELETE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accounts_not_truncated BEFORE TRUNCATE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The amount tolerates half a nano-dollar in both directions. Whole dollars come first, so that no product overflows. A
-- transfer into transit, or of the remainder from there, is the sum of the amounts for many receivers.
CREATE FUNCTION transfer_is_valid(
  leg integer, company_id uuid, debit_owner uuid, debit_kind smallint, debit_sequence bigint, credit_owner uuid,
  credit_kind smallint, credit_sequence bigint, amount bigint, points bigint, points_per_dollar integer, reason smallint
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN
    RETURN CASE reason
        WHEN 1 THEN debit_kind IN (2, 3, 4) AND credit_kind = 1
        WHEN 2 THEN debit_kind = 1 AND credit_kind = 7
        WHEN 3 THEN (debit_kind IN (4, 5) AND credit_kind IN (1, 2, 3)) OR (debit_kind = 4 AND credit_kind = 5)
          OR (debit_kind = 5 AND credit_kind = 4)
        WHEN 4 THEN debit_kind IN (1, 2, 3) AND credit_kind = 4
        WHEN 5 THEN debit_kind = 7 AND credit_kind = 1
        WHEN 6 THEN (debit_kind = 4 AND credit_kind <= 3) OR (credit_kind = 4 AND debit_kind <= 3)
        WHEN 7 THEN debit_kind = 6 AND credit_kind = 4
        WHEN 8 THEN debit_kind = 8 AND credit_kind <= 4
        WHEN 9 THEN debit_kind = 4 AND credit_kind = 6
        ELSE false
      END
      AND (debit_kind >= 4) = (debit_owner = company_id)
      AND (credit_kind >= 4) = (credit_owner = company_id)
      AND debit_sequence >= 1 AND credit_sequence >= 1
      AND leg >= 0 AND (reason NOT IN (2, 5, 6, 7, 9) OR leg = 1)
      AND (reason = 8) = (leg = 0) AND (reason <> 8 OR (points = 0 AND amount <= 10000000))
      AND amount > 0 AND points >= 0
      AND points_per_dollar BETWEEN 1 AND 10000
      AND (
        reason NOT IN (1, 2, 3, 7, 9) OR (debit_kind = 4 AND credit_kind = 5) OR (debit_kind = 5 AND credit_kind = 4)
        OR CASE
          WHEN abs((amount / 1000000000) * points_per_dollar - points) > 20000 THEN false
          ELSE abs(((amount / 1000000000) * points_per_dollar - points) * 1000000000
            + (amount % 1000000000) * points_per_dollar) * 2 <= points_per_dollar
        END
      );
  END $$;

-- reason: 1 recognition, 2 redemption, 3 point distribution, 4 user deleted, 5 refund, 6 override, 7 deposit,
-- 8 rounding, which is leg 0 of its journal entry, 9 withdrawal. debit_sequence and credit_sequence are the numbers of
-- the two entries in the histories of their accounts.
CREATE TABLE transfers (
  journal_entry_id uuid NOT NULL,
  leg integer NOT NULL,
  company_id uuid NOT NULL,
  debit_owner uuid NOT NULL,
  debit_kind smallint NOT NULL,
  debit_sequence bigint NOT NULL,
  credit_owner uuid NOT NULL,
  credit_kind smallint NOT NULL,
  credit_sequence bigint NOT NULL,
  amount bigint NOT NULL,
  points bigint NOT NULL,
  points_per_dollar integer NOT NULL,
  reason smallint NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (journal_entry_id, leg),
  CONSTRAINT transfer_is_valid CHECK (
    transfer_is_valid(
      leg, company_id, debit_owner, debit_kind, debit_sequence, credit_owner, credit_kind, credit_sequence, amount, points,
      points_per_dollar, reason
    )
  )
);
CREATE UNIQUE INDEX transfers_debit ON transfers (debit_owner, debit_kind, debit_sequence);
CREATE UNIQUE INDEX transfers_credit ON transfers (credit_owner, credit_kind, credit_sequence);
CREATE TRIGGER transfers_immutable BEFORE UPDATE OR DELETE ON transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transfers_not_truncated BEFORE TRUNCATE ON transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Seal n extends the chain of seal n - 1 by the rows that no earlier seal covers: the journal entries before
-- `journal_before`, with their transfers and recognitions, and the audit entries before `audit_before`. A message is
-- represented by its digest. The events of these journal entries are represented by one digest over their ids and
-- bodies, which remains when events are deleted. The counts are the numbers of rows that the seal covers. format is 1,
-- the format described here.
CREATE TABLE seals (
  sequence bigint NOT NULL PRIMARY KEY CHECK (sequence >= 1),
  format smallint NOT NULL CONSTRAINT known_format CHECK (format = 1),
  journal_before bigint NOT NULL,
  journal_entries bigint NOT NULL CHECK (journal_entries >= 0),
  audit_before bigint NOT NULL,
  audit_entries bigint NOT NULL CHECK (audit_entries >= 0),
  events bigint NOT NULL CHECK (events >= 0),
  events_digest bytea NOT NULL CHECK (length(events_digest) = 32),
  head bytea NOT NULL CHECK (length(head) = 32),
  created_at timestamptz NOT NULL,
  CONSTRAINT covers_an_entry CHECK (journal_entries + audit_entries >= 1)
);
CREATE TRIGGER seals_immutable BEFORE UPDATE OR DELETE ON seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seals_not_truncated BEFORE TRUNCATE ON seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The id of an event is that of its subject: the recognition, the amendment or the redemption. kind: 1 recognition
-- received, 2 recognition updated, 3 redemption created. original_digest is set when the data of a deleted user is
-- erased from the body: the digest of the body as it was originally written.
--
-- Events, deliveries and attempts are partitioned by ranges of the event's id, which increases with time. The service
-- creates partitions ahead of time, and drops those whose events were delivered and are past their retention. The default
-- partitions have the events outside all ranges.
CREATE TABLE events (
  position bigint NOT NULL DEFAULT journal_position(),
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  kind smallint NOT NULL CONSTRAINT known_kind CHECK (kind BETWEEN 1 AND 3),
  journal_entry_id uuid NOT NULL,
  body bytea NOT NULL CHECK (length(body) >= 2),
  original_digest bytea CHECK (length(original_digest) = 32),
  created_at timestamptz NOT NULL,
  CONSTRAINT id_matches_subject CHECK ((kind = 1) = (id <> journal_entry_id))
) PARTITION BY RANGE (id);
CREATE TABLE events_default PARTITION OF events DEFAULT;

CREATE INDEX events_feed ON events (provider_id, position, id);
CREATE INDEX events_not_received ON events (kind, id) WHERE kind <> 1;

-- The delivery of an event. state: 1 pending, 2 delivered, 3 exhausted, 4 unaddressed, 5 handed over with its company
-- while it was pending. While it is claimed, next_attempt_at is the end of its lease.
CREATE TABLE deliveries (
  event_id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  state smallint NOT NULL CONSTRAINT known_state CHECK (state BETWEEN 1 AND 5),
  attempts integer NOT NULL,
  attempts_before_replay integer NOT NULL CONSTRAINT replayed_after_attempts CHECK (attempts_before_replay BETWEEN 0 AND attempts),
  next_attempt_at timestamptz,
  lease_id uuid,
  CONSTRAINT pending_has_next_attempt CHECK ((state = 1) = (next_attempt_at IS NOT NULL)),
  CONSTRAINT only_pending_is_leased CHECK (lease_id IS NULL OR state = 1)
) PARTITION BY RANGE (event_id);
CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT WITH (fillfactor = 70);
CREATE INDEX deliveries_due ON deliveries (provider_id, next_attempt_at, event_id) WHERE state = 1;
CREATE INDEX deliveries_exhausted ON deliveries (event_id) WHERE state = 3;
CREATE INDEX deliveries_exhausted_by_provider ON deliveries (provider_id, event_id) WHERE state = 3;
CREATE INDEX deliveries_unaddressed ON deliveries (event_id) WHERE state = 4;
CREATE INDEX deliveries_unaddressed_by_provider ON deliveries (provider_id, event_id) WHERE state = 4;
CREATE INDEX deliveries_handed_over ON deliveries (event_id) WHERE state = 5;

-- Only delivered events may be deleted. A deleted user's data can be erased from the body of any event.
CREATE FUNCTION refuse_undelivered_deletion() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    IF EXISTS (SELECT FROM deliveries WHERE event_id = OLD.id AND state = 2) THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'only delivered events may be deleted';
  END $$;
CREATE TRIGGER events_immutable
  BEFORE UPDATE OF position, id, company_id, provider_id, kind, journal_entry_id, created_at ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_deleted_after_delivery BEFORE DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_undelivered_deletion();

CREATE TABLE attempts (
  event_id uuid NOT NULL,
  id uuid NOT NULL,
  company_id uuid NOT NULL,
  number integer NOT NULL CHECK (number >= 1),
  started_at timestamptz NOT NULL,
  duration_micros bigint NOT NULL CHECK (duration_micros >= 0),
  status smallint,
  failure text,
  response_headers text CHECK (length(response_headers) <= 1024),
  response bytea NOT NULL CHECK (length(response) <= 4096),
  PRIMARY KEY (event_id, id)
) PARTITION BY RANGE (event_id);
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

-- channel: 1 mail. recipient: an address of the channel. notification: a JSON object with a kind and its data, from
-- which the channel renders a message. state: 1 waiting, 2 sent, 3 given up.
CREATE TABLE notifications (
  id uuid NOT NULL PRIMARY KEY,
  company_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  channel smallint NOT NULL CHECK (channel >= 1),
  recipient text NOT NULL CHECK (length(recipient) <= 2048),
  notification text NOT NULL,
  state smallint NOT NULL CONSTRAINT known_state CHECK (state BETWEEN 1 AND 3),
  attempts smallint NOT NULL CHECK (attempts >= 0),
  next_attempt_at timestamptz,
  lease_id uuid,
  created_at timestamptz NOT NULL,
  CONSTRAINT waiting_has_next_attempt CHECK ((state = 1) = (next_attempt_at IS NOT NULL)),
  CONSTRAINT only_waiting_is_leased CHECK (lease_id IS NULL OR state = 1)
);
CREATE INDEX notifications_due ON notifications (channel, next_attempt_at) WHERE state = 1;
-- Providers take turns.
CREATE INDEX notifications_due_by_provider ON notifications (provider_id, channel, next_attempt_at, id) WHERE state = 1;
CREATE INDEX notifications_given_up ON notifications (id, channel) WHERE state = 3;
CREATE INDEX notifications_sent ON notifications (id, channel) WHERE state = 2;

CREATE TABLE idempotency_records (
  scope uuid NOT NULL,
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  company_id uuid,
  request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
  status smallint NOT NULL CONSTRAINT only_successes CHECK (status BETWEEN 200 AND 299),
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
  PRIMARY KEY (scope, idempotency_key)
);
CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

-- Audit entries: who changed what, if no journal entry records it: credentials, single sign-on settings, options,
-- schedules, changes by the operator. The numbers of actions are defined in the domain crate. state_digest is a
-- digest of the state that the action left: of the provider, the schedule, the single sign-on settings, the options
-- or the global occasion.
CREATE TABLE audit_entries (
  position bigint NOT NULL DEFAULT journal_position(),
  id uuid NOT NULL PRIMARY KEY,
  actor smallint NOT NULL CONSTRAINT known_actor CHECK (actor BETWEEN 1 AND 3),
  reference text CHECK (length(reference) BETWEEN 1 AND 255),
  idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  action smallint NOT NULL CHECK (action >= 1),
  company_id uuid,
  provider_id uuid,
  object_id uuid,
  detail text NOT NULL,
  state_digest bytea CHECK (length(state_digest) = 32),
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX audit_entries_position ON audit_entries (position, id);
CREATE INDEX audit_entries_company ON audit_entries (company_id, id);
CREATE INDEX audit_entries_provider ON audit_entries (provider_id, id);
CREATE TRIGGER audit_entries_immutable BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_not_truncated BEFORE TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The latest failed requests, without personal data. provider_id is NULL if the request had no valid credentials; route
-- is NULL if the path matches no route. status_class is 4 or 5.
CREATE TABLE failed_requests (
  id uuid NOT NULL PRIMARY KEY,
  request_id text NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
  provider_id uuid,
  method text NOT NULL CHECK (length(method) <= 16),
  route text CHECK (length(route) <= 255),
  status smallint NOT NULL,
  status_class smallint NOT NULL CONSTRAINT failed_class CHECK (status_class IN (4, 5) AND status_class = status / 100),
  duration_ms bigint NOT NULL CONSTRAINT not_negative_duration CHECK (duration_ms >= 0),
  reason text NOT NULL CHECK (length(reason) <= 500),
  created_at timestamptz NOT NULL
);
CREATE INDEX failed_requests_class ON failed_requests (status_class, id);
CREATE INDEX failed_requests_provider ON failed_requests (status_class, provider_id, id);

-- Statistics for the operator's console: per company and day (since 1970; day 0 is the total), recognitions and
-- changes of the accounts in nano-dollars, updated when a seal is written; per company, day and occasion; per hour of
-- the service; per hour of a provider's deliveries.
CREATE TABLE company_statistics (
  company_id uuid NOT NULL,
  day integer NOT NULL CHECK (day >= 0),
  recognitions bigint NOT NULL,
  points bigint NOT NULL,
  reserve bigint NOT NULL,
  user_wallets bigint NOT NULL,
  peer_wallets bigint NOT NULL,
  manager_wallets bigint NOT NULL,
  PRIMARY KEY (company_id, day)
) WITH (fillfactor = 70);
CREATE TABLE occasion_statistics (
  company_id uuid NOT NULL,
  day integer NOT NULL CHECK (day >= 0),
  occasion_id uuid NOT NULL,
  recognitions bigint NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (company_id, day, occasion_id)
) WITH (fillfactor = 70);
CREATE INDEX occasion_statistics_day ON occasion_statistics (day, company_id);
CREATE TABLE service_statistics (
  hour integer NOT NULL PRIMARY KEY,
  recognitions bigint NOT NULL,
  points bigint NOT NULL,
  requests bigint NOT NULL,
  client_errors bigint NOT NULL,
  server_errors bigint NOT NULL,
  duration_micros bigint NOT NULL
) WITH (fillfactor = 70);
CREATE TABLE provider_statistics (
  provider_id uuid NOT NULL,
  hour integer NOT NULL,
  delivered bigint NOT NULL,
  failed bigint NOT NULL,
  duration_micros bigint NOT NULL,
  PRIMARY KEY (provider_id, hour)
) WITH (fillfactor = 70);
CREATE INDEX provider_statistics_hour ON provider_statistics (hour);
-- The durations in an hour, counted in buckets: of requests to the API (the nil UUID), or of a provider's deliveries.
CREATE TABLE duration_statistics (
  subject_id uuid NOT NULL,
  hour integer NOT NULL,
  bucket smallint NOT NULL CONSTRAINT known_bucket CHECK (bucket BETWEEN 0 AND 14),
  number bigint NOT NULL,
  PRIMARY KEY (subject_id, hour, bucket)
) WITH (fillfactor = 70);
CREATE INDEX duration_statistics_hour ON duration_statistics (hour);
-- The results of a provider's latest attempts: one bit for each attempt, which is 1 if the attempt was confirmed. The
-- lowest bit is the newest attempt.
CREATE TABLE latest_attempts (
  provider_id uuid NOT NULL PRIMARY KEY,
  results bigint NOT NULL CONSTRAINT bits_of_latest_attempts CHECK (results BETWEEN 0 AND 1048575),
  attempts smallint NOT NULL CONSTRAINT latest_attempts_only CHECK (attempts BETWEEN 0 AND 20),
  ended_at timestamptz NOT NULL
) WITH (fillfactor = 70);
