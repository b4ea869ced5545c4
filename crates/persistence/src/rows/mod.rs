//! Rows of the tables, and their conversion to the domain's types. A stored value that breaks its own rules
//! is reported as corrupt, never repaired.
//!
//! One file for each table or group of tables. `schema` has the tables, `types` the SQL types that both databases
//! share, `seals` the hash chain.

mod accounts;
pub(crate) mod archive;
mod audit;
mod audit_log;
mod audited_states;
mod columns;
mod companies;
mod company_moves;
pub(crate) mod conditions;
mod corporations;
mod deliveries;
mod distribution_steps;
mod events;
mod failed_requests;
mod idempotency;
mod journal_entries;
mod notification_json;
mod notifications;
mod occasions;
mod providers;
mod recognitions;
mod saml;
mod schedules;
pub(crate) mod schema;
pub(crate) mod seals;
mod statistics;
pub(crate) mod stored_columns;
mod types;
mod users;

pub(crate) use accounts::{AccountEntryRow, AccountStateRow, AccountTransactionRow, TransferRow, WalletRow};
pub(crate) use audit::SealRow;
pub(crate) use audit_log::AuditEntryRow;
pub(crate) use audited_states::{
    AuditedState, AuditedSubject, OccasionState, OptionsState, ProviderState, SamlState, ScheduleState,
};
use columns::declare_row;
pub(crate) use columns::{DeclaredRow, InsertInto, TableRow};
pub(crate) use companies::{CompanyRow, OwnerRow};
pub(crate) use company_moves::CompanyMoveRow;
pub(crate) use corporations::CorporationRow;
pub(crate) use deliveries::{
    AttemptRow, AttemptSummaryRow, ClaimedEventRow, DeliveryRow, DeliveryStateRow, RecordedAttemptRow,
    SettlementRow,
};
pub(crate) use distribution_steps::DistributionStepRow;
pub(crate) use events::{EventRow, QueuedEventRow, StoredEventRow};
pub(crate) use failed_requests::{FailedRequestRow, status_class};
pub(crate) use idempotency::IdempotencyRow;
pub(crate) use journal_entries::{JournalEntryRow, kind};
pub(crate) use notifications::{NotificationRow, StoredNotificationRow};
pub(crate) use occasions::OccasionRow;
pub(crate) use providers::ProviderRow;
pub(crate) use recognitions::{NewRecognitionRow, RecognitionRow, SentRecognitionRow};
pub(crate) use saml::SamlRow;
pub(crate) use schedules::{ScheduleRow, SkippedDateRow};
pub(crate) use statistics::{CompanyDayRow, CompanySummaryRow, ProviderAttemptsRow, ServiceHourRow};
pub(crate) use types::{DbTimestamp, Id, Identifier, SqlTimestamp, first_id_of_millisecond};
pub(crate) use users::{UserRow, UserSummaryRow};

use guerdon_domain::ports::StoreError;

/// Reads columns of a row into domain types, and reports which one is corrupt.
pub(crate) struct RowReader<'a> {
    pub(crate) table: &'static str,
    pub(crate) id: &'a dyn std::fmt::Display,
}

impl RowReader<'_> {
    pub(crate) fn corrupt_column(&self, column: &'static str) -> StoreError {
        StoreError::Corrupt { table: self.table, column, id: self.id.to_string() }
    }

    /// A value that a parser of the domain accepts.
    pub(crate) fn parse_column<T, E>(
        &self,
        column: &'static str,
        text: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        parse(text).map_err(|_invalid| self.corrupt_column(column))
    }

    /// A nullable value that a parser of the domain accepts.
    pub(crate) fn parse_nullable<T, E>(
        &self,
        column: &'static str,
        text: Option<&str>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|text| self.parse_column(column, text, parse)).transpose()
    }

    /// A value that a constructor of the domain accepts.
    pub(crate) fn require_valid<T>(&self, column: &'static str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.corrupt_column(column))
    }
}
