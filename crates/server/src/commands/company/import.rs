//! `guerdon company import`.

use std::path::PathBuf;

use guerdon_domain::audit::CheckedRows;
use guerdon_domain::companies::{
    ImportCompanyError, IncomingCompany, check_import, finish_import, insert_rows, refuse_import,
};
use guerdon_domain::ports::{ArchiveSection, ArchivedColumn, ArchivedRow, ArchivedValue, StoreExt, Tx};
use guerdon_domain::values::ProviderId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::export::absolute_path;
use crate::commands::error::impl_from_errors;
use crate::commands::output::WithText;
use crate::commands::{
    CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand, format_count,
};
use crate::company_archive::{ArchiveError, ArchiveReader};

/// Import a company that another cell has handed over, or refuse it permanently.
///
/// Reads and checks the whole file before it writes anything, and then inserts everything in one transaction. Repeating
/// the command after it succeeded changes nothing. On the embedded database, other writers wait until the import ends.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company import ARCHIVE
  guerdon company import OTHER_ARCHIVE --refuse")]
pub(crate) struct Import {
    /// The file that `guerdon company export --hand-over` wrote
    #[arg(value_name = "FILE", value_parser = absolute_path)]
    file: PathBuf,
    /// Never import this file here, and print the release code for `guerdon company reopen`
    #[arg(long)]
    refuse: bool,
}

#[derive(Serialize)]
struct ImportView {
    company_id: Uuid,
    token: Uuid,
    /// Whether an earlier run of the command has already imported the company.
    already_imported: bool,
}

#[derive(Serialize)]
struct RefusalView {
    company_id: Uuid,
    token: Uuid,
    release_code: String,
}

impl CommandView for RefusalView {
    fn to_text(&self) -> String {
        format!(
            "This cell will never import the file. Open company {0} again in the cell that handed it over:\n  \
             guerdon company reopen {0} --code {1}",
            self.company_id, self.release_code
        )
    }
}

impl RunnableCommand for Import {
    fn may_take_long(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let reader = ArchiveReader::open(&self.file)?;
        let Some(token) = reader.header().token() else {
            return Err(CommandError::Refused(format!(
                "{} has no hand-over token: the company is still open in the cell that wrote it. Export it with --hand-over",
                self.file.display()
            )));
        };
        let provider_id = ProviderId::from_uuid(Uuid::nil()); // known after the file is read
        let invalid = |why: String| reader.invalid(&why);
        let incoming = IncomingCompany {
            token,
            company_id: reader.header().company_id(),
            provider_id,
            domain: reader.header().domain().map_err(invalid)?,
            events_pruned_before: reader.header().events_pruned_before().map_err(invalid)?,
        };
        if self.refuse {
            self.refuse_archive(environment, &incoming, &reader)
        } else {
            self.import_archive(environment, incoming, reader)
        }
    }
}

impl Import {
    fn refuse_archive(
        &self,
        environment: &CommandEnvironment,
        incoming: &IncomingCompany,
        reader: &ArchiveReader,
    ) -> Result<CommandOutput, CommandError> {
        let release_code = reader.header().release_code().map(str::to_owned);
        let release_code = release_code.ok_or_else(|| reader.invalid("its header has no release code"))?;
        let context = environment.context();
        environment.store.transaction(|tx| refuse_import(tx, incoming, &context))?;
        let company_id = incoming.company_id.as_uuid();
        RefusalView { company_id, token: incoming.token, release_code }.to_output()
    }

    fn import_archive(
        &self,
        environment: &CommandEnvironment,
        mut incoming: IncomingCompany,
        reader: ArchiveReader,
    ) -> Result<CommandOutput, CommandError> {
        let size = self.file.metadata().map_or(0, |metadata| metadata.len());
        environment.progress.show_bytes(usize::try_from(size.saturating_mul(2)).unwrap_or(0));
        let provider = check_rows(environment, &incoming, reader)?;
        incoming.provider_id = provider.id;
        let context = environment.context();
        let imported =
            environment.store.long_transaction(|tx| -> Result<Option<CheckedRows>, CommandError> {
                match check_import(tx, &incoming, &provider.api_key) {
                    Err(ImportCompanyError::AlreadyImported) => return Ok(None),
                    checked => checked?,
                }
                if tx.find_provider(provider.id)?.is_none() {
                    provider.require_readable_secret(environment)?;
                }
                let began_at = context.clock.now();
                self.insert_all(environment, &incoming, tx)?;
                Ok(Some(finish_import(tx, &incoming, began_at, &context)?))
            })?;
        let domain = incoming.domain.as_str();
        let (already_imported, text) = match imported {
            Some(checked) => {
                let count = |count: u64, one, many| {
                    format_count(usize::try_from(count).unwrap_or(usize::MAX), one, many)
                };
                let text = format!(
                    "imported company {domain}: {}, {}. It is open here. Change the router's map now",
                    count(checked.journal_entries, "journal entry", "journal entries"),
                    count(checked.transfers, "transfer", "transfers"),
                );
                (false, text)
            }
            None => {
                (true, format!("company {domain} was already imported from this file: nothing was changed"))
            }
        };
        let company_id = incoming.company_id.as_uuid();
        let fields = ImportView { company_id, token: incoming.token, already_imported };
        WithText { fields, text }.to_output()
    }

