//! Records a backup: the last step of `guerdon backup`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Clock as _, StoreExt as _};
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::maintenance::record_backup;
use crate::platform::SystemClock;

/// Implements `guerdon backup`.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon backup --record
  guerdon --output json backup --record")]
pub(crate) struct RecordBackup {}

/// A backup that was recorded.
#[derive(Serialize)]
struct RecordedBackupView {
    last_backup_at: String,
}

impl CommandView for RecordedBackupView {
    fn to_text(&self) -> String {
        format!("recorded a backup at {}", self.last_backup_at)
    }
}

impl RunnableCommand for RecordBackup {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let now = SystemClock.now();
        let entry = environment.context().new_audit_entry(Action::BackupRecorded);
        environment.store.transaction(|tx| {
            record_backup(tx, now)?;
            tx.record_audit_entry(&entry)
        })?;
        RecordedBackupView { last_backup_at: now.to_string() }.to_output()
    }
}
