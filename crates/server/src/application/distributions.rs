//! Pays the dates of schedules when they are due, and continues distributions in steps that were interrupted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::commands::{CommandQueue, Commands};
use guerdon_domain::ports::{Store, StoreError};
use guerdon_domain::scheduler::{DateEnd, Ran, StoodBack, Unfinished, finish, run_due};
use guerdon_domain::values::JournalEntryId;

use crate::platform::surroundings;
use crate::settings::Settings;

/// How often dates that are due are searched for.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// How long one run may last: a shutdown waits for this time at most, and for one distribution.
const AT_A_STRETCH: Duration = Duration::from_secs(4);

/// How long a command or a start continues distributions that another process may be working on.
const BESIDE_OTHERS_MAX: Duration = Duration::from_secs(10);

/// Pays scheduled distributions when they are due.
pub(super) struct DuePayments {
    store: Arc<dyn Store>,
    commands: Commands,
    has_failed: bool,
    stood_back: StoodBack,
    /// The distributions that were logged as impossible to finish.
    reported: BTreeSet<JournalEntryId>,
}

impl DuePayments {
    pub(super) fn new(store: Arc<dyn Store>, queue: Arc<dyn CommandQueue>) -> Self {
        let commands = Commands { queue, surroundings: surroundings() };
        Self {
            store,
            commands,
            has_failed: false,
            stood_back: StoodBack::default(),
            reported: BTreeSet::new(),
        }
    }

    /// Pays the dates that are due, one after the other, and logs the outcome of each.
    pub(super) fn run(&mut self) {
        if let Some(cause) = self.pay() {
            log::warn!("cannot read the schedules that are due: {cause}");
        }
    }

    /// Returns the failure that ended the run, unless the previous run failed as well: an outage is logged once.
    fn pay(&mut self) -> Option<StoreError> {
        let begun = Instant::now();
        while begun.elapsed() < AT_A_STRETCH {
            match self
                .finish_interrupted()
                .and_then(|()| run_due(self.store.as_ref(), &self.commands, &mut self.stood_back))
            {
                Ok(Some(ran)) => told(&ran),
                Ok(None) => break,
                Err(cause) => {
                    let failed_before = std::mem::replace(&mut self.has_failed, true);
                    return (!failed_before).then_some(cause);
                }
            }
        }
        self.has_failed = false;
        None
    }

    /// Continues the distributions in steps that are not finished.
    fn finish_interrupted(&mut self) -> Result<(), StoreError> {
        let failed = finish(self.store.as_ref(), &self.commands, &mut |_| ControlFlow::Continue(()))?;
        for failed in failed.into_iter().filter(Unfinished::is_lasting) {
            if self.reported.insert(failed.cause) {
                warn_of_unfinishable(&failed);
            }
        }
        Ok(())
    }
}

/// Finishes the distributions in steps that were interrupted when a process was killed. One that cannot be finished is
/// logged, and `guerdon verify` reports it; it does not prevent the service or a command from using the database. On
/// PostgreSQL another process may be finishing them, and each `serve` checks them once a second, so this stops after a
/// limited time.
pub(crate) fn finish_started(settings: &Settings, store: &dyn Store, queue: &Arc<dyn CommandQueue>) {
    let is_embedded = settings.embedded_database().is_some();
    let begun = Instant::now();
    let mut go_on = |_| {
        let is_over = !is_embedded && begun.elapsed() > BESIDE_OTHERS_MAX;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let commands = Commands { queue: Arc::clone(queue), surroundings: surroundings() };
    match finish(store, &commands, &mut go_on) {
        Ok(failed) => failed.iter().filter(|failure| failure.is_lasting()).for_each(warn_of_unfinishable),
        Err(cause) => log::warn!("cannot continue unfinished distributions: {cause}"),
    }
}

fn warn_of_unfinishable(Unfinished { cause, reason, .. }: &Unfinished) {
    log::warn!(
        "distribution {cause} cannot be finished, its points stay in transit: {reason}; run `guerdon verify`"
    );
}

fn told(Ran { schedule, due_on, ended }: &Ran) {
    match ended {
        DateEnd::Paid { users } => log::info!("schedule {schedule}: paid {due_on}, users: {users}"),
        DateEnd::Refused { reason, again_at } => {
            let again_at = again_at.to_string();
            log::info!("schedule {schedule}: cannot pay {due_on} ({reason}), retrying at {again_at}");
        }
        DateEnd::GivenUp { reason } => {
            log::info!("schedule {schedule}: skipped {due_on} permanently ({reason})")
        }
        DateEnd::Overtaken => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use guerdon_domain::ports::{Consistency, Reads, Tx, Verdict, Wakes};
    use guerdon_persistence::{Access, DatabaseUrl, migrate, open_waking};

    use super::*;

    struct Interrupted {
        store: Arc<dyn Store>,
        is_away: AtomicBool,
    }

    impl Store for Interrupted {
        fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
            self.store.run(work)
        }

        fn check_schema(&self) -> Result<Vec<String>, StoreError> {
            self.store.check_schema()
        }

        fn read(
            &self,
            consistency: Consistency,
            work: &mut dyn FnMut(&mut dyn Reads),
        ) -> Result<(), StoreError> {
            if self.is_away.load(Ordering::Relaxed) {
                return Err(StoreError::Unavailable("connection refused".to_owned()));
            }
            self.store.read(consistency, work)
        }
    }

    #[test]
    fn an_outage_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("guerdon.db"));
        migrate(&url).unwrap();
        let opened = open_waking(&url, Access::Command, Wakes::default()).unwrap();
        let database = Arc::new(Interrupted { store: opened.requests, is_away: AtomicBool::new(true) });
        let mut payments = DuePayments::new(Arc::<Interrupted>::clone(&database), opened.commands);
        for _outage in 0..2 {
            database.is_away.store(true, Ordering::Relaxed);
            let reported: Vec<bool> = (0..3).map(|_| payments.pay().is_some()).collect();
            assert_eq!(reported, [true, false, false]);
            database.is_away.store(false, Ordering::Relaxed);
            assert!(payments.pay().is_none());
        }
    }
}
