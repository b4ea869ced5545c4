//! Erasing the personal data of a deleted user (behaviour 13.5). The journal refers to users only by their
//! ids, so it does not change: the profile, the mails and the bodies of events are erased.

use crate::model::{Action, Profile};
use crate::ports::{AuditLog, Context, Denied, Erasure, Locks, Row, StoreError, Unrenderable, Users};
use crate::values::{EmailAddress, EventId, Line, ProviderId, UserId};

/// The maximum number of bodies that one step changes.
pub const ERASED_AT_ONCE: usize = 200;

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseUserError {
    #[error("no user has this id")]
    NoSuchUser,
    /// The user is active; its provider manages its data.
    #[error("the user is not deleted: its provider deletes it first")]
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
fn nobody(id: UserId) -> Result<(EmailAddress, Line), StoreError> {
    let email = EmailAddress::parse(&format!("erased-{id}@erased.invalid")).ok();
    let found = email.zip(Line::parse("erased").ok());
    found.ok_or_else(|| StoreError::Broken("no address stands for nobody".into()))
}

/// Erases the profile of a deleted user and the mails to its address. The user's points and messages are
/// facts of the ledger and are kept. Erasing again changes only the audit log.
pub fn erase<T: AuditLog + Erasure + Locks + Users + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
    context: &Context<'_>,
) -> Result<(), EraseUserError> {
    let company = tx.user(scope, id)?.named("id")?.company_id;
    tx.hold(Row::Company(company))?;
    let mut user = tx.user(scope, id)?.named("id")?;
    let Some(deleted_at) = user.deleted_at else { return Err(EraseUserError::Active) };
    tx.delete_mails_to(company, &user.profile.email, deleted_at)?;
    let (email, name) = nobody(id)?;
    let was = &user.profile;
    user.profile = Profile {
        manager: was.manager,
        company_admin: was.company_admin,
        corporation_admin: was.corporation_admin,
        ..Profile::named(email, name, None)
    };
    user.updated_at = context.clock.now();
    tx.update_user(&user)?;
    let entry = context.entry(Action::UserErased).of_company(company).of_provider(scope);
    Ok(tx.note(&entry.about(id.as_uuid()))?)
}

/// Erases name and address of a deleted user from the bodies of these events, at most [`ERASED_AT_ONCE`].
pub fn erase_from_events<T: Erasure + ?Sized>(
    tx: &mut T,
    id: UserId,
    events: &[EventId],
    context: &Context<'_>,
) -> Result<(), EraseUserError> {
    let (email, _) = nobody(id)?;
    for (event, body) in tx.bodies(events)? {
        let erased = context.bodies.without(&body, id, &email);
        let erased = erased.map_err(|cause: Unrenderable| StoreError::from(cause))?;
        if erased != body {
            tx.replace_body(event, &erased)?;
        }
    }
    Ok(())
}
