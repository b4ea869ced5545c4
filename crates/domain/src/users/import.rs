//! Imports users from another system: each record updates the user that it identifies, or creates one.
//!
//! A batch of records takes a few statements: users are looked up together, and new ones are created
//! together. The result is the same as for one record after the other.

use std::collections::HashSet;

use super::{
    CreateUserError, Found, Key, UpdateUser, UpdateUserError, create_all, find_all, update, would_change,
};
use crate::audit_log::Action;
use crate::model::{Profile, User};
use crate::ports::{Context, StoreError, Tx};
use crate::values::{CompanyId, Line, ProviderId, UserId};

/// A record of another system about one user. Its errors are shown to the person who started the import.
pub trait ImportRecord {
    /// The key of the record's user; `None` if the record has neither an employee id nor an address. A value
    /// that is present but invalid is omitted from the key; it is reported when the whole record is read.
    fn key(&self) -> Result<Option<Key>, String>;

    /// The user that the record describes, to be created.
    fn profile(&self, company: CompanyId) -> Result<Profile, String>;

    /// The changes of an existing user.
    fn changes(&self) -> Result<UpdateUser, String>;
}

/// The result for a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    Created,
    Updated,
    Unchanged,
    /// With the reason. The other records of the batch are imported.
    Refused(String),
}

/// Imports a batch of records into a company, and writes one audit entry if they changed anything. Returns
/// the result of each record, in their order.
///
/// # Errors
///
/// If the store fails. The caller must then commit nothing of the batch.
pub fn import<R: ImportRecord>(
    tx: &mut dyn Tx,
    (scope, company): (ProviderId, CompanyId),
    records: &[R],
    context: &Context<'_>,
) -> Result<Vec<Imported>, StoreError> {
    let imported = import_batch(tx, (scope, company), records, context)?;
    let count = |kind: &Imported| imported.iter().filter(|outcome| *outcome == kind).count();
    let (created, updated) = (count(&Imported::Created), count(&Imported::Updated));
    if created + updated > 0 {
        let entry = context.entry(Action::UsersImported).of_company(company).of_provider(scope);
        tx.note(&entry.saying(format!("{created} created, {updated} updated")))?;
    }
    Ok(imported)
}

fn import_batch<R: ImportRecord>(
    tx: &mut dyn Tx,
    place: (ProviderId, CompanyId),
    records: &[R],
    context: &Context<'_>,
) -> Result<Vec<Imported>, StoreError> {
    let keys: Vec<Result<Option<Key>, String>> = records.iter().map(ImportRecord::key).collect();
    let known: Vec<Key> = keys.iter().map(|key| key.clone().ok().flatten().unwrap_or_default()).collect();
    let found = find_all(tx, place.1, &known)?;
    let outcomes = Vec::with_capacity(records.len());
    let mut batch = Batch { tx, place, context, outcomes, new: Vec::new(), earlier: Earlier::default() };
    for ((record, key), found) in records.iter().zip(keys).zip(found) {
        let outcome = match key {
            Ok(Some(key)) => batch.import_record(record, &key, found)?,
            Ok(None) => Some(Imported::Refused("employee_id or email is required".to_owned())),
            Err(reason) => Some(Imported::Refused(reason)),
        };
        batch.outcomes.push(outcome);
    }
    batch.create_new_users()?;
    Ok(batch.outcomes.into_iter().flatten().collect())
}

struct Batch<'a> {
    tx: &'a mut dyn Tx,
    place: (ProviderId, CompanyId),
    context: &'a Context<'a>,
    /// One for each record so far; `None` if its user is in `new`.
    outcomes: Vec<Option<Imported>>,
    /// Users to create, with the index of their record.
    new: Vec<(usize, Profile)>,
    earlier: Earlier,
}

impl Batch<'_> {
    /// Updates the user of a record, or adds a new one to `new` and returns `None`. `found` is the user that
    /// the record's key identified before the batch.
    fn import_record<R: ImportRecord>(
        &mut self,
        record: &R,
        key: &Key,
        found: Found,
    ) -> Result<Option<Imported>, StoreError> {
        let found = if self.earlier.may_concern(key, &found) {
            self.create_new_users()?;
            let current = find_all(self.tx, self.place.1, std::slice::from_ref(key))?.pop();
            current.unwrap_or(Found::Nobody)
        } else {
            found
        };
        self.earlier.add(key);
        match found {
            Found::One(user) => self.update_user(&user, record).map(Some),
            Found::Several => {
                Ok(Some(Imported::Refused("several active users have this employee_id".to_owned())))
            }
            Found::Nobody => match record.profile(self.place.1) {
                Ok(profile) => {
                    self.new.push((self.outcomes.len(), profile));
                    Ok(None)
                }
                Err(reason) => Ok(Some(Imported::Refused(reason))),
            },
        }
    }

    fn update_user<R: ImportRecord>(&mut self, user: &User, record: &R) -> Result<Imported, StoreError> {
        let changes = match record.changes() {
            Ok(changes) => changes,
            Err(reason) => return Ok(Imported::Refused(reason)),
        };
        if !would_change(user, &changes) {
            return Ok(Imported::Unchanged);
        }
        match update(self.tx, self.place.0, user.id, &changes, self.context) {
            Ok(after) if after == *user => Ok(Imported::Unchanged),
            Ok(_) => {
                self.earlier.updated.insert(user.id);
                Ok(Imported::Updated)
            }
            Err(UpdateUserError::Store(cause)) => Err(cause),
            Err(reason) => Ok(Imported::Refused(reason.to_string())),
        }
    }

    fn create_new_users(&mut self) -> Result<(), StoreError> {
        if self.new.is_empty() {
            return Ok(());
        }
        let (scope, company) = self.place;
        let (indexes, profiles): (Vec<usize>, Vec<Profile>) = self.new.drain(..).unzip();
        let refused = |reason: &CreateUserError| Imported::Refused(reason.to_string());
        let outcomes: Vec<Imported> = match create_all(self.tx, scope, company, profiles, self.context) {
            Ok(created) => {
                let outcome = |is_created| {
                    if is_created { Imported::Created } else { refused(&CreateUserError::EmailTaken) }
                };
                created.into_iter().map(outcome).collect()
            }
            Err(CreateUserError::Store(cause)) => return Err(cause),
            Err(reason) => indexes.iter().map(|_| refused(&reason)).collect(),
        };
        for (index, outcome) in indexes.into_iter().zip(outcomes) {
            if let Some(place) = self.outcomes.get_mut(index) {
                *place = Some(outcome);
            }
        }
        Ok(())
    }
}

/// What earlier records of the batch may have changed since its users were looked up.
#[derive(Default)]
struct Earlier {
    employee_ids: HashSet<Line>,
    /// Case-folded.
    emails: HashSet<String>,
    /// Users that were updated. Their address or employee id may have changed.
    updated: HashSet<UserId>,
}

impl Earlier {
    fn add(&mut self, key: &Key) {
        self.employee_ids.extend(key.employee_id.clone());
        self.emails.extend(key.email.as_ref().map(|email| email.folded().to_owned()));
    }

    /// Whether an earlier record may have changed which user this key identifies.
    fn may_concern(&self, key: &Key, found: &Found) -> bool {
        key.employee_id.as_ref().is_some_and(|employee_id| self.employee_ids.contains(employee_id))
            || key.email.as_ref().is_some_and(|email| self.emails.contains(email.folded()))
            || match found {
                Found::One(user) => self.updated.contains(&user.id),
                Found::Several => !self.updated.is_empty(),
                Found::Nobody => false,
            }
    }
}
