//! Imports users from another system: each record updates the user that it identifies, or creates one.
//!
//! A batch of records takes a few statements: users are looked up together, and new ones are created
//! together. The result is the same as if the records were imported one after the other.

use std::collections::HashSet;

use super::{
    CreateUserError, UpdateUser, UpdateUserError, UserKey, UserMatch, create_many, match_users, update,
    would_change,
};
use crate::audit_log::Action;
use crate::model::{Profile, User};
use crate::ports::{Context, StoreError, Tx};
use crate::values::{CompanyId, ProviderId, SingleLine, UserId};

/// A record of another system about one user. Errors are shown to the person who started the import.
pub trait ImportRecord {
    /// The key of the record's user; `None` if the record has neither an employee id nor an address. An
    /// invalid value is omitted from the key; the error is reported when the whole record is read.
    fn user_key(&self) -> Result<Option<UserKey>, String>;

    /// The profile of a new user, as the record describes it.
    fn to_profile(&self, company: CompanyId) -> Result<Profile, String>;

    /// The changes to an existing user.
    fn to_changes(&self) -> Result<UpdateUser, String>;
}

/// The result for a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    Created,
    Updated,
    Unchanged,
    /// The record was refused for this reason. The other records of the batch are imported.
    Refused(String),
}

/// How far an import is, for the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportStage {
    /// The first batch of an import that has several. `records` is the number of records of the whole import.
    Started { records: usize },
    /// The last batch. The counts are those of the whole import.
    Ended { created: usize, updated: usize },
}

/// Imports a batch of records into a company. Returns one result per record, in the same order. The audit log gets
/// no entry, so that an import of many batches does not fill it: see [`record_import`].
///
/// # Errors
///
/// If the store fails. The caller must then roll back the whole batch.
pub fn import_users<R: ImportRecord>(
    tx: &mut dyn Tx,
    company_scope: (ProviderId, CompanyId),
    records: &[R],
    context: &Context<'_>,
) -> Result<Vec<ImportOutcome>, StoreError> {
    let keys: Vec<Result<Option<UserKey>, String>> = records.iter().map(ImportRecord::user_key).collect();
    let known: Vec<UserKey> = keys.iter().map(|key| key.clone().ok().flatten().unwrap_or_default()).collect();
    let found = match_users(tx, company_scope.1, &known)?;
    let outcomes = Vec::with_capacity(records.len());
    let mut batch = ImportBatch {
        tx,
        company_scope,
        context,
        outcomes,
        pending_profiles: Vec::new(),
        earlier: EarlierRecords::default(),
    };
    for ((record, key), found) in records.iter().zip(keys).zip(found) {
        let outcome = match key {
            Ok(Some(key)) => batch.import_record(record, &key, found)?,
            Ok(None) => Some(ImportOutcome::Refused("employee_id or email is required".to_owned())),
            Err(reason) => Some(ImportOutcome::Refused(reason)),
        };
        batch.outcomes.push(outcome);
    }
    batch.create_new_users()?;
    Ok(batch.outcomes.into_iter().flatten().collect())
}

/// Writes the audit entry of an import, in the transaction of the batch that starts or ends it. An import that was
/// interrupted has a first entry and no last one.
///
/// # Errors
///
/// If the store fails. The caller must then roll back the whole batch.
pub fn record_import(
    tx: &mut dyn Tx,
    (scope, company): (ProviderId, CompanyId),
    stage: ImportStage,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let detail = match stage {
        ImportStage::Started { records } => format!("started, {records} records"),
        ImportStage::Ended { created, updated } => format!("{created} created, {updated} updated"),
    };
    let entry = context.new_audit_entry(Action::UsersImported).with_company(company).with_provider(scope);
    tx.record_audit_entry(&entry.with_detail(detail))
}

struct ImportBatch<'a> {
    tx: &'a mut dyn Tx,
    company_scope: (ProviderId, CompanyId),
    context: &'a Context<'a>,
    /// The outcome of each record so far; `None` if its user is in `pending_profiles`.
    outcomes: Vec<Option<ImportOutcome>>,
    /// Users to create, with the index of their record.
    pending_profiles: Vec<(usize, Profile)>,
    earlier: EarlierRecords,
}

