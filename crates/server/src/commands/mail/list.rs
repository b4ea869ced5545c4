//! `guerdon mail list`.

use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{NotificationQuery, NotificationState, StoreExt, StoredNotification};
use guerdon_mailer::MailText;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StateName;
use crate::commands::arguments::limit::{limit_note, parse_limit};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// The default number of emails.
const DEFAULT_LIMIT: u32 = 1_000;
/// The subject that is shown for an email that cannot be read.
const UNREADABLE_SUBJECT: &str = "(unreadable)";

/// List emails, newest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon mail list --state given-up
  guerdon mail list --since 7d")]
pub(crate) struct List {
    /// List only emails in this state
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// List only emails created at or after this time: a time, or an age such as 2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// Maximum number of emails
    #[arg(long, default_value_t = DEFAULT_LIMIT, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

#[derive(Serialize)]
struct ListedMailView {
    id: Uuid,
    to: String,
    subject: String,
    state: &'static str,
    attempts: u16,
    created_at: String,
}

impl From<StoredNotification> for ListedMailView {
    fn from(mail: StoredNotification) -> Self {
        let subject = mail.notification.as_ref().map_or_else(
            || UNREADABLE_SUBJECT.to_owned(),
            |notification| MailText::from_notification(notification).subject,
        );
        Self {
            id: mail.id,
            to: mail.recipient,
            subject,
            state: mail.state.name(),
            attempts: mail.attempts,
            created_at: mail.created_at.to_string(),
        }
    }
}

impl CommandView for Vec<ListedMailView> {
    fn to_text(&self) -> String {
        let row = |mail: &ListedMailView| {
            let (id, attempts) = (mail.id.to_string(), mail.attempts.to_string());
            vec![
                id,
                mail.state.to_owned(),
                attempts,
                mail.created_at.clone(),
                mail.to.clone(),
                mail.subject.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        format_table(&["id", "state", "attempts", "created", "to", "subject"], &rows)
    }
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let since = parse_optional_time(self.since.as_ref())?;
        let query = NotificationQuery {
            channel: Channel::Mail,
            state: self.state.map(NotificationState::from),
            since,
            limit: i64::from(self.limit),
        };
        let found = environment.store.read_snapshot(|reads| reads.list_notifications(&query))?;
        let notes = limit_note(found.len(), self.limit, "email", "emails");
        let output = found.into_iter().map(ListedMailView::from).collect::<Vec<_>>().to_output()?;
        Ok(CommandOutput { notes, ..output })
    }
}
