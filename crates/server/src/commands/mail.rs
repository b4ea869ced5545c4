//! `guerdon mail`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{ClaimedMail, Clock as _, Ids as _, KeptMail, MailState, StoreError, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::named::{email, id};
use super::output::{Told, counted, table};
use super::pages::most;
use super::since::{given, moment};
use super::{CommandError, Output, Runnable, View, Workplace, note};
use crate::platform::{SystemClock, SystemIds};
use crate::transports::build_mail_transport;

/// How many mails are shown where nothing else is asked for.
const SHOWN: u32 = 1_000;

/// The states by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StateName {
    /// It is tried again.
    Waiting,
    /// The mail server took it, or it was written to a file.
    Sent,
    /// It failed for the last time.
    GivenUp,
}

impl From<StateName> for MailState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Waiting => Self::Waiting,
            StateName::Sent => Self::Sent,
            StateName::GivenUp => Self::GivenUp,
        }
    }
}

/// Shows mails, newest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// In this state only
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// Caused then or later: a time, or an age such as 2h
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = moment)]
    since: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = SHOWN, value_name = "N", allow_negative_numbers = true, value_parser = most)]
    limit: u32,
}

/// Sends mails that were given up, or that wait, as soon as possible: the mail server is tried at once, even if it counts as
/// away.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Retry {
    /// The mails' ids, as `mail list` shows them
    #[arg(value_name = "MAIL_ID", value_parser = id, required = true)]
    ids: Vec<Uuid>,
}

/// Sends a mail at once, past the queue, the way all others go.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Test {
    /// To whom
    #[arg(value_name = "ADDRESS", value_parser = email)]
    address: String,
}

#[derive(Serialize)]
struct Tested {
    to: String,
    sent: bool,
}

impl Runnable for Test {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let settings = &workplace.settings;
        let mut transport = build_mail_transport(settings).map_err(|it| CommandError::failed(&it))?;
        let mail = ClaimedMail {
            id: SystemIds.next(),
            recipient: self.address.clone(),
            subject: "Guerdon can send mail".to_owned(),
            body: format!("This mail was asked for by `guerdon mail test` at {}.\n", settings.service_url),
            attempts: 0,
            created_at: SystemClock.now(),
        };
        transport.send(&mail).map_err(CommandError::refused)?;
        transport.rest();
        note(workplace, |entry| entry.about(mail.id), Action::MailTested)?;
        let way = match &settings.mail.smtp_url {
            Some(_) => "taken by the mail server".to_owned(),
            None => format!("written into {}", settings.data_dir.join("mail").display()),
        };
        let to = self.address.clone();
        Told { text: format!("a mail to {to} was {way}"), fields: Tested { to, sent: true } }.output()
    }
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
        let row = |it: &Listed| {
            let state = match it.state {
                StateName::Waiting => "waiting",
                StateName::Sent => "sent",
                StateName::GivenUp => "given-up",
            };
            let (id, attempts) = (it.id.to_string(), it.attempts.to_string());
            vec![id, state.to_owned(), attempts, it.created_at.clone(), it.to.clone(), it.subject.clone()]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        table(&["id", "state", "attempts", "created", "to", "subject"], &rows)
    }
}

#[derive(Serialize)]
struct Retried {
    retried: usize,
}

impl View for Retried {
    fn text(&self) -> String {
        format!("{} queued again: the mail server is tried now", counted(self.retried, "mail", "mails"))
    }
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let since = given(self.since.as_ref())?;
        let (state, limit) = (self.state.map(MailState::from), i64::from(self.limit));
        let found = workplace
            .store
            .snapshot(|reads| -> Result<_, StoreError> { reads.mails(state, since, limit) })?;
        found.into_iter().map(Listed::from).collect::<Vec<_>>().output()
    }
}

impl Runnable for Retry {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let context = workplace.context();
        workplace.store.transaction(|tx| -> Result<(), CommandError> {
            for id in &self.ids {
                if !tx.retry_mail(*id)? {
                    return Err(CommandError::Refused(format!("no mail {id} waits or was given up")));
                }
                tx.note(&context.entry(Action::MailsRetried).about(*id))?;
            }
            Ok(())
        })?;
        Retried { retried: self.ids.len() }.output()
    }
}
