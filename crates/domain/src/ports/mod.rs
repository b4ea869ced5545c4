//! What the use cases need from the world. Each adapter implements these traits; none of them knows SQL or HTTP.

mod accounts;
mod audit;
mod clock;
mod companies;
mod corporations;
mod deliveries;
mod events;
mod idempotency;
mod locks;
mod lookup;
mod mails;
mod occasions;
mod providers;
mod recognitions;
mod redemptions;
mod saml;
mod settings;
mod store;
mod transfers;
mod users;

pub use accounts::{Accounts, Outcome, Payment, ReadAccounts};
pub use audit::{Audit, Violation};
pub use clock::{Clock, Context, Ids, Timestamp};
pub use companies::{Companies, ReadCompanies};
pub use corporations::{Corporations, ReadCorporations};
pub use deliveries::{
    Attempt, Claim, Claimed, ClaimedEvent, ClaimedMail, Deliveries, Fate, MailDeliveries, MailFate,
    Settlement,
};
pub use events::{Depth, EventBodies, EventKind, EventState, NewEvent, Outbox, QueuedEvent, ReadOutbox};
pub use idempotency::{Idempotency, IdempotencyKey, IdempotencyRecord, KEPT};
pub use locks::{Locks, Row};
pub use lookup::{Denied, Lookup};
pub use mails::{MailOutbox, NewMail};
pub use occasions::{Occasions, ReadOccasions};
pub use providers::{ProviderChange, Providers, ReadProviders};
pub use recognitions::{ReadRecognitions, Recognitions, Role};
pub use redemptions::Redemptions;
pub use saml::{ReadSaml, Saml};
pub use settings::{ReadSettings, Setting, Settings};
pub use store::{Reads, Store, StoreError, StoreExt, Tx, Verdict};
pub use transfers::ReadTransfers;
pub use users::{ReadUsers, Users};
