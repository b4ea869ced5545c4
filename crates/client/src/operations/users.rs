use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{Balances, NewUser, Recognition, Transaction, User, UserUpdate, WalletType};
use crate::pagination::List;

/// Users, their wallets and recognitions (behaviour 13, 15, 17).
impl<C> Api<C> {
    /// Creates a user.
    pub fn create_user(&self, user: &NewUser) -> Call<'_, C, User> {
        self.post("/users", user)
    }

    /// Fetches a user, who may be deleted.
    pub fn get_user(&self, id: Uuid) -> Call<'_, C, User> {
        self.get(format!("/users/{id}"))
    }

    /// Changes a user.
    pub fn update_user(&self, id: Uuid, update: &UserUpdate) -> Call<'_, C, User> {
        self.put(format!("/users/{id}"), update)
    }

    /// Deletes a user. The user's points return to the company's reserve.
    pub fn delete_user(&self, id: Uuid) -> Call<'_, C, ()> {
        self.delete(format!("/users/{id}"))
    }

    /// Fetches the wallets of a user.
    pub fn get_balances(&self, user: Uuid) -> Call<'_, C, Balances> {
        self.get(format!("/users/{user}/balances"))
    }

    /// Lists the movements of a wallet, newest first.
    pub fn list_transactions(&self, user: Uuid, wallet: WalletType) -> List<'_, C, Transaction> {
        List::from_path(self, format!("/users/{user}/transactions")).with_filter("type", wallet.as_str())
    }

    /// Lists the recognitions that a user received, newest first.
    pub fn list_received_recognitions(&self, user: Uuid) -> List<'_, C, Recognition> {
        List::from_path(self, format!("/users/{user}/recognitions_received"))
    }

    /// Lists the recognitions that a user sent, newest first.
    pub fn list_sent_recognitions(&self, user: Uuid) -> List<'_, C, Recognition> {
        List::from_path(self, format!("/users/{user}/recognitions_sent"))
    }
}
