//! Erasing what is known of a deleted user (behaviour 13.5).

use crate::model::{Action, Profile};
use crate::ports::{AuditLog, Context, Denied, Erasure, Locks, Row, StoreError, Unrenderable, Users};
use crate::values::{EmailAddress, EventId, Line, ProviderId, UserId};

/// How many bodies one step changes at most.
pub const ERASED_AT_ONCE: usize = 200;

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseUserError {
    #[error("no user has this id")]
    NoSuchUser,
    /// What an active user is to the provider is the provider's to change.
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

/// The address and the name that stand in the place of those that are erased.
fn nobody(id: UserId) -> Result<(EmailAddress, Line), StoreError> {
    let email = EmailAddress::parse(&format!("erased-{id}@erased.invalid")).ok();
    let found = email.zip(Line::parse("erased").ok());
    found.ok_or_else(|| StoreError::Broken("no address stands for nobody".into()))
}

/// Erases the profile of a deleted user and the mails to its address. What points the user gave and received stays, and
/// so do the messages, which are facts of the ledger. Doing so again changes nothing but the log.
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

/// Erases name and address of a deleted user from the bodies of these events, of which there are [`ERASED_AT_ONCE`] at most.
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
