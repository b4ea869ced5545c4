//! `guerdon seal`.

use data_encoding::HEXLOWER;
use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Clock, Seal as StoredSeal};
use serde::{Deserialize, Serialize};

use crate::commands::output::format_fields;
use crate::commands::{
    CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand, append_audit_entry,
};
use crate::maintenance::sealing;
use crate::platform::SystemClock;

/// Seal all committed journal entries and print the head of the hash chain.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon seal
  guerdon --output json seal")]
pub(crate) struct Seal {
    /// Whether the command prepares a backup. Then an empty ledger and unsealed entries are not errors.
    #[arg(skip)]
    #[serde(default)]
    is_for_backup: bool,
}

impl Seal {
    /// Creates the command that prepares a backup: it records the backup in the audit log and seals the journal entries
    /// that can be sealed, if there are any.
    pub(crate) fn for_backup() -> Self {
        Self { is_for_backup: true }
    }
}

/// The latest seal.
#[derive(Serialize, Deserialize)]
pub(crate) struct SealView {
    sequence: i64,
    pub(crate) head: String,
}

impl SealView {
    fn new(seal: &StoredSeal) -> Self {
        Self { sequence: seal.sequence, head: HEXLOWER.encode(&seal.head) }
    }
}

impl CommandView for SealView {
    fn to_text(&self) -> String {
        let sequence = self.sequence.to_string();
        let field_text = format_fields(&[("sequence", sequence.as_str()), ("head", self.head.as_str())]);
        format!(
            "{field_text}\nStore the head on another system: `guerdon verify --head {}` proves that nothing before it was changed.",
            self.head
        )
    }
}

impl RunnableCommand for Seal {
    fn may_take_long(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        if self.is_for_backup {
            return seal_for_backup(environment);
        }
        let (seal, delay) = sealing::seal_all(environment.store.as_ref(), SystemClock.now())?;
        if let Some(delay) = delay {
            return Err(CommandError::Failed(delay));
        }
        let seal = seal.ok_or_else(|| CommandError::refused("nothing to seal yet"))?;
        SealView::new(&seal).to_output()
    }
}

/// Seals what can be sealed. A distribution that is not finished does not prevent the backup: a note says that the head
/// does not cover later entries.
fn seal_for_backup(environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
    append_audit_entry(environment, |entry| entry, Action::BackupStarted)?;
    let (seal, unfinished) = sealing::seal_available(environment.store.as_ref(), SystemClock.now())?;
    let mut output = match seal {
        Some(seal) => SealView::new(&seal).to_output()?,
        None => CommandOutput { json: "null".to_owned(), ..CommandOutput::default() },
    };
    output.notes.extend(unfinished.map(|unfinished| {
        format!(
            "{unfinished}: the backup contains it and later journal entries, but the head does not cover them"
        )
    }));
    Ok(output)
}
