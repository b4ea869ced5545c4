//! Finding a user for the operator, who acts for every provider.

use super::Person;
use crate::ports::{Lookup, ReadUsers, StoreError};
use crate::values::UserId;

/// The person of an id, whosever user it is, deleted ones included.
pub fn for_operator<R: ReadUsers + ?Sized>(reads: &mut R, id: UserId) -> Result<Option<Person>, StoreError> {
    let Some(scope) = reads.provider_of_user(id)? else { return Ok(None) };
    Ok(match reads.people(scope, &[id])?.pop() {
        Some(Lookup::Own(person)) => Some(person),
        Some(Lookup::Absent | Lookup::Foreign) | None => None,
    })
}
