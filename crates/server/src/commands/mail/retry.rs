//! `guerdon mail retry`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::parse_id;
use crate::commands::output::counted;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Retry pending or failed mails now, even if the mail server is considered unavailable.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon mail retry MAIL_ID
  guerdon --output json mail retry OTHER_MAIL_ID")]
pub(crate) struct Retry {
    /// The ids of the mails, from `mail list`
    #[arg(value_name = "MAIL_ID", value_parser = parse_id, required = true)]
    ids: Vec<Uuid>,
}

#[derive(Serialize)]
struct Retried {
    retried: usize,
}

impl View for Retried {
    fn text(&self) -> String {
        format!("{} queued for retry", counted(self.retried, "mail", "mails"))
    }
}

impl Runnable for Retry {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let context = environment.context();
        environment.store.transaction(|tx| -> Result<(), CommandError> {
            for id in &self.ids {
                if !tx.retry_mail(*id)? {
                    return Err(CommandError::Refused(format!("mail {id} is neither pending nor failed")));
                }
                tx.note(&context.entry(Action::MailsRetried).about(*id))?;
            }
            Ok(())
        })?;
        Retried { retried: self.ids.len() }.output()
    }
}
