//! Rows of the tables, and their conversion to the domain's types. A stored value that breaks its own rules
//! is reported as corrupt, never repaired.
//!
//! Each port has a file. `schema` has the tables, `types` the SQL types that both databases share, and
//! `seals` the digest over facts.

mod accounts;
mod audit;
mod audit_log;
mod columns;
mod companies;
pub(crate) mod conditions;
mod corporations;
mod deliveries;
mod events;
mod figures;
mod idempotency;
mod journal_entries;
mod mails;
mod movements;
mod notifications;
mod occasions;
mod providers;
mod recognitions;
mod saml;
mod schedules;
pub(crate) mod schema;
pub(crate) mod seals;
mod states;
mod steps;
pub(crate) mod types;
mod users;

pub(crate) use accounts::{AccountRow, AccountStateRow, TransferRow, WalletRow};
pub(crate) use audit::{AccountFact, RecognitionFact, SealRow};
pub(crate) use audit_log::AuditEntryRow;
pub(crate) use columns::{Row, TableRow};
pub(crate) use companies::{CompanyRow, OwnerRow};
pub(crate) use corporations::CorporationRow;
pub(crate) use deliveries::{AttemptRow, ClaimedEventRow, DeliveryRow, FareRow, MadeAttemptRow, SettledRow};
pub(crate) use events::{EventRow, QueuedEventRow, StoredEventRow};
pub(crate) use figures::{CompanyDayRow, CompanyLineRow, OccasionLineRow, ProviderHourRow, ServiceHourRow};
pub(crate) use idempotency::IdempotencyRow;
pub(crate) use journal_entries::{JournalEntryRow, kind};
pub(crate) use mails::{ClaimedMailRow, KeptMailRow, MailRow, mail};
pub(crate) use movements::{LedgerLineRow, TransactionRow};
pub(crate) use occasions::OccasionRow;
pub(crate) use providers::ProviderRow;
pub(crate) use recognitions::{NewRecognitionRow, RecognitionRow, SendingRow};
pub(crate) use saml::SamlRow;
pub(crate) use schedules::{MissedDateRow, ScheduleRow};
pub(crate) use states::{
    OccasionState, OptionsState, ProviderState, SamlState, ScheduleState, State, Subject,
};
pub(crate) use steps::StepRow;
pub(crate) use users::{PersonRow, UserRow};

use guerdon_domain::ports::StoreError;

/// Reads columns of a row into domain types, and reports which one is corrupt.
pub(crate) struct Reading<'a> {
    pub(crate) table: &'static str,
    pub(crate) id: &'a dyn std::fmt::Display,
}

impl Reading<'_> {
    pub(crate) fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, column, id: self.id.to_string() }
    }

    /// A value that a parser of the domain accepts.
    pub(crate) fn parse<T, E>(
        &self,
        column: &'static str,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        parse(text).map_err(|_invalid| self.corrupt(column))
    }

    /// A nullable value that a parser of the domain accepts.
    pub(crate) fn parse_opt<T, E>(
        &self,
        column: &'static str,
        text: Option<&str>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.parse(column, text, parse)).transpose()
    }

    /// A value that a constructor of the domain accepts.
    pub(crate) fn make<T>(&self, column: &'static str, made: Option<T>) -> Result<T, StoreError> {
        made.ok_or_else(|| self.corrupt(column))
    }
}
