//! `guerdon mail retry`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::output::format_count;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Retry waiting or given-up emails now, even if the mail server is considered unavailable.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon mail retry MAIL_ID
  guerdon --output json mail retry OTHER_MAIL_ID")]
pub(crate) struct Retry {
    /// The ids of the emails, from `mail list`
    #[arg(value_name = "MAIL_ID", value_parser = parse_id, required = true)]
    ids: Vec<Uuid>,
}

#[derive(Serialize)]
struct RetryView {
    retried: usize,
}

impl CommandView for RetryView {
    fn to_text(&self) -> String {
        format!("{} queued for retry", format_count(self.retried, "email", "emails"))
    }
}

impl RunnableCommand for Retry {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let context = environment.context();
        environment.store.transaction(|tx| -> Result<(), CommandError> {
            for id in &self.ids {
                if !tx.retry_notification(Channel::Mail, *id)? {
                    return Err(CommandError::Refused(format!("mail {id} is neither waiting nor given-up")));
                }
                tx.record_audit_entry(&context.new_audit_entry(Action::MailsRetried).with_object(*id))?;
            }
            Ok(())
        })?;
        RetryView { retried: self.ids.len() }.to_output()
    }
}
