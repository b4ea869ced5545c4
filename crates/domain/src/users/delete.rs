//! Deleting a user (behaviour 13.4). The user is marked as deleted, the wallets are closed, and their
//! balances return to the company's reserve, so that no points are lost.

use std::collections::BTreeSet;

use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{Facts, LedgerError, Needs, Payment, PaymentKind};
use crate::model::EntryKind;
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
    #[error("the owner of a company cannot be deleted until ownership is transferred")]
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

    fn initial_needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.0]),
            // Locked, so that ownership of the company cannot move to the user meanwhile.
            locked_users: BTreeSet::from([self.0]),
            accounts: BTreeSet::from(Account::user_wallets(self.0)),
            ..Needs::default()
        }
    }

    /// The reserve of the user's company, which receives the balances.
    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.find_user(self.0)?.map(|user| user.company_id);
        Ok(Needs { accounts: company.map(Account::Reserve).into_iter().collect(), ..Needs::default() })
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<(), DecideError<DeleteUserError>> {
        let scope = state.scope;
        let DecisionState { facts, book, changes, context, .. } = state;
        let id = self.0;
        let user = facts
            .find_own_user(scope, id)?
            .or_denied("id")
            .map_err(|error| DecideError::Refused(error.into()))?;
        if !user.active {
            return Ok(());
        }
        let company = facts.find_own_company(scope, user.company_id)?.or_denied("company_id");
        let company = &company.map_err(|error| DecideError::Refused(error.into()))?.company;
        if company.owner_id == id {
            return Err(DecideError::Refused(DeleteUserError::IsOwner));
        }
        let mut entry = context.new_journal_entry(company, EntryKind::UserDeletion { user: id, wallets: 0 });
        let payment_kind =
            PaymentKind::EmptyWallets { wallets: &entry.possible_payers(), to: Account::Reserve(company.id) };
        let wallets = book.pay(&Payment::for_entry(&entry, payment_kind)?)?.expect_paid()?.transfer_count;
        entry.kind = EntryKind::UserDeletion { user: id, wallets };
        changes.deleted_users.push((id, entry.created_at));
        changes.journal_entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_refusal, user_id};
    use crate::values::ProviderId;
    use crate::wallets::WalletType;

    fn delete_user(fixture: &mut Fixture, id: UserId) -> Result<(), DecideError<DeleteUserError>> {
        fixture.decide_command(PROVIDER, &DeleteUser(id))
    }

    #[test]
    fn all_funds_return_to_the_reserve_and_the_wallets_close() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0, 7]);
        delete_user(&mut fixture, ann).unwrap();
        assert_eq!(fixture.shown_points(Account::Reserve(COMPANY)), 17);
        for wallet in WalletType::ALL {
            assert!(!fixture.book.account(Account::Wallet(*wallet, ann)).unwrap().is_open());
        }
        assert!(matches!(
            fixture.changes.journal_entries[0].kind,
            EntryKind::UserDeletion { wallets: 2, .. }
        ));
        assert_eq!(fixture.changes.deleted_users[0].0, ann);
        fixture.user_mut(ann).active = false;
        delete_user(&mut fixture, ann).unwrap();
        assert_eq!(fixture.changes.journal_entries.len(), 1, "deleting again changes nothing");
    }

    #[test]
    fn the_row_of_the_user_is_locked() {
        let id = user_id(1);
        let needs = DeleteUser(id).initial_needs();
        assert_eq!((needs.users, needs.locked_users), (BTreeSet::from([id]), BTreeSet::from([id])));
    }

    #[test]
    fn the_owner_and_unknown_users_are_refused() {
        let mut fixture = Fixture::new(50);
        let owner = fixture.add_user(0, &[10, 0]);
        fixture.facts.users.insert(user_id(3), None);
        assert!(matches!(expect_refusal(delete_user(&mut fixture, owner)), DeleteUserError::IsOwner));
        let absent = expect_refusal(delete_user(&mut fixture, user_id(3)));
        assert!(matches!(absent, DeleteUserError::Denied(Denied::Absent("id"))));
        let other = ProviderId::from_uuid(uuid::Uuid::from_u128(8));
        let stranger = fixture.decide_command(other, &DeleteUser(owner));
        assert!(matches!(expect_refusal(stranger), DeleteUserError::Denied(Denied::Foreign("id"))));
    }
}
