//! Regular tasks of `serve`: deletes records past their retention, and verifies the ledger daily. The tasks never run
//! at the same time, and use one connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::journal::Requester;
use guerdon_domain::ports::{Clock as _, Context, Store};
use guerdon_http_api::ServiceState;
use guerdon_webhook_dispatcher::Bodies;

use crate::keys::Keys;
use crate::maintenance::{DailyVerification, retention};
use crate::platform::{SystemClock, SystemIds};
use crate::settings::{Retention, Settings};

/// How often to check which tasks are due.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(60);
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
const FULL_PRUNE_INTERVAL: Duration = Duration::from_secs(24 * 3_600);

pub(super) struct Upkeep {
    pruning: Pruning,
    /// `None` if the setting turns it off.
    verification: Option<DailyVerification>,
}

/// The creation of partitions for events, the deletion of records past their retention, and when each is due.
struct Pruning {
    store: Arc<dyn Store>,
    retention: Retention,
    last_prune: Option<Instant>,
    last_full_prune: Option<Instant>,
    /// When partitions are created next.
    partitions_due_at: Instant,
    /// How long to wait if that fails.
    partitions_retry_wait: Duration,
}

impl Upkeep {
    pub(super) fn new(
        settings: &Settings,
        store: &Arc<dyn Store>,
        keys: &Arc<Keys>,
        service_state: &Arc<ServiceState>,
    ) -> Self {
        let verification = settings.verify_daily_at.map(|daily_at| {
            let service_state = Arc::clone(service_state);
            DailyVerification {
                store: Arc::clone(store),
                clock: Arc::new(SystemClock),
                keys: Arc::clone(keys),
                webhooks: settings.webhooks,
                daily_at,
                is_stopping: Box::new(move || service_state.is_draining()),
            }
        });
        let pruning = Pruning {
            store: Arc::clone(store),
            retention: settings.retention,
            last_prune: None,
            last_full_prune: None,
            partitions_due_at: Instant::now(),
            partitions_retry_wait: PRUNE_INTERVAL,
        };
        Self { pruning, verification }
    }

    /// Runs the tasks that are due. The first call only prunes, so that a process that has just started serves requests
    /// before it verifies the ledger. A verification may take hours, so it also prunes, between its snapshots.
    pub(super) fn run_due_tasks(&mut self) {
        let Self { pruning, verification } = self;
        let is_first_run = pruning.last_prune.is_none();
        pruning.run_if_due();
        if let Some(verification) = verification.as_ref().filter(|_| !is_first_run) {
            verification.run_if_due(&mut || pruning.run_if_due());
        }
    }
}

impl Pruning {
    fn run_if_due(&mut self) {
        if self.last_prune.is_none_or(|at| at.elapsed() >= PRUNE_INTERVAL) {
            self.last_prune = Some(Instant::now());
            self.prune_expired();
        }
    }

    /// Creates partitions for future events once a day. A failed attempt may have made all other transactions wait, so
    /// the waits between attempts grow from ten minutes to a day.
    fn create_partitions_if_due(&mut self) {
        if Instant::now() < self.partitions_due_at {
            return;
        }
        let created =
            retention::create_event_partitions(self.store.as_ref(), &self.retention, SystemClock.now());
        let wait = match created {
            Ok(partitions) => {
                if partitions > 0 {
                    log::info!(partitions; "created partitions for future events");
                }
                self.partitions_retry_wait = PRUNE_INTERVAL;
                FULL_PRUNE_INTERVAL
            }
            Err(cause) => {
                log::warn!(cause:%; "cannot create partitions for future events, retrying");
                let doubled = (self.partitions_retry_wait * 2).min(FULL_PRUNE_INTERVAL);
                std::mem::replace(&mut self.partitions_retry_wait, doubled)
            }
        };
        self.partitions_due_at = Instant::now() + wait;
    }

