//! An outbox in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::ports::{
    CLOCK_TOLERANCE, NotificationOutcome, RETRIED_NOTIFICATION_DUE, StoreError, Timestamp,
};
use guerdon_domain::values::ProviderId;
use guerdon_mailer::{ClaimedMails, Mail, MailStore};
use uuid::Uuid;

/// The state of an email.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    Pending,
    Sent,
    GivenUp,
}

struct MailRow {
    provider: ProviderId,
    mail: Mail,
    state: MailState,
    due: Timestamp,
    lease: Option<Uuid>,
}

#[derive(Default)]
struct StoreData {
    rows: BTreeMap<Uuid, MailRow>,
    settlements: Vec<(Uuid, NotificationOutcome)>,
    failures_of_settling: VecDeque<StoreError>,
}

#[derive(Clone, Default)]
pub struct MemoryMailStore(Arc<Mutex<StoreData>>);

impl MemoryMailStore {
    pub fn with_mails(mails: impl IntoIterator<Item = Mail>) -> Self {
        let store = Self::default();
        mails.into_iter().for_each(|mail| store.queue_mail(mail));
        store
    }

    /// Queues an email of the first provider.
    pub fn queue_mail(&self, mail: Mail) {
        self.queue_mail_of(1, mail);
    }

    pub fn queue_mail_of(&self, provider: u128, mail: Mail) {
        let provider = ProviderId::from_uuid(Uuid::from_u128(provider));
        let row = MailRow { provider, state: MailState::Pending, due: mail.created_at, lease: None, mail };
        self.0.lock().unwrap().rows.insert(row.mail.id, row);
    }

    /// Does what `guerdon mail retry` does.
    pub fn retry_mail(&self, id: Uuid) {
        self.0.lock().unwrap().rows.get_mut(&id).unwrap().due = RETRIED_NOTIFICATION_DUE;
    }

    /// Makes the next settlements fail with these errors.
    pub fn fail_settling(&self, failures: impl IntoIterator<Item = StoreError>) {
        self.0.lock().unwrap().failures_of_settling.extend(failures);
    }

    pub fn mail_state(&self, id: Uuid) -> MailState {
        self.0.lock().unwrap().rows[&id].state
    }

    pub fn count_in_state(&self, state: MailState) -> usize {
        self.0.lock().unwrap().rows.values().filter(|row| row.state == state).count()
    }

    pub fn settlements(&self) -> Vec<(Uuid, NotificationOutcome)> {
        self.0.lock().unwrap().settlements.clone()
    }
}

impl MailStore for MemoryMailStore {
    fn claim_due_mails(
        &self,
        after: Option<ProviderId>,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Option<ClaimedMails>, StoreError> {
        let mut inner = self.0.lock().unwrap();
        let due = |row: &&mut MailRow| row.state == MailState::Pending && row.due <= now;
        let mut rows: Vec<&mut MailRow> = inner.rows.values_mut().filter(due).collect();
        let retried = |row: &&&mut MailRow| row.due == RETRIED_NOTIFICATION_DUE;
        let is_next = |provider: &ProviderId| after.is_none_or(|after| *provider > after);
        let providers = || rows.iter().map(|row| row.provider);
        let retried = rows.iter().find(retried).map(|row| row.provider);
        let next = retried.or_else(|| providers().filter(is_next).min()).or_else(|| providers().min());
        let Some(provider) = next else { return Ok(None) };
        rows.retain(|row| row.provider == provider);
        rows.sort_by_key(|row| (row.due, row.mail.id));
        rows.truncate(limit.into());
        let claimed = rows.into_iter().map(|row| {
            (row.due, row.lease) = (until, Some(lease));
            row.mail.clone()
        });
        Ok(Some(ClaimedMails { provider, mails: claimed.collect() }))
    }

    fn record_outcome(&self, id: Uuid, lease: Uuid, outcome: NotificationOutcome) -> Result<(), StoreError> {
        let mut inner = self.0.lock().unwrap();
        if let Some(failure) = inner.failures_of_settling.pop_front() {
            return Err(failure);
        }
        let row = inner.rows.get_mut(&id).unwrap();
        if row.lease != Some(lease) {
            return Ok(());
        }
        row.lease = None;
        row.mail.attempts += u16::from(!matches!(outcome, NotificationOutcome::Released(_)));
        match outcome {
            NotificationOutcome::Sent => row.state = MailState::Sent,
            NotificationOutcome::GivenUp => row.state = MailState::GivenUp,
            NotificationOutcome::RetryAt(at) | NotificationOutcome::Released(at) => row.due = at,
        }
        inner.settlements.push((id, outcome));
        Ok(())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let inner = self.0.lock().unwrap();
        Ok(inner.rows.values().filter(|row| row.state == MailState::Pending).map(|row| row.due).min())
    }

    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        retry_wait_max: Duration,
        lease: Duration,
    ) -> Result<usize, StoreError> {
        let mut inner = self.0.lock().unwrap();
        let mut count = 0;
        for row in inner.rows.values_mut().filter(|row| row.state == MailState::Pending) {
            let (limit, due) =
                if row.lease.is_some() { (now + lease, now + lease) } else { (now + retry_wait_max, now) };
            if row.due > limit + CLOCK_TOLERANCE {
                row.due = due;
                count += 1;
            }
        }
        Ok(count)
    }
}
