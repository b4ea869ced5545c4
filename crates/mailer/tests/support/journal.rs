//! An outbox in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use guerdon_domain::ports::{ClaimedMail, MailFate, RETRIED_MAIL_DUE, StoreError, Timestamp};
use guerdon_mailer::MailJournal;
use uuid::Uuid;

/// The state of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Pending,
    Sent,
    GivenUp,
}

struct Row {
    mail: ClaimedMail,
    state: State,
    due: Timestamp,
    lease: Option<Uuid>,
}

#[derive(Default)]
struct Inner {
    rows: BTreeMap<Uuid, Row>,
    settlements: Vec<(Uuid, MailFate)>,
    failures_of_settling: VecDeque<StoreError>,
}

#[derive(Clone, Default)]
pub struct Journal(Arc<Mutex<Inner>>);

impl Journal {
    pub fn of(mails: impl IntoIterator<Item = ClaimedMail>) -> Self {
        let journal = Self::default();
        mails.into_iter().for_each(|mail| journal.queue(mail));
        journal
    }

    pub fn queue(&self, mail: ClaimedMail) {
        let row = Row { state: State::Pending, due: mail.created_at, lease: None, mail };
        self.0.lock().unwrap().rows.insert(row.mail.id, row);
    }

    /// Does what `guerdon mail retry` does.
    pub fn retry(&self, id: Uuid) {
        self.0.lock().unwrap().rows.get_mut(&id).unwrap().due = RETRIED_MAIL_DUE;
    }

    /// Makes the next settlements fail with these errors.
    pub fn fail_settling(&self, failures: impl IntoIterator<Item = StoreError>) {
        self.0.lock().unwrap().failures_of_settling.extend(failures);
    }

    pub fn state(&self, id: Uuid) -> State {
        self.0.lock().unwrap().rows[&id].state
    }

    pub fn count(&self, state: State) -> usize {
        self.0.lock().unwrap().rows.values().filter(|row| row.state == state).count()
    }

    pub fn settlements(&self) -> Vec<(Uuid, MailFate)> {
        self.0.lock().unwrap().settlements.clone()
    }
}

impl MailJournal for Journal {
    fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError> {
        let mut inner = self.0.lock().unwrap();
        let due = |row: &&mut Row| row.state == State::Pending && row.due <= now;
        let mut rows: Vec<&mut Row> = inner.rows.values_mut().filter(due).collect();
        rows.sort_by_key(|row| (row.due, row.mail.id));
        rows.truncate(limit.into());
        let claimed = rows.into_iter().map(|row| {
            (row.due, row.lease) = (until, Some(lease));
            row.mail.clone()
        });
        Ok(claimed.collect())
    }

    fn settle(&self, id: Uuid, lease: Uuid, fate: MailFate) -> Result<(), StoreError> {
        let mut inner = self.0.lock().unwrap();
        if let Some(failure) = inner.failures_of_settling.pop_front() {
            return Err(failure);
        }
        let row = inner.rows.get_mut(&id).unwrap();
        if row.lease != Some(lease) {
            return Ok(());
        }
        row.lease = None;
        row.mail.attempts += 1;
        match fate {
            MailFate::Sent => row.state = State::Sent,
            MailFate::GivenUp => row.state = State::GivenUp,
            MailFate::RetryAt(at) => row.due = at,
        }
        inner.settlements.push((id, fate));
        Ok(())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let inner = self.0.lock().unwrap();
        Ok(inner.rows.values().filter(|row| row.state == State::Pending).map(|row| row.due).min())
    }
}
