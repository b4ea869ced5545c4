//! The lists of all failpoints and mutants. Tests enumerate them.

/// Where a failpoint is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// While a command is executed, on both databases.
    Command,
    /// While a command is executed on SQLite.
    CommandOnSqlite,
    /// While a command is executed on PostgreSQL.
    CommandOnPostgres,
    /// While a unit of work that is not a command shares a commit with another one.
    SharedCommit,
    /// While events are claimed or settled.
    Delivery,
    /// While events are settled on SQLite.
    DeliveryOnSqlite,
    /// While notifications are claimed or settled.
    Notification,
    /// While SQLite is migrated.
    MigrationOfSqlite,
    /// While PostgreSQL is migrated.
    MigrationOfPostgres,
}

/// A place in the code at which tests inject an error, a panic or the end of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failpoint {
    /// The name that the code passes to `failpoint`.
    pub name: &'static str,
    /// Which operations pass it.
    pub place: Place,
    /// Whether an error can be injected. If not, the failpoint is in a function that cannot fail.
    pub has_error: bool,
}

const fn fallible(name: &'static str, place: Place) -> Failpoint {
    Failpoint { name, place, has_error: true }
}

const fn infallible(name: &'static str, place: Place) -> Failpoint {
    Failpoint { name, place, has_error: false }
}

/// All failpoints, in the order in which an operation passes them.
pub const FAILPOINTS: [Failpoint; 50] = [
    infallible("engine.take", Place::Command),
    infallible("sqlite.wait", Place::CommandOnSqlite),
    fallible("sqlite.begin", Place::CommandOnSqlite),
    fallible("postgres.begin", Place::CommandOnPostgres),
    fallible("engine.load", Place::Command),
    fallible("unit.query", Place::Command),
    fallible("engine.decide", Place::Command),
    fallible("engine.write", Place::Command),
    fallible("ledger.delete.idempotency_records", Place::Command),
    fallible("sqlite.insert.journal_entries", Place::CommandOnSqlite),
    fallible("sqlite.insert.recognitions", Place::CommandOnSqlite),
    fallible("sqlite.insert.events", Place::CommandOnSqlite),
    fallible("sqlite.insert.deliveries", Place::CommandOnSqlite),
    fallible("sqlite.update.accounts", Place::CommandOnSqlite),
    fallible("sqlite.insert.transfers", Place::CommandOnSqlite),
    fallible("sqlite.insert.idempotency_records", Place::CommandOnSqlite),
    fallible("postgres.write.batch", Place::CommandOnPostgres),
    fallible("postgres.write.batch_done", Place::CommandOnPostgres),
    fallible("postgres.insert.large_events", Place::CommandOnPostgres),
    fallible("ledger.update.users", Place::Command),
    fallible("outbox.insert.notifications", Place::Command),
    fallible("sqlite.rollback", Place::CommandOnSqlite),
    fallible("postgres.rollback", Place::CommandOnPostgres),
    fallible("sqlite.commit", Place::CommandOnSqlite),
    fallible("sqlite.committed", Place::CommandOnSqlite),
    fallible("postgres.commit", Place::CommandOnPostgres),
    fallible("postgres.committed", Place::CommandOnPostgres),
    infallible("outbox.notify", Place::Command),
    infallible("engine.respond", Place::Command),
    fallible("sqlite.savepoint", Place::SharedCommit),
    fallible("sqlite.release", Place::SharedCommit),
    fallible("lease.select", Place::Delivery),
    fallible("lease.update", Place::Delivery),
    fallible("settlement.write", Place::Delivery),
    fallible("sqlite.settle.attempt", Place::DeliveryOnSqlite),
    fallible("sqlite.settle.delivery", Place::DeliveryOnSqlite),
    fallible("settlement.written", Place::Delivery),
    fallible("notification.select", Place::Notification),
    fallible("notification.lease", Place::Notification),
    fallible("notification.settle", Place::Notification),
    fallible("sqlite.migrate.step", Place::MigrationOfSqlite),
    fallible("sqlite.migrate.record", Place::MigrationOfSqlite),
    fallible("sqlite.migrate.commit", Place::MigrationOfSqlite),
    fallible("sqlite.migrate.committed", Place::MigrationOfSqlite),
    fallible("postgres.migrate.start", Place::MigrationOfPostgres),
    fallible("postgres.migrate.statement", Place::MigrationOfPostgres),
    fallible("postgres.migrate.index", Place::MigrationOfPostgres),
    fallible("postgres.migrate.batch", Place::MigrationOfPostgres),
    fallible("postgres.migrate.record", Place::MigrationOfPostgres),
    fallible("postgres.migrate.partitions", Place::MigrationOfPostgres),
];

/// A deliberate defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant {
    /// The name that the code passes to `is_mutant`.
    pub name: &'static str,
    /// The defect occurs on every pass whose number is a multiple of this.
    pub period: usize,
    /// A failpoint that must sometimes fail for the defect to occur.
    pub needs_failures_at: Option<&'static str>,
    /// The only database that has the mutated code.
    pub only_on: Option<Database>,
}

/// A database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

const fn mutant(name: &'static str, period: usize) -> Mutant {
    Mutant { name, period, needs_failures_at: None, only_on: None }
}

/// All mutants that a check must detect.
pub const MUTANTS: [Mutant; 17] = [
    // A transaction is rolled back instead of committed, and its commands succeed.
    mutant("lose_commit", 16),
    // Commands succeed before their transaction is committed. A later transaction commits it.
    Mutant { only_on: Some(Database::Sqlite), ..mutant("respond_before_commit", 2) },
    // A transaction that failed is committed, and its commands are retried.
    Mutant {
        needs_failures_at: Some("sqlite.insert.idempotency_records"),
        only_on: Some(Database::Sqlite),
        ..mutant("commit_aborted", 1)
    },
    Mutant {
        needs_failures_at: Some("postgres.write.batch_done"),
        only_on: Some(Database::Postgres),
        ..mutant("commit_aborted", 1)
    },
    // Commands are retried although their transaction may be committed.
    Mutant {
        needs_failures_at: Some("sqlite.committed"),
        only_on: Some(Database::Sqlite),
        ..mutant("retry_unknown_commit", 1)
    },
    Mutant {
        needs_failures_at: Some("postgres.committed"),
        only_on: Some(Database::Postgres),
        ..mutant("retry_unknown_commit", 1)
    },
    // The changes of a refused command are kept.
    mutant("keep_refused_changes", 1),
    // One changed account is not written.
    mutant("forget_account", 16),
    // One event and its delivery are not written.
    mutant("forget_event", 16),
    // One recognition is not written.
    mutant("forget_recognition", 16),
    // Responses are not stored for retries.
    mutant("forget_key", 4),
    // The response that is stored for a retry differs from the first one.
    mutant("alter_response", 4),
    // The statements of a snapshot see different states of the database.
    mutant("mix_snapshots", 1),
    // Events are claimed although another process holds their leases.
    mutant("claim_leased_events", 1),
    // Two processes claim an event at the same time.
    Mutant { only_on: Some(Database::Postgres), ..mutant("claim_without_lock", 1) },
    // The row locks on accounts are released before the accounts are written.
    Mutant { only_on: Some(Database::Postgres), ..mutant("release_account_locks", 1) },
    // An account that another transaction has locked counts as missing.
    Mutant { only_on: Some(Database::Postgres), ..mutant("treat_locked_as_absent", 1) },
];
