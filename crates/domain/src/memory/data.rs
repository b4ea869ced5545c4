//! The stored data, and helpers to list it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ledger::AccountBook;
use crate::model::{
    AuditEntry, Company, Corporation, IdempotencyKey, IdempotencyRecord, JournalEntry, Occasion, Provider,
    Recognition, User,
};
use crate::ports::{NewEvent, NewNotification, Timestamp};
use crate::values::{
    CompanyId, CorporationId, EventId, JournalEntryId, OccasionId, Page, ProviderId, RecognitionId, UserId,
    checked_cast,
};

/// All data of the store.
#[derive(Clone, Default)]
pub(super) struct StoreData {
    pub(super) providers: BTreeMap<ProviderId, Provider>,
    pub(super) corporations: BTreeMap<CorporationId, Corporation>,
    pub(super) companies: BTreeMap<CompanyId, Company>,
    pub(super) users: BTreeMap<UserId, User>,
    /// Each occasion, and the time of its deletion if it is deleted.
    pub(super) occasions: BTreeMap<OccasionId, (Occasion, Option<Timestamp>)>,
    pub(super) journal_entries: BTreeMap<JournalEntryId, JournalEntry>,
    pub(super) recognitions: BTreeMap<RecognitionId, Recognition>,
    pub(super) book: AccountBook,
    pub(super) events: Vec<NewEvent>,
    pub(super) event_ids: HashSet<EventId>,
    pub(super) notifications: Vec<NewNotification>,
    pub(super) audit_entries: Vec<AuditEntry>,
    /// Distributions in steps: the remaining steps by their first legs, and the number of unpaid receivers.
    pub(super) distributions: BTreeMap<JournalEntryId, (BTreeMap<u32, Vec<UserId>>, u32)>,
    pub(super) records: HashMap<IdempotencyKey, IdempotencyRecord>,
}

/// Returns one page of `all`, sorted by `key`.
pub(super) fn page_of<T, K: Ord>(all: impl Iterator<Item = T>, key: fn(&T) -> K, page: Page) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_by_key(key);
    let size = |count: i64| checked_cast(count);
    all.into_iter().skip(size(page.offset())).take(size(page.limit())).collect()
}

/// The number of items.
pub(super) fn count_items(all: impl Iterator) -> i64 {
    checked_cast(all.count())
}
