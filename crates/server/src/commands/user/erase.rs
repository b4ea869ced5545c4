//! `guerdon user erase`.

use guerdon_domain::ports::StoreExt;
use guerdon_domain::users::{ERASED_BODIES_MAX, EraseUserError, erase, erase_from_events};
use guerdon_domain::values::UserId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::{load_company, parse_id};
use crate::commands::error::impl_from_errors;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// How many events each query reads.
const EVENTS_PER_QUERY: i64 = 20_000;

/// Erase the personal data of a deleted user: profile, emails to the user, and name and address in event bodies.
/// Messages and the record of points that the user sent and received are kept. If events about the user are being
/// delivered, run it again a minute later: the responses to these deliveries are stored when they end.
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
struct ErasureView {
    user_id: Uuid,
    erased: bool,
    /// Whether the company of the user was handed over to another cell.
    company_handed_over: bool,
}

impl CommandView for ErasureView {
    fn to_text(&self) -> String {
        let erased = format!("erased the personal data of user {}; the ledger is unchanged", self.user_id);
        if !self.company_handed_over {
            return erased;
        }
        format!(
            "{erased}\nThe company was handed over to another cell. Erase the user there as well, and delete the archive \
             of the company."
        )
    }
}

impl RunnableCommand for Erase {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (id, context) = (UserId::from_uuid(self.user_id), environment.context());
        let company = environment.store.transaction(|tx| {
            let scope = tx.provider_of_user(id)?.ok_or(EraseUserError::NoSuchUser)?;
            erase(tx, scope, id, &context)
        })?;
        let store = environment.store.as_ref();
        let mut after = None;
        loop {
            let found =
                store.read_snapshot(|reads| reads.list_events_about_user(id, after, EVENTS_PER_QUERY))?;
            let Some(last) = found.last() else {
                // The company may have been handed over while the events were erased.
                let company = store.read_snapshot(|reads| load_company(reads, company.id))?;
                let company_handed_over = company.handed_over_at.is_some();
                return ErasureView { user_id: self.user_id, erased: true, company_handed_over }.to_output();
            };
            after = Some(*last);
            for batch in found.chunks(ERASED_BODIES_MAX) {
                store.transaction(|tx| erase_from_events(tx, id, batch, &context))?;
            }
        }
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

impl_from_errors!(EraseUserError);
