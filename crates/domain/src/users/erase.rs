//! Erasing the personal data of a deleted user (behaviour 13.5). The journal refers to users only by their
//! ids, so it does not change: the profile, the notifications and the bodies of events are erased.

use crate::model::{Action, Company, Profile};
use crate::ports::{
    AuditLog, Context, Denied, Erasure, LockableRow, Locks, ReadCompanies, RenderError, StoreError, Users,
};
use crate::values::{EmailAddress, EventId, ProviderId, SingleLine, UserId};

/// The maximum number of bodies that one step changes.
pub const ERASED_BODIES_MAX: usize = 200;

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseUserError {
    #[error("no user has this id")]
    NoSuchUser,
    /// The user is active in an open company, so its data is managed by its provider.
    #[error("the user is active: the provider must delete the user first")]
    Active,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Denied> for EraseUserError {
    fn from(_: Denied) -> Self {
        Self::NoSuchUser
    }
}

/// The address and the name that replace the erased ones.
fn erased_identity(id: UserId) -> Result<(EmailAddress, SingleLine), StoreError> {
    let email = EmailAddress::parse(&format!("erased-{id}@erased.invalid")).ok();
    let found = email.zip(SingleLine::parse("erased").ok());
    found.ok_or_else(|| StoreError::Broken("the replacement address of an erased user is invalid".into()))
}

/// Erases the profile of a deleted user and the notifications to its address. The user's points and messages are part
/// of the ledger and are kept. Erasing again changes only the audit log. Returns the company of the user.
///
/// In a company that was handed over, users are erased even if they are not deleted here. They are deleted only in the
/// cell that imported the company, and this cell keeps a copy of their data.
pub fn erase<T: AuditLog + Erasure + Locks + ReadCompanies + Users + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
    context: &Context<'_>,
) -> Result<Company, EraseUserError> {
    tx.lock_row(LockableRow::User(id))?;
    let mut user = tx.find_user(scope, id)?.or_denied("id")?;
    let company = tx.find_company(scope, user.company_id)?.or_denied("id")?.company;
    let removed_at = user.deleted_at.or(company.handed_over_at).ok_or(EraseUserError::Active)?;
    tx.delete_notifications_to(company.id, &user.profile.email, removed_at)?;
    let (email, name) = erased_identity(id)?;
    let old_profile = &user.profile;
    let erased_profile = Profile {
        manager: old_profile.manager,
        company_admin: old_profile.company_admin,
        corporation_admin: old_profile.corporation_admin,
        ..Profile::with_name(email, name, None)
    };
    if user.profile != erased_profile {
        user.profile = erased_profile;
        user.updated_at = context.clock.now();
        tx.update_user(&user)?;
    }
    let entry = context.new_audit_entry(Action::UserErased).with_company(company.id).with_provider(scope);
    tx.record_audit_entry(&entry.with_object(id.as_uuid()))?;
    Ok(company)
}

/// Erases the name and the address of a deleted user from the bodies of these events, at most [`ERASED_BODIES_MAX`],
/// and clears the responses of receivers, which may contain parts of a body. The response to an attempt that is in
/// progress is stored later, and is cleared only if this is called again.
pub fn erase_from_events<T: Erasure + ?Sized>(
    tx: &mut T,
    id: UserId,
    events: &[EventId],
    context: &Context<'_>,
) -> Result<(), EraseUserError> {
    let (email, _) = erased_identity(id)?;
    for (event, body) in tx.lock_event_bodies(events)? {
        let erased = context.bodies.erase_user(&body, id, &email);
        let erased = erased.map_err(|cause: RenderError| StoreError::from(cause))?;
        if erased != body {
            tx.replace_event_body(event, &erased)?;
        }
    }
    Ok(tx.clear_responses(events)?)
}