    fn insert_all(
        &self,
        environment: &CommandEnvironment,
        incoming: &IncomingCompany,
        tx: &mut dyn Tx,
    ) -> Result<(), CommandError> {
        let reader = ArchiveReader::open(&self.file)?;
        if reader.header().token() != Some(incoming.token) {
            return Err(CommandError::refused("the file was replaced while it was read"));
        }
        let context = environment.context();
        let columns: Vec<_> =
            ArchiveSection::ALL.iter().map(|section| tx.archived_columns(*section)).collect();
        reader.read_rows(
            |section| columns_of(section, &columns),
            |section, rows, bytes| -> Result<(), CommandError> {
                insert_rows(tx, incoming, (section, rows), &context)?;
                environment.progress.advance_by(bytes);
                Ok(())
            },
        )
    }
}

fn columns_of(section: ArchiveSection, all: &[Vec<ArchivedColumn>]) -> Vec<ArchivedColumn> {
    let index = ArchiveSection::ALL.iter().position(|other| *other == section);
    index.and_then(|index| all.get(index)).cloned().unwrap_or_default()
}

/// The provider of an archived company.
struct ArchivedProvider {
    id: ProviderId,
    api_key: String,
    encrypted_shared_secret: Vec<u8>,
}

impl ArchivedProvider {
    fn require_readable_secret(&self, environment: &CommandEnvironment) -> Result<(), CommandError> {
        match environment.keys.decrypt_secret(self.id, &self.encrypted_shared_secret) {
            Ok(_secret) => Ok(()),
            Err(_cause) => Err(CommandError::Refused(format!(
                "the shared secret of provider {} was encrypted with another master key: configure the same \
                 master key in both cells, or refuse the file with --refuse",
                self.id
            ))),
        }
    }
}

/// Reads the whole file. Checks its format, its digests, and that each row belongs to the company.
fn check_rows(
    environment: &CommandEnvironment,
    incoming: &IncomingCompany,
    reader: ArchiveReader,
) -> Result<ArchivedProvider, CommandError> {
    let columns = environment.store.read_snapshot(|reads| -> Result<Vec<_>, CommandError> {
        Ok(ArchiveSection::ALL.iter().map(|section| reads.archived_columns(*section)).collect())
    })?;
    let mut provider = None;
    let mut companies = 0;
    reader.read_rows(
        |section| columns_of(section, &columns),
        |section, rows: Vec<ArchivedRow>, bytes| -> Result<(), CommandError> {
            let names = columns_of(section, &columns);
            let value = |row: &ArchivedRow, name: &str| {
                names.iter().position(|column| column.name == name).and_then(|index| row.get(index)).cloned()
            };
            for row in &rows {
                let owner =
                    value(row, if section == ArchiveSection::Companies { "id" } else { "company_id" });
                let expected = ArchivedValue::Id(incoming.company_id.as_uuid());
                if !matches!(&owner, None | Some(ArchivedValue::Null)) && owner != Some(expected) {
                    let why = format!("a row of {} belongs to another company", section.name());
                    return Err(CommandError::Refused(why));
                }
                companies += usize::from(section == ArchiveSection::Companies);
                if let (
                    ArchiveSection::Providers,
                    Some(ArchivedValue::Id(id)),
                    Some(ArchivedValue::Text(api_key)),
                    Some(ArchivedValue::Bytes(encrypted_shared_secret)),
                ) =
                    (section, value(row, "id"), value(row, "api_key"), value(row, "encrypted_shared_secret"))
                {
                    provider = Some(ArchivedProvider {
                        id: ProviderId::from_uuid(id),
                        api_key,
                        encrypted_shared_secret,
                    });
                }
            }
            environment.progress.advance_by(bytes);
            Ok(())
        },
    )?;
    match provider {
        Some(provider) if companies == 1 => Ok(provider),
        _ => Err(CommandError::refused("the archive does not contain exactly one company and its provider")),
    }
}

impl_from_errors!(ImportCompanyError);

impl From<ArchiveError> for CommandError {
    fn from(cause: ArchiveError) -> Self {
        Self::refused(cause)
    }
}
