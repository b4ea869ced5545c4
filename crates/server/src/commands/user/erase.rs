//! `guerdon user erase`.

use guerdon_domain::ports::{StoreError, StoreExt};
use guerdon_domain::users::{ERASED_AT_ONCE, EraseUserError, erase, erase_from_events};
use guerdon_domain::values::UserId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::parse_id;
use crate::commands::error::refusals;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// How many events one query reads.
const FOUND_AT_ONCE: i64 = 20_000;

/// Erase the personal data of a deleted user: profile, mails, and name and address in event bodies. The points that the
/// user sent and received are kept, and so are messages.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon user erase DELETED_USER_ID
  guerdon --output json user erase DELETED_USER_ID")]
pub(crate) struct Erase {
    /// The user's id
    #[arg(value_name = "USER_ID", value_parser = parse_id)]
    user_id: Uuid,
}

#[derive(Serialize)]
struct Erased {
    user_id: Uuid,
    erased: bool,
}

impl View for Erased {
    fn text(&self) -> String {
        format!("erased the personal data of user {}; the ledger is unchanged", self.user_id)
    }
}

impl Runnable for Erase {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let (id, context) = (UserId::from_uuid(self.user_id), environment.context());
        environment.store.transaction(|tx| {
            let scope = tx.provider_of_user(id)?.ok_or(EraseUserError::NoSuchUser)?;
            erase(tx, scope, id, &context)
        })?;
        let store = environment.store.as_ref();
        let mut behind = None;
        loop {
            let found = store.snapshot(|reads| -> Result<_, StoreError> {
                reads.events_about(id, behind, FOUND_AT_ONCE)
            })?;
            let Some(last) = found.last() else {
                return Erased { user_id: self.user_id, erased: true }.output();
            };
            behind = Some(*last);
            for some in found.chunks(ERASED_AT_ONCE) {
                store.transaction(|tx| erase_from_events(tx, id, some, &context))?;
            }
        }
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

refusals!(EraseUserError);
