//! Records a backup: the last step of `guerdon backup`.

use guerdon_domain::ports::Clock as _;
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
        record_backup(environment.store.as_ref(), now)?;
        RecordedBackupView { last_backup_at: now.to_string() }.to_output()
    }
}