impl ImportBatch<'_> {
    /// Updates the user of a record, or adds a new one to `pending_profiles` and returns `None`. `found` is
    /// the user that the record's key identified before the batch.
    fn import_record<R: ImportRecord>(
        &mut self,
        record: &R,
        key: &UserKey,
        found: UserMatch,
    ) -> Result<Option<ImportOutcome>, StoreError> {
        let found = if self.earlier.may_affect(key, &found) {
            self.create_new_users()?;
            let current = match_users(self.tx, self.company_scope.1, std::slice::from_ref(key))?.pop();
            current.unwrap_or(UserMatch::NoUser)
        } else {
            found
        };
        self.earlier.add_key(key);
        match found {
            UserMatch::One(user) => self.update_user(&user, record).map(Some),
            UserMatch::Several => {
                Ok(Some(ImportOutcome::Refused("several active users have this employee_id".to_owned())))
            }
            UserMatch::NoUser => match record.to_profile(self.company_scope.1) {
                Ok(profile) => {
                    self.pending_profiles.push((self.outcomes.len(), profile));
                    Ok(None)
                }
                Err(reason) => Ok(Some(ImportOutcome::Refused(reason))),
            },
        }
    }

    fn update_user<R: ImportRecord>(&mut self, user: &User, record: &R) -> Result<ImportOutcome, StoreError> {
        let changes = match record.to_changes() {
            Ok(changes) => changes,
            Err(reason) => return Ok(ImportOutcome::Refused(reason)),
        };
        if !would_change(user, &changes) {
            return Ok(ImportOutcome::Unchanged);
        }
        match update(self.tx, self.company_scope.0, user.id, &changes, self.context) {
            Ok(after) if after == *user => Ok(ImportOutcome::Unchanged),
            Ok(_) => {
                self.earlier.updated.insert(user.id);
                Ok(ImportOutcome::Updated)
            }
            Err(UpdateUserError::Store(cause)) => Err(cause),
            Err(reason) => Ok(ImportOutcome::Refused(reason.to_string())),
        }
    }

    fn create_new_users(&mut self) -> Result<(), StoreError> {
        if self.pending_profiles.is_empty() {
            return Ok(());
        }
        let (scope, company) = self.company_scope;
        let (indexes, profiles): (Vec<usize>, Vec<Profile>) = self.pending_profiles.drain(..).unzip();
        let refused = |reason: &CreateUserError| ImportOutcome::Refused(reason.to_string());
        let outcomes: Vec<ImportOutcome> = match create_many(self.tx, scope, company, profiles, self.context)
        {
            Ok(created) => {
                let outcome = |is_created| {
                    if is_created { ImportOutcome::Created } else { refused(&CreateUserError::EmailTaken) }
                };
                created.into_iter().map(outcome).collect()
            }
            Err(CreateUserError::Store(cause)) => return Err(cause),
            Err(reason) => indexes.iter().map(|_| refused(&reason)).collect(),
        };
        for (index, outcome) in indexes.into_iter().zip(outcomes) {
            if let Some(slot) = self.outcomes.get_mut(index) {
                *slot = Some(outcome);
            }
        }
        Ok(())
    }
}

/// The keys and users that earlier records of the batch may have changed since the users of the batch were
/// looked up.
#[derive(Default)]
struct EarlierRecords {
    employee_ids: HashSet<SingleLine>,
    /// Case-folded addresses.
    emails: HashSet<String>,
    /// Users that were updated. Their addresses or employee ids may have changed.
    updated: HashSet<UserId>,
}

impl EarlierRecords {
    fn add_key(&mut self, key: &UserKey) {
        self.employee_ids.extend(key.employee_id.clone());
        self.emails.extend(key.email.as_ref().map(|email| email.folded().to_owned()));
    }

    /// Whether an earlier record may have changed which user this key identifies.
    fn may_affect(&self, key: &UserKey, found: &UserMatch) -> bool {
        key.employee_id.as_ref().is_some_and(|employee_id| self.employee_ids.contains(employee_id))
            || key.email.as_ref().is_some_and(|email| self.emails.contains(email.folded()))
            || match found {
                UserMatch::One(user) => self.updated.contains(&user.id),
                UserMatch::Several => !self.updated.is_empty(),
                UserMatch::NoUser => false,
            }
    }
}
