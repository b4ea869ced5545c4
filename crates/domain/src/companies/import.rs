//! Imports a company that another cell has handed over. All rows are inserted in one transaction, which opens the
//! company when it commits.

use uuid::Uuid;

use crate::model::{Action, AuditEntry, CheckedRows, CompanyMove, EventState, MoveDirection};
use crate::ports::{
    ArchiveSection, ArchivedRow, ArchivedValue, AuditLog, Companies, CompanyArchive, CompanyMoves, Context,
    ReadCompanyArchive, ReadProviders, Settings, StoreError, Timestamp, Users,
};
use crate::retention::record_events_pruned_before;
use crate::values::{CompanyId, DomainName, ProviderId};

/// The stored state of a delivery that was pending when its company was handed over.
pub const HANDED_OVER_DELIVERY_STATE: i16 = 5;

/// The company to import, as described by the header of its archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingCompany {
    pub token: Uuid,
    pub company_id: CompanyId,
    pub provider_id: ProviderId,
    pub domain: DomainName,
    /// Delivered events that were created before this time may be missing.
    pub events_pruned_before: Option<Timestamp>,
}

/// Why a company was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportCompanyError {
    /// The archive was already imported, possibly by an earlier attempt of the same import.
    #[error("this archive was already imported: the company is open here")]
    AlreadyImported,
    #[error(
        "this cell has refused this archive and will never import it: reopen the company in the cell that handed it \
         over (`guerdon company reopen`), then export it again"
    )]
    Refused,
    #[error(
        "this cell already has a company with this id: a company cannot return to a cell that it has left"
    )]
    CompanyExists,
    #[error("this cell already has a company with this domain")]
    DomainTaken,
    #[error("another provider of this cell has the API key of the company's provider")]
    ApiKeyTaken,
    /// The recomputed ledger differs from the stored one.
    #[error("the ledger in the archive is not consistent, so nothing was imported: {0}")]
    Inconsistent(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks whether an archive can be imported, before any of its rows is inserted.
pub fn check_import<T: CompanyMoves + Companies + ReadProviders + ?Sized>(
    tx: &mut T,
    incoming: &IncomingCompany,
    api_key: &str,
) -> Result<(), ImportCompanyError> {
    if is_refused(tx, incoming.token)? {
        return Err(ImportCompanyError::Refused);
    }
    if tx.provider_of_company(incoming.company_id)?.is_some() {
        return Err(ImportCompanyError::CompanyExists);
    }
    if tx.find_company_id_by_domain(&incoming.domain)?.is_some() {
        return Err(ImportCompanyError::DomainTaken);
    }
    let other = tx.find_provider_by_api_key(api_key)?;
    if other.is_some_and(|other| other.id != incoming.provider_id) {
        return Err(ImportCompanyError::ApiKeyTaken);
    }
    Ok(())
}

/// Inserts rows of a section. The sections must be inserted in their order.
pub fn insert_rows<T: AuditLog + CompanyArchive + ?Sized>(
    tx: &mut T,
    incoming: &IncomingCompany,
    (section, mut rows): (ArchiveSection, Vec<ArchivedRow>),
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let columns = SectionColumns::of(tx, section);
    let now = context.clock.now();
    match section {
        ArchiveSection::Providers => {
            if tx.insert_archived_rows(section, &rows, now)? > 0 {
                let entry = context.new_audit_entry(Action::ProviderCreated);
                tx.record_audit_entry(&with_reason(entry.with_provider(incoming.provider_id)))?;
            }
            return Ok(());
        }
        ArchiveSection::Occasions => {
            let (global, own): (Vec<_>, Vec<_>) =
                rows.into_iter().partition(|row| columns.get(row, "company_id") == &ArchivedValue::Null);
            for row in global {
                let inserted = tx.insert_archived_rows(section, std::slice::from_ref(&row), now)?;
                if let (1, ArchivedValue::Id(id)) = (inserted, columns.get(&row, "id")) {
                    let entry = context.new_audit_entry(Action::GlobalOccasionCreated);
                    tx.record_audit_entry(&with_reason(entry.with_object(*id)))?;
                }
            }
            rows = own;
        }
        // An imported company is in no corporation, like a company that was transferred to another provider.
        ArchiveSection::Companies => {
            rows.iter_mut().for_each(|row| columns.set(row, "corporation_id", ArchivedValue::Null));
        }
        ArchiveSection::Deliveries => rows.iter_mut().for_each(|row| open_delivery(&columns, row, context)),
        _ => {}
    }
    let inserted = tx.insert_archived_rows(section, &rows, now)?;
    if inserted < rows.len() && section != ArchiveSection::IdempotencyRecords {
        return Err(StoreError::Broken(format!("rows of {} already exist", section.name())));
    }
    Ok(())
}

/// Sets a handed-over delivery to pending, so that this cell sends it. A delivery that is pending in the archive
/// belongs to a former provider of the company and stays with the source, so it becomes unaddressed here.
fn open_delivery(columns: &SectionColumns, row: &mut ArchivedRow, context: &Context<'_>) {
    let state = |state: EventState| ArchivedValue::Integer(state.code().into());
    if *columns.get(row, "state") == ArchivedValue::Integer(HANDED_OVER_DELIVERY_STATE.into()) {
        columns.set(row, "state", state(EventState::Pending));
        columns.set(row, "next_attempt_at", ArchivedValue::Time(context.clock.now()));
    } else if *columns.get(row, "state") == state(EventState::Pending) {
        columns.set(row, "state", state(EventState::Unaddressed));
        columns.set(row, "next_attempt_at", ArchivedValue::Null);
    }
}

/// Checks the imported ledger and records the import. `began_at` is a time before the first row was inserted. The
/// company is open once the transaction commits.
pub fn finish_import<T>(
    tx: &mut T,
    incoming: &IncomingCompany,
    began_at: Timestamp,
    context: &Context<'_>,
) -> Result<CheckedRows, ImportCompanyError>
where
    T: AuditLog + CompanyArchive + CompanyMoves + Settings + Users + ?Sized,
{
    let now = context.clock.now();
    tx.clear_corporation_admins(incoming.company_id, now)?;
    let findings = tx.audit_company(incoming.company_id, context.bodies)?;
    let checked = findings.checked;
    if let Some(violation) = findings.into_violations().into_iter().next() {
        let text = format!("{}: {}", violation.invariant, violation.detail);
        return Err(ImportCompanyError::Inconsistent(text));
    }
    record_events_pruned_before(tx, incoming.events_pruned_before, now)?;
    let entry = context.new_audit_entry(Action::CompanyImported).with_company(incoming.company_id);
    tx.record_audit_entry(&entry.with_provider(incoming.provider_id).with_object(incoming.token))?;
    let completed = completed_move(incoming, MoveDirection::Incoming, now);
    tx.insert_company_move(&CompanyMove { created_at: began_at, ..completed })?;
    Ok(checked)
}

/// Records that this cell will never import an archive. Refusing it again changes nothing.
pub fn refuse_import<T: AuditLog + CompanyMoves + ?Sized>(
    tx: &mut T,
    incoming: &IncomingCompany,
    context: &Context<'_>,
) -> Result<(), ImportCompanyError> {
    if is_refused(tx, incoming.token)? {
        return Ok(());
    }
    let entry = context.new_audit_entry(Action::CompanyImported).with_object(incoming.token);
    tx.record_audit_entry(&entry.with_detail(format!("refused company {}", incoming.company_id)))?;
    Ok(tx.insert_company_move(&completed_move(incoming, MoveDirection::Refused, context.clock.now()))?)
}

/// Returns whether this cell has refused the archive. Fails if this cell has imported or created it.
fn is_refused<T: CompanyMoves + ?Sized>(tx: &mut T, token: Uuid) -> Result<bool, ImportCompanyError> {
    match tx.find_company_move(token)?.map(|found| found.direction) {
        Some(MoveDirection::Incoming) => Err(ImportCompanyError::AlreadyImported),
        Some(MoveDirection::Outgoing) => Err(ImportCompanyError::CompanyExists),
        Some(MoveDirection::Refused) => Ok(true),
        None => Ok(false),
    }
}

fn completed_move(incoming: &IncomingCompany, direction: MoveDirection, at: Timestamp) -> CompanyMove {
    CompanyMove {
        token: incoming.token,
        company_id: incoming.company_id,
        direction,
        release_code: None,
        created_at: at,
        archived_at: None,
        completed_at: Some(at),
    }
}

fn with_reason(entry: AuditEntry) -> AuditEntry {
    entry.with_detail("imported with a company")
}

/// The names of a section's columns, in the order of a row's values.
struct SectionColumns(Vec<&'static str>);

impl SectionColumns {
    fn of<T: ReadCompanyArchive + ?Sized>(tx: &T, section: ArchiveSection) -> Self {
        Self(tx.archived_columns(section).iter().map(|column| column.name).collect())
    }

    fn get<'r>(&self, row: &'r ArchivedRow, name: &str) -> &'r ArchivedValue {
        let index = self.0.iter().position(|column| *column == name);
        index.and_then(|index| row.get(index)).unwrap_or(&ArchivedValue::Null)
    }

    fn set(&self, row: &mut ArchivedRow, name: &str, value: ArchivedValue) {
        let index = self.0.iter().position(|column| *column == name);
        if let Some(slot) = index.and_then(|index| row.get_mut(index)) {
            *slot = value;
        }
    }
}
