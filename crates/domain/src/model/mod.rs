//! The types of the objects that are stored, reported or checked. The modules of the use cases re-export them
//! under their own names; ports and use cases build on this module.

mod audit_entry;
mod audit_report;
mod company;
mod company_move;
mod corporation;
mod details;
pub(crate) mod event;
mod event_facts;
mod idempotency;
mod journal_entry;
mod lookup;
mod notification;
mod occasion;
mod provider;
mod recognition;
mod redemption;
mod requester;
mod saml_settings;
mod schedule;
mod user;

pub use audit_entry::{Action, AuditEntry};
pub use audit_report::{AuditPart, AuditReport, CheckedRows, Findings, Violation};
pub use company::{Company, CompanyWithOwner};
pub use company_move::{CompanyMove, MoveDirection};
pub use corporation::Corporation;
pub use details::{Details, UpdateDetails};
pub use event::*;
pub use event_facts::EventFacts;
pub use idempotency::{IdempotencyKey, IdempotencyRecord};
pub use journal_entry::{EntryKind, JournalEntry, ScheduledDate, SentRecognition};
pub use lookup::{Denied, DeniedReference, Lookup};
pub use notification::{Channel, NewNotification, Notification, NotifiedCompany, Recipient};
pub use occasion::{Occasion, OccasionText};
pub use provider::{FormerSecret, Provider};
pub use recognition::{Recognition, Sender};
pub use redemption::Redemption;
pub use requester::{Actor, Requester};
pub use saml_settings::SamlSettings;
pub use schedule::{FailedAttempts, Period, Schedule, SkippedDate};
pub use user::{Profile, User, UserSummary, full_name};
