//! `guerdon mail test`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Clock as _, IdGenerator as _};
use guerdon_mailer::Mail;
use serde::{Deserialize, Serialize};

use crate::commands::arguments::identifiers::check_email;
use crate::commands::output::WithText;
use crate::commands::{
    CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand, append_audit_entry,
};
use crate::platform::{SystemClock, SystemIds};
use crate::transports::build_mail_transport;

/// Send a test email now, bypassing the queue.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon mail test admin@acme.example
  guerdon --output json mail test admin@acme.example")]
pub(crate) struct Test {
    /// The recipient's email address
    #[arg(value_name = "ADDRESS", value_parser = check_email)]
    address: String,
}

#[derive(Serialize)]
struct TestMailView {
    to: String,
    sent: bool,
}

impl RunnableCommand for Test {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let settings = &environment.settings;
        let mut transport = build_mail_transport(settings)?;
        let mail = Mail {
            id: SystemIds.next_id(),
            recipient: self.address.clone(),
            subject: "Guerdon can send email".to_owned(),
            body: format!("This email was sent by `guerdon mail test` at {}.\n", settings.service_url),
            attempts: 0,
            created_at: SystemClock.now(),
        };
        // The audit entry comes first, so that nothing is sent without one.
        append_audit_entry(environment, |entry| entry.with_object(mail.id), Action::MailTested)?;
        transport.send_mail(&mail).map_err(CommandError::refused)?;
        transport.close_connection();
        let destination = match &settings.mail.smtp_url {
            Some(_) => "accepted by the mail server".to_owned(),
            None => format!("written to {}", settings.data_dir.join("mail").display()),
        };
        let to = self.address.clone();
        WithText {
            text: format!("an email to {to} was {destination}"),
            fields: TestMailView { to, sent: true },
        }
        .to_output()
    }
}
