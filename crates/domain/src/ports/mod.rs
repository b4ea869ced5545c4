//! What the use cases need from outside. Adapters implement these traits; none of the traits mentions SQL or
//! HTTP.

mod accounts;
mod audit;
mod audit_log;
mod clock;
mod companies;
mod corporations;
mod deadlines;
mod deliveries;
mod erasure;
mod error;
mod events;
mod figures;
mod idempotency;
mod journal_entries;
mod ledger;
mod locks;
mod mails;
mod movements;
mod occasions;
mod pacer;
mod providers;
mod recognitions;
mod retention;
mod saml;
mod schedules;
mod settings;
mod steps;
mod store;
mod users;
mod wake;

pub use crate::model::{Denied, Lookup, NewEvent, NewMail};
pub use accounts::{Accounts, Balances, Holding, ReadAccounts};
pub use audit::{Audit, Counted, Examination, PendingSeal, Seal, Seals, Stretch};
pub use audit_log::{AuditLog, AuditWanted, ReadAuditLog};
pub use clock::{Clock, Context, Ids, Timestamp};
pub use companies::{Companies, ReadCompanies};
pub use corporations::{Corporations, ReadCorporations};
pub use deadlines::Deadlines;
pub use deliveries::{
    Attempt, CLOCK_TOLERANCE, Claim, Claimed, ClaimedEvent, ClaimedMail, Deliveries, Fate, MailDeliveries,
    MailFate, Settlement,
};
pub use erasure::{Erasure, ReadErasure};
pub use error::StoreError;
pub use events::{
    Depth, EventBodies, EventsWanted, Feed, FeedPlace, FeedWanted, MadeAttempt, Outbox, QueuedEvent,
    ReadOutbox, Replays, ToldEvent, Unrenderable,
};
pub use figures::{
    CompanyDay, CompanyLine, Figures, OccasionLine, ProviderHour, ReadFigures, ServiceHour, Undelivered,
    day_of, hour_of,
};
pub use idempotency::Idempotency;
pub use journal_entries::{JournalEntries, ReadJournalEntries};
pub use ledger::LedgerAccess;
pub use locks::{Locks, Row};
pub use mails::{KeptMail, MailOutbox, MailRetries, MailState, RETRIED_MAIL_DUE, ReadMails};
pub use movements::{LedgerLine, ReadMovements};
pub use occasions::{Occasions, ReadOccasions};
pub use pacer::{Pacer, step};
pub use providers::{ProviderChange, Providers, ReadProviders};
pub use recognitions::{ReadRecognitions, Recognitions, Role};
pub use retention::Retention;
pub use saml::{ReadSaml, Saml};
pub use schedules::{ReadSchedules, Schedules};
pub use settings::{ReadSettings, Setting, Settings};
pub use steps::{InTransit, ReadSteps};
pub use store::{Consistency, Ledger, Reads, Store, StoreExt, Tx, Verdict};
pub use users::{INSERTED_USERS_MAX, ReadUsers, Users, Wanted};
pub use wake::{Processes, Wake, Wakes};