    /// Deletes expired idempotency records and, once a day, all records past their retention.
    fn prune_expired(&mut self) {
        // Before the deletion, which may take long: meanwhile events without a partition would be stored in the default
        // one.
        self.create_partitions_if_due();
        let store = self.store.as_ref();
        if self.last_full_prune.is_some_and(|at| at.elapsed() < FULL_PRUNE_INTERVAL) {
            if let Err(cause) = retention::prune_idempotency_records(store, SystemClock.now()) {
                log::warn!(cause:%; "cannot delete expired idempotency records");
            }
            return;
        }
        let requester = &Requester { reference: Some("retention".to_owned()), ..Requester::OPERATOR };
        let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, requester };
        match retention::prune(store, &self.retention, &context) {
            Ok(record) => {
                self.last_full_prune = Some(Instant::now());
                let deleted = record.deleted;
                if !deleted.is_empty() {
                    let longest_step_ms =
                        u64::try_from(record.longest_step().as_millis()).unwrap_or(u64::MAX);
                    log::info!(
                        event_partitions = deleted.event_partitions, events = deleted.events,
                        mails = deleted.mails, idempotency_records = deleted.idempotency_records, longest_step_ms;
                        "deleted records past their retention"
                    );
                }
            }
            Err(cause) => log::warn!(cause:%; "cannot delete records past their retention"),
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::StoreExt as _;
    use guerdon_persistence::testing::{TestDatabase, create_databases, postgres_if_covered};
    use guerdon_persistence::{Access, DatabaseUrl, OpenDatabase, open_with_notifiers};

    use super::*;
    use crate::maintenance::VerificationRecord;
    use crate::settings::MasterKey;

    /// Drops all partitions of events except the default ones.
    const DROP_PARTITIONS_SQL: &str = "DO $$ DECLARE name text; BEGIN FOR name IN SELECT inhrelid::regclass \
         FROM pg_inherits WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass) \
         AND inhrelid::regclass::text NOT LIKE '%_default' LOOP EXECUTE 'DROP TABLE ' || name; END LOOP; END $$";

    fn open_database(database: &TestDatabase) -> OpenDatabase {
        let url = DatabaseUrl::parse(&database.url).unwrap();
        open_with_notifiers(&url, Access::Command, Default::default()).unwrap()
    }

    fn create_upkeep(opened: &OpenDatabase, daily_at: &str) -> Upkeep {
        let keys = Arc::new(Keys::derive(&MasterKey::parse(&"01".repeat(32)).unwrap()).unwrap());
        let variables = [("GUERDON_VERIFY__DAILY_AT".into(), daily_at.into())];
        let settings = Settings::from_sources(None, variables.into_iter()).unwrap();
        Upkeep::new(&settings, &opened.background, &keys, &Arc::default())
    }

    #[test]
    fn partitions_that_cannot_be_created_are_created_later() {
        let Some(database) = postgres_if_covered() else { return };
        database.execute_sql("", DROP_PARTITIONS_SQL);
        let opened = open_database(&database);
        let mut pruning = create_upkeep(&opened, "off").pruning;
        let count_partitions = || database.count_rows("pg_inherits WHERE inhparent = 'events'::regclass");
        let reader = database.begin_and_execute("LOCK TABLE events IN ACCESS SHARE MODE");
        let mut waits = Vec::new();
        for _attempt in 0..9 {
            pruning.partitions_due_at = Instant::now();
            pruning.create_partitions_if_due();
            waits.push(pruning.partitions_due_at.duration_since(Instant::now()).as_secs().div_ceil(60));
        }
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440], "minutes");
        drop(reader);
        pruning.prune_expired();
        assert_eq!(count_partitions(), 1, "not before it is due");
        pruning.partitions_due_at = Instant::now();
        pruning.prune_expired();
        assert!(count_partitions() > 1);
        assert_eq!(pruning.partitions_retry_wait, PRUNE_INTERVAL);
    }

    #[test]
    fn the_second_check_after_the_start_verifies_the_ledger_unless_it_is_off() {
        for database in create_databases() {
            let opened = open_database(&database);
            let is_verified = || {
                opened.background.read_snapshot(|reads| VerificationRecord::load(reads)).unwrap().is_some()
            };
            let mut never = create_upkeep(&opened, "off");
            (0..3).for_each(|_| never.run_due_tasks());
            assert!(!is_verified());
            let mut daily = create_upkeep(&opened, "03:00");
            daily.run_due_tasks();
            assert!(!is_verified(), "requests come first");
            daily.run_due_tasks();
            assert!(is_verified());
        }
    }
}
