//! A store for tests whose transactions and reads can be made to fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use guerdon_domain::audit::{AuditOptions, AuditPart, Findings};
use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::{Consistency, Notifiers, ReadTx, Store, StoreCapacity, StoreError, Tx, Verdict};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open_with_notifiers};
use tempfile::TempDir;

/// An embedded database.
pub(crate) struct UnreliableStore {
    store: Arc<dyn Store>,
    /// The failure of each transaction, if any.
    pub(crate) write_failure: Mutex<Option<StoreError>>,
    /// The failure of each read, if any.
    pub(crate) read_failure: Mutex<Option<StoreError>>,
    /// The number of attempted transactions.
    pub(crate) transactions: AtomicUsize,
    _folder: TempDir,
}

impl UnreliableStore {
    pub(crate) fn create() -> (Arc<Self>, Arc<dyn CommandQueue>) {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("guerdon.db"));
        migrate(&url).unwrap();
        let opened = open_with_notifiers(&url, Access::Command, Notifiers::default()).unwrap();
        let store = Self {
            store: opened.requests,
            write_failure: Mutex::default(),
            read_failure: Mutex::default(),
            transactions: AtomicUsize::new(0),
            _folder: folder,
        };
        (Arc::new(store), opened.commands)
    }
}

impl Store for UnreliableStore {
    fn capacity(&self) -> StoreCapacity {
        self.store.capacity()
    }

    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        match &*self.write_failure.lock().unwrap() {
            Some(failure) => Err(failure.clone()),
            None => self.store.run_transaction(work),
        }
    }

    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        self.store.check_schema()
    }

    fn audit_part(&self, part: AuditPart, options: &AuditOptions<'_>) -> Result<Findings, StoreError> {
        self.store.audit_part(part, options)
    }

    fn run_read(
        &self,
        consistency: Consistency,
        work: &mut dyn FnMut(&mut dyn ReadTx),
    ) -> Result<(), StoreError> {
        match &*self.read_failure.lock().unwrap() {
            Some(failure) => Err(failure.clone()),
            None => self.store.run_read(consistency, work),
        }
    }
}
