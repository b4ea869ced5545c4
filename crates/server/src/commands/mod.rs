//! The operator's commands. A [`Command`] can be serialized: it runs in this process, or in the running `serve` if
//! `serve` holds the embedded database.
//!
//! Each noun of the command line has a folder or a file here; `arguments` holds the arguments that several commands
//! share. To add a command, create a file with its arguments, examples and [`RunnableCommand`], and add a line to the
//! group of its noun.

mod arguments;
mod command_tree;
mod company;
mod distribution;
mod error;
mod event;
mod group_macro;
mod import;
mod ledger;
mod mail;
mod maintenance;
mod occasion;
mod output;
mod provider;
mod recognition;
mod redemption;
mod request;
mod reserve;
mod saml;
#[cfg(feature = "testing")]
pub(crate) mod testing;
mod user;
mod wallet;

use std::num::NonZero;
use std::sync::Arc;

use guerdon_domain::audit_log::{Action, AuditEntry};
use guerdon_domain::commands::{BlockingCommandQueue, CommandQueue};
use guerdon_domain::journal::Requester;
use guerdon_domain::ports::{Context, Store, StoreExt as _};
use guerdon_webhook_dispatcher::Bodies;

use crate::keys::Keys;
use crate::maintenance::FailedRequestWriter;
use crate::platform::{SystemClock, SystemIds, context_sources, user::current_user};
use crate::settings::Settings;
use crate::terminal::Progress;

pub(crate) use arguments::points_argument::format_dollars;
pub(crate) use arguments::time::parse_time;
pub(crate) use command_tree::{Command, ImportCommand};
pub(crate) use company::list_company_settings;
pub(crate) use error::CommandError;
pub(crate) use event::send_example::SendExample;
pub(crate) use ledger::seal::{Seal, SealView};
pub(crate) use maintenance::record_backup::RecordBackup;
pub(crate) use output::{CommandOutput, CommandView, Format, format_count, format_fields};

/// What a command needs to run.
#[derive(Clone)]
pub(crate) struct CommandEnvironment {
    /// The database.
    pub(crate) store: Arc<dyn Store>,
    /// The queue to which commands that move points are submitted.
    pub(crate) commands: BlockingCommandQueue,
    /// The keys that hash and encrypt secrets.
    pub(crate) keys: Arc<Keys>,
    pub(crate) settings: Arc<Settings>,
    /// The operator, with the user who runs the command, as [`current_user`] returns it.
    pub(crate) requester: Requester,
    /// The progress on the terminal.
    pub(crate) progress: Progress,
    /// How many threads a long command may use. A command in a service may use only one, because the service also
    /// handles requests.
    pub(crate) threads: NonZero<usize>,
    /// Whether the command runs in a service. While a service holds the embedded database, every command runs in the
    /// service.
    pub(crate) in_service: bool,
    /// Stores the failed requests of this service; `None` outside a service.
    pub(crate) failed_requests: Option<Arc<FailedRequestWriter>>,
}

impl CommandEnvironment {
    /// Creates the environment of a command that runs in a service.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        queue: Arc<dyn CommandQueue>,
        keys: Arc<Keys>,
        settings: &Settings,
    ) -> Self {
        Self {
            store,
            commands: BlockingCommandQueue { queue, context_sources: context_sources() },
            keys,
            settings: Arc::new(settings.clone()),
            requester: Requester { reference: current_user(), ..Requester::OPERATOR },
            progress: Progress::default(),
            threads: NonZero::<usize>::MIN,
            in_service: true,
            failed_requests: None,
        }
    }

    /// Returns the environment for a command of another user.
    pub(crate) fn with_user(&self, user: Option<String>) -> Self {
        Self { requester: Requester { reference: user, ..Requester::OPERATOR }, ..self.clone() }
    }

    /// The context of use cases: the system clock, new ids, and the operator.
    pub(crate) fn context(&self) -> Context<'_> {
        Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, requester: &self.requester }
    }
}

/// Appends an entry to the audit log in a separate transaction, for commands whose effect is outside the database.
fn append_audit_entry(
    environment: &CommandEnvironment,
    add_details: impl Fn(AuditEntry) -> AuditEntry,
    action: Action,
) -> Result<(), CommandError> {
    let context = environment.context();
    Ok(environment
        .store
        .transaction(|tx| tx.record_audit_entry(&add_details(context.new_audit_entry(action))))?)
}

impl Command {
    /// Runs the command. Logs it if it succeeds and may have changed something.
    pub(crate) fn execute_and_log(
        &self,
        environment: &CommandEnvironment,
    ) -> Result<CommandOutput, CommandError> {
        let output = self.execute_in(environment)?;
        if self.is_logged() {
            let user = environment.requester.reference.as_deref().unwrap_or("unknown user");
            let name = self.command_line_name();
            log::info!(command = name.as_str(), user; "executed a command");
        }
        Ok(output)
    }

    /// The name on the command line, such as `reserve deposit`.
    fn command_line_name(&self) -> String {
        let mut words = Vec::new();
        self.append_name(&mut words);
        words.join(" ")
    }
}

/// A command, with its arguments.
pub(crate) trait RunnableCommand {
    /// Runs the command and returns its output.
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError>;

    /// Appends the words of the command's name on the command line. Only a group knows the names of its commands.
    fn append_name(&self, _words: &mut Vec<String>) {}

    /// Whether the command may take so long that a terminal should show its progress.
    fn may_take_long(&self) -> bool {
        false
    }

    /// Whether the command changes no data. It may record its own result, as `verify` does.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Whether the command is logged.
    fn is_logged(&self) -> bool {
        !self.is_read_only()
    }
}

#[cfg(test)]
mod tests;
