//! The report of an import.

use std::fmt::Display;

use guerdon_domain::users::ImportOutcome;
use serde::{Deserialize, Serialize};

use crate::commands::output::format_number;
use crate::commands::{CommandError, CommandOutput, CommandView};

/// The number of rows with each outcome.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct ImportCounts {
    pub(super) created: usize,
    pub(super) updated: usize,
    pub(super) unchanged: usize,
    pub(super) refused: usize,
}

impl ImportCounts {
    pub(super) fn total_rows(self) -> usize {
        self.created + self.updated + self.unchanged + self.refused
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            created: self.created + other.created,
            updated: self.updated + other.updated,
            unchanged: self.unchanged + other.unchanged,
            refused: self.refused + other.refused,
        }
    }
}

impl CommandView for ImportCounts {
    fn to_text(&self) -> String {
        let [created, updated, unchanged, refused] =
            [self.created, self.updated, self.unchanged, self.refused].map(format_number);
        format!("{created} created, {updated} updated, {unchanged} unchanged, {refused} refused")
    }
}

#[derive(Default)]
pub(super) struct ImportReport {
    pub(super) counts: ImportCounts,
    pub(super) notes: Vec<String>,
}

impl ImportReport {
    pub(super) fn add_outcome(&mut self, line: usize, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Created => self.counts.created += 1,
            ImportOutcome::Updated => self.counts.updated += 1,
            ImportOutcome::Unchanged => self.counts.unchanged += 1,
            ImportOutcome::Refused(why) => {
                self.counts.refused += 1;
                self.notes.push(format!("line {line}: {}", why.replace('\n', " ")));
            }
        }
    }

    pub(super) fn add_report(&mut self, other: Self) {
        self.counts = self.counts.plus(other.counts);
        self.notes.extend(other.notes);
    }

    /// The output if an error ended the import at `line`, after earlier rows were imported.
    pub(super) fn into_stopped_output(
        mut self,
        line: usize,
        cause: impl Display,
    ) -> Result<CommandOutput, CommandError> {
        self.notes.push(format!(
            "stopped at line {line}: {cause}; later rows may not be imported: run the import again; imported rows \
             do not change again"
        ));
        Ok(CommandOutput { status: 1, ..self.into_output()? })
    }

    pub(super) fn into_output(self) -> Result<CommandOutput, CommandError> {
        let status = u8::from(self.counts.refused > 0);
        Ok(CommandOutput { status, notes: self.notes, ..self.counts.to_output()? })
    }
}
