//! The types of the objects that are stored, reported or checked. The modules of the use cases re-export them
//! under their own names; ports and use cases build on this module.

mod audit_entry;
mod company;
mod corporation;
mod details;
mod event;
mod event_facts;
mod findings;
mod idempotency;
mod journal_entry;
mod lookup;
mod mail;
mod notification;
mod occasion;
mod origin;
mod provider;
mod recognition;
mod redemption;
mod saml_settings;
mod schedule;
mod user;

pub use audit_entry::{Action, AuditEntry};
pub use company::{Company, CompanyWithOwner};
pub use corporation::Corporation;
pub use details::{Details, UpdateDetails};
pub use event::{Event, EventKind, EventState, NewEvent, RecognitionEvent, RedemptionEvent, SenderName};
pub use event_facts::EventFacts;
pub use findings::{AuditReport, Checked, Findings, Part, Violation};
pub use idempotency::{IdempotencyKey, IdempotencyRecord, KEPT};
pub use journal_entry::{Act, JournalEntry, ScheduledDate, Sending};
pub use lookup::{Denied, Lookup};
pub use mail::NewMail;
pub use notification::{Notification, NotifiedCompany};
pub use occasion::{Occasion, OccasionText};
pub use origin::{Actor, By, Origin};
pub use provider::{Former, Provider};
pub use recognition::{Recognition, Sender};
pub use redemption::Redemption;
pub use saml_settings::SamlSettings;
pub use schedule::{Failing, MissedDate, Period, Schedule};
pub use user::{Person, Profile, User, full_name};
