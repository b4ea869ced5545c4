//! `guerdon mail list`.

use guerdon_domain::ports::{KeptMail, MailState, StoreError, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StateName;
use crate::commands::arguments::limit::parse_limit;
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// The default number of mails.
const SHOWN: u32 = 1_000;

/// List mails, newest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon mail list --state given-up
  guerdon mail list --since 7d")]
pub(crate) struct List {
    /// List only mails in this state
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// List only mails created at or after this time: a time, or an age such as 2h
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// Maximum number of mails
    #[arg(long, default_value_t = SHOWN, value_name = "N", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

#[derive(Serialize)]
struct Listed {
    id: Uuid,
    to: String,
    subject: String,
    state: StateName,
    attempts: u16,
    created_at: String,
}

impl From<KeptMail> for Listed {
    fn from(it: KeptMail) -> Self {
        let state = match it.state {
            MailState::Waiting => StateName::Waiting,
            MailState::Sent => StateName::Sent,
            MailState::GivenUp => StateName::GivenUp,
        };
        let (to, subject) = (it.recipient, it.subject);
        Self { id: it.id, to, subject, state, attempts: it.attempts, created_at: it.created_at.to_string() }
    }
}

impl View for Vec<Listed> {
    fn text(&self) -> String {
        let row = |mail: &Listed| {
            let state = match mail.state {
                StateName::Waiting => "waiting",
                StateName::Sent => "sent",
                StateName::GivenUp => "given-up",
            };
            let (id, attempts) = (mail.id.to_string(), mail.attempts.to_string());
            vec![
                id,
                state.to_owned(),
                attempts,
                mail.created_at.clone(),
                mail.to.clone(),
                mail.subject.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        table(&["id", "state", "attempts", "created", "to", "subject"], &rows)
    }
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let since = parse_optional_time(self.since.as_ref())?;
        let (state, limit) = (self.state.map(MailState::from), i64::from(self.limit));
        let found = environment
            .store
            .snapshot(|reads| -> Result<_, StoreError> { reads.mails(state, since, limit) })?;
        found.into_iter().map(Listed::from).collect::<Vec<_>>().output()
    }
}
