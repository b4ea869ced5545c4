//! Deleting a user (behaviour 13.4). The user is marked as deleted, the wallets are closed, and their
//! balances return to the company's reserve, so that no points are lost.

use std::collections::BTreeSet;

use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{Facts, LedgerError, Moved, Needs, Payment};
use crate::model::Act;
use crate::ports::{Denied, StoreError};
use crate::values::UserId;
use crate::wallets::Account;

/// Why a user was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteUserError {
    /// The user cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The user owns the company; transfer the ownership first.
    #[error("the owner of a company cannot be deleted until ownership has moved")]
    IsOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes a user. The balance of each wallet returns to the company's reserve, once. Deleting again changes
/// nothing.
#[derive(Debug, Clone, Copy)]
pub struct DeleteUser(pub UserId);

impl Decide for DeleteUser {
    type Done = ();
    type Refusal = DeleteUserError;

    fn needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.0]),
            locked_users: BTreeSet::from([self.0]), // so that ownership of the company cannot move to the user meanwhile
            accounts: BTreeSet::from(Account::of_user(self.0)),
            ..Needs::default()
        }
    }

    /// The reserve, which receives the balances.
    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.person(self.0)?.map(|person| person.company_id);
        Ok(Needs { accounts: company.map(Account::Reserve).into_iter().collect(), ..Needs::default() })
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<(), Undecided<DeleteUserError>> {
        let scope = on.scope;
        let Deciding { facts, book, changes, context, .. } = on;
        let id = self.0;
        let user =
            facts.own_person(scope, id)?.named("id").map_err(|error| Undecided::Refused(error.into()))?;
        if !user.active {
            return Ok(());
        }
        let company = facts.own_company(scope, user.company_id)?.named("company_id");
        let company = &company.map_err(|error| Undecided::Refused(error.into()))?.company;
        if company.owner_id == id {
            return Err(Undecided::Refused(DeleteUserError::IsOwner));
        }
        let mut cause = context.cause(company, Act::Deletion { user: id, wallets: 0 });
        let moved = Moved::Everything { wallets: &cause.payers(), to: Account::Reserve(company.id) };
        let wallets = book.pay(&Payment::of(&cause, moved)?)?.certain()?.transfers;
        cause.act = Act::Deletion { user: id, wallets };
        changes.deleted_users.push((id, cause.created_at));
        changes.journal_entries.push(cause);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, refusal, user};
    use crate::values::ProviderId;
    use crate::wallets::WalletType;

    fn deleted(fixture: &mut Fixture, id: UserId) -> Result<(), Undecided<DeleteUserError>> {
        fixture.decide(PROVIDER, &DeleteUser(id))
    }

    #[test]
    fn all_funds_return_to_the_reserve_and_the_wallets_close() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0, 7]);
        deleted(&mut fixture, ann).unwrap();
        assert_eq!(fixture.shows(Account::Reserve(COMPANY)), 17);
        for wallet in WalletType::ALL {
            assert!(!fixture.book.account(Account::Wallet(*wallet, ann)).unwrap().is_open());
        }
        assert!(matches!(fixture.changes.journal_entries[0].act, Act::Deletion { wallets: 2, .. }));
        assert_eq!(fixture.changes.deleted_users[0].0, ann);
        fixture.person(ann).active = false;
        deleted(&mut fixture, ann).unwrap();
        assert_eq!(fixture.changes.journal_entries.len(), 1, "deleting again changes nothing");
    }

    #[test]
    fn the_owner_and_nobody_are_refused() {
        let mut fixture = Fixture::new(50);
        let owner = fixture.add_user(0, &[10, 0]);
        fixture.facts.people.insert(user(3), None);
        assert!(matches!(refusal(deleted(&mut fixture, owner)), DeleteUserError::IsOwner));
        let absent = refusal(deleted(&mut fixture, user(3)));
        assert!(matches!(absent, DeleteUserError::Denied(Denied::Absent("id"))));
        let other = ProviderId::from_uuid(uuid::Uuid::from_u128(8));
        let stranger = fixture.decide(other, &DeleteUser(owner));
        assert!(matches!(refusal(stranger), DeleteUserError::Denied(Denied::Foreign("id"))));
    }
}
