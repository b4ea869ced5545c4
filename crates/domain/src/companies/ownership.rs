//! Who owns a company: handing it over, and what its owner is called (contract §4.1).

use super::{UpdateCompany, UpdateCompanyError};
use crate::model::{CompanyWithOwner, Profile, User, full_name};
use crate::ports::{Accounts, Context, Locks, Lookup, ReadUsers, Row, StoreError, Users};
use crate::users::open_wallets;
use crate::values::{EmailAddress, InvalidValue, Line, UserId, split_full_name};

/// A full name, split for a user's account at its last space. What cannot be split is refused only where it is not
/// the name that the owner has already: two long names joined are longer than a name may be.
#[derive(Debug, Clone)]
pub struct OwnerName {
    text: String,
    split: Result<(Line, Option<Line>), InvalidValue>,
}

/// The longest name an owner can have: two names of 255 characters, joined.
const FULL_NAME_LENGTH_MAX: usize = 255 + 1 + 255;

impl OwnerName {
    /// A name as an update sends it. What no owner can be called is refused here, with the other faults of a body.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let name = Self::new(text);
        let is_somebodys = !text.trim().is_empty()
            && !text.chars().any(char::is_control)
            && text.chars().nth(FULL_NAME_LENGTH_MAX).is_none();
        match name.split {
            Err(refusal) if !is_somebodys => Err(refusal),
            _ => Ok(name),
        }
    }

    /// A name as it was sent.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), split: split(text) }
    }

    /// First and last name; none of the latter where the name is a single word.
    pub fn into_parts(self) -> Result<(Line, Option<Line>), InvalidValue> {
        self.split
    }
}

fn split(text: &str) -> Result<(Line, Option<Line>), InvalidValue> {
    Line::parse(text)?;
    let (first, last) = split_full_name(text);
    let last = if last.is_empty() { None } else { Some(Line::parse(&last)?) };
    Ok((Line::parse(&first)?, last))
}

/// Hands the company over where another address is named, and renames the owner where another name is. The company
/// comes back changed where any of it did, to be written by the caller.
pub(super) fn settle<T: Accounts + Locks + Users + ?Sized>(
    tx: &mut T,
    found: CompanyWithOwner,
    command: &UpdateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError> {
    let other_name = command.owner_name.as_ref().filter(|it| it.text != found.owner_name());
    let other_name = other_name.map(|it| it.clone().into_parts()).transpose();
    let other_name = other_name.map_err(UpdateCompanyError::OwnerName)?;
    let other_email = command.owner_email.as_ref().filter(|it| it.folded() != found.owner_email.folded());
    if other_name.is_none() && other_email.is_none() {
        return Ok(found);
    }
    let mut owner = match other_email {
        None => held(tx, &found, found.company.owner_id, &found.owner_email)?,
        Some(email) => match tx.active_user_by_email(found.company.id, email)? {
            Some(id) => held(tx, &found, id, email)?,
            None => return create_owner(tx, found, email, other_name, context),
        },
    };
    let renamed = match other_name {
        Some((first, last)) => {
            let differs = full_name(&first, last.as_ref()) != owner.full_name();
            if differs {
                (owner.profile.first_name, owner.profile.last_name) = (first, last);
            }
            differs
        }
        None => false,
    };
    if renamed || !owner.profile.company_admin {
        owner.profile.company_admin = true;
        owner.updated_at = context.clock.now();
        tx.update_user(&owner)?;
    }
    Ok(owned_by(found, owner, context))
}

/// The active user of the company who has this address, held; it had it a moment ago.
fn held<T: Locks + ReadUsers + ?Sized>(
    tx: &mut T,
    found: &CompanyWithOwner,
    id: UserId,
    email: &EmailAddress,
) -> Result<User, StoreError> {
    tx.hold(Row::User(id))?;
    match tx.user(found.company.provider_id, id)? {
        Lookup::Own(user) if user.deleted_at.is_none() && user.profile.email == *email => Ok(user),
        Lookup::Own(_) | Lookup::Absent | Lookup::Foreign => Err(tx.lost_race()),
    }
}

/// Makes the new owner, named as asked for or else as the old one.
fn create_owner<T: Accounts + Locks + Users + ?Sized>(
    tx: &mut T,
    found: CompanyWithOwner,
    email: &EmailAddress,
    name: Option<(Line, Option<Line>)>,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError> {
    let now = context.clock.now();
    let (first, last) =
        name.unwrap_or_else(|| (found.owner_first_name.clone(), found.owner_last_name.clone()));
    let mut profile = Profile::named(email.clone(), first, last);
    profile.company_admin = true;
    let owner = User {
        id: UserId::from_uuid(context.ids.next()),
        company_id: found.company.id,
        profile,
        created_at: now,
        updated_at: now,
        deleted_at: None,
    };
    if !tx.insert_user(&owner)? {
        return Err(tx.lost_race().into()); // somebody took the address at this very moment
    }
    open_wallets(tx, &owner, now)?;
    Ok(owned_by(found, owner, context))
}

/// The company with this owner. Its own time of change moves with what it shows of its owner.
fn owned_by(mut found: CompanyWithOwner, owner: User, context: &Context<'_>) -> CompanyWithOwner {
    let shown = (found.company.owner_id, found.owner_name());
    if shown != (owner.id, owner.full_name()) {
        found.company.updated_at = context.clock.now();
    }
    found.company.owner_id = owner.id;
    CompanyWithOwner {
        company: found.company,
        owner_email: owner.profile.email,
        owner_first_name: owner.profile.first_name,
        owner_last_name: owner.profile.last_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_named_by_a_first_and_perhaps_a_last_name() {
        let check = |name: &str, first: &str, last: Option<&str>| {
            let (read_first, read_last) = OwnerName::new(name).into_parts().unwrap();
            let read = (read_first.as_str(), read_last.as_ref().map(Line::as_str));
            assert_eq!(read, (first, last), "{name:?}");
        };
        check("Ada Lovelace", "Ada", Some("Lovelace"));
        check("Ada King Lovelace", "Ada King", Some("Lovelace"));
        check("Ada", "Ada", None);
        check("Ada ", "Ada ", None);
        for refused in ["", " ", "a\nb", &"x".repeat(256)] {
            assert!(OwnerName::new(refused).into_parts().is_err(), "{refused:?}");
        }
        for refused in ["", " ", "a\nb", "a\0b", &"x".repeat(512), &format!("{}\u{7f}", "x".repeat(300))] {
            assert!(OwnerName::parse(refused).is_err(), "{refused:?}");
        }
        for perhaps_the_present_one in ["Ada", &"x".repeat(256), &"𝒳".repeat(511)] {
            assert!(OwnerName::parse(perhaps_the_present_one).is_ok(), "{perhaps_the_present_one:?}");
        }
    }
}
