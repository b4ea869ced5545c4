//! Rows: what the tables hold, and the way from there to the domain's types. A stored value that breaks its own
//! rules is reported as corrupt, never mended.

mod cause;
mod company;
mod facts;
mod ledger;
mod occasion;
mod provider;
mod queued;
mod recognition;
mod saml;
mod schedule;
pub(crate) mod schema;
pub(crate) mod seals;
mod steps;
pub(crate) mod types;
mod user;

pub(crate) use cause::{CauseRow, kind};
pub(crate) use company::{CompanyRow, CorporationRow, NewCompanyRow, OwnerRow, rate_column};
pub(crate) use facts::{AccountFact, RecognitionFact, SealRow};
pub(crate) use ledger::{AccountRow, Leg, TransactionRow, TransferRow, WalletRow};
pub(crate) use occasion::OccasionRow;
pub(crate) use provider::{IdempotencyRow, ProviderRow};
pub(crate) use queued::{
    AttemptRow, ClaimedEventRow, ClaimedMailRow, DeliveryRow, EventRow, FareRow, MailRow, QueuedEventRow,
    mail,
};
pub(crate) use recognition::{NewRecognitionRow, RecognitionRow, SendingRow};
pub(crate) use saml::SamlRow;
pub(crate) use schedule::{MissedDateRow, ScheduleRow};
pub(crate) use steps::StepRow;
pub(crate) use user::{PersonRow, UserRow};

use guerdon_domain::ports::StoreError;
use uuid::Uuid;

/// Reads one column into a domain type, or says which one is corrupt.
pub(crate) struct Reading {
    pub(crate) table: &'static str,
    pub(crate) id: Uuid,
}

impl Reading {
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

    /// The same of a column that may be null.
    pub(crate) fn parse_opt<T, E>(
        &self,
        column: &'static str,
        text: Option<&str>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        text.map(|it| self.parse(column, it, parse)).transpose()
    }

    /// A value that a constructor of the domain accepts.
    pub(crate) fn make<T>(&self, column: &'static str, made: Option<T>) -> Result<T, StoreError> {
        made.ok_or_else(|| self.corrupt(column))
    }
}
