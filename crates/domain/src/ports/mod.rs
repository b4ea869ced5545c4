//! What the use cases need from outside. Adapters implement these traits; none of the traits mentions SQL or
//! HTTP.

mod accounts;
mod audit;
mod audit_log;
mod clock;
mod commits;
mod companies;
mod company_archive;
mod company_moves;
mod corporations;
mod deadlines;
mod deliveries;
mod distributions;
mod durations;
mod erasure;
mod error;
mod events;
mod failed_requests;
mod idempotency;
mod journal_entries;
mod latest_attempts;
mod ledger;
mod locks;
mod notifications;
mod notifier;
mod occasions;
mod pacer;
mod providers;
mod recognitions;
mod retention;
mod saml;
mod schedules;
mod search;
mod settings;
mod statistics;
mod store;
mod users;

pub use crate::model::{Denied, DeniedReference, Lookup, NewEvent, NewNotification};
pub use accounts::{AccountEntry, AccountTransaction, Accounts, BalanceGroup, Balances, ReadAccounts};
pub use audit::{
    Audit, AuditOptions, AuditPacer, LedgerEnd, PendingSeal, Seal, SealedRange, Seals, StatisticsDelta,
    Unpaced,
};
pub use audit_log::{AuditLog, AuditLogQuery, ReadAuditLog};
pub use clock::{Clock, Context, IdGenerator, Timestamp};
pub use commits::CommitsInProgress;
pub use companies::{Companies, ReadCompanies};
pub use company_archive::{
    ArchivePage, ArchiveSection, ArchivedColumn, ArchivedRow, ArchivedType, ArchivedValue, CompanyArchive,
    ReadCompanyArchive,
};
pub use company_moves::{CompanyMoves, ReadCompanyMoves};
pub use corporations::{Corporations, ReadCorporations};
pub use deadlines::Deadlines;
pub use deliveries::{
    Attempt, CLOCK_TOLERANCE, ClaimRequest, ClaimedBatch, ClaimedEvent, Deliveries, DeliveryOutcome,
    Settlement,
};
pub use distributions::{ReadDistributions, UnfinishedDistributions};
pub use durations::{DURATION_BOUNDS_MICROS, DurationCounts};
pub use erasure::{Erasure, ReadErasure};
pub use error::StoreError;
pub use events::{
    EventBodies, EventQuery, EventWithBody, FeedPage, FeedPosition, FeedQuery, Outbox, OutboxStatistics,
    QueuedEvent, ReadOutbox, RecordedAttempt, RenderError, ReplayCursor, ReplayQuery, ReplayedPage, Replays,
    SHOWN_ATTEMPTS_MAX,
};
pub use failed_requests::{
    FAILED_REQUESTS_MAX, FAILED_REQUESTS_PER_PROVIDER_MAX, FailedRequest, FailedRequestQuery, FailedRequests,
    ReadFailedRequests,
};
pub use idempotency::Idempotency;
pub use journal_entries::{JournalEntries, ReadJournalEntries};
pub use latest_attempts::{LATEST_ATTEMPTS_MAX, LatestAttempts};
pub use ledger::LedgerAccess;
pub use locks::{LockableRow, Locks};
pub use notifications::{
    ClaimedNotification, ClaimedNotifications, NotificationClaim, NotificationDeliveries, NotificationOutbox,
    NotificationOutcome, NotificationQuery, NotificationState, RETRIED_NOTIFICATION_DUE, ReadNotifications,
    StoredNotification, UnsentNotificationCounts,
};
pub use notifier::{CommittedEvents, EventFeedNotifier, Notifier, Notifiers, ProcessCount};
pub use occasions::{Occasions, ReadOccasions};
pub use pacer::{AdaptiveSize, Pacer, run_step};
pub use providers::{Providers, ReadProviders};
pub use recognitions::{ReadRecognitions, Recognitions, Role};
pub use retention::Retention;
pub use saml::{ReadSaml, Saml};
pub use schedules::{ReadSchedules, Schedules};
pub use search::{FoundCompany, ReadSearch};
pub use settings::{ReadSettings, Setting, Settings};
pub use statistics::{
    CompanyDay, CompanySummary, DurationSubject, OccasionUsage, ProviderAttempts, ProviderHour,
    ReadStatistics, ServiceHour, Statistics, UndeliveredCounts, days_since_epoch, hours_since_epoch,
};
pub use store::{Consistency, LedgerTx, ReadTx, Store, StoreCapacity, StoreExt, Tx, Verdict};
pub use users::{INSERTED_USERS_MAX, ReadUsers, UserQuery, Users};
