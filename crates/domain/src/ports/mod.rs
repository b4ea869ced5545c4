//! What the use cases need from the world. Each adapter implements these traits; none of them knows SQL or HTTP.

mod accounts;
mod audit;
mod clock;
mod companies;
mod events;
mod idempotency;
mod lookup;
mod mails;
mod occasions;
mod providers;
mod settings;
mod store;
mod transfers;
mod users;

pub use accounts::{Accounts, Outcome, Payment, ReadAccounts};
pub use audit::{Audit, Violation};
pub use clock::{Clock, Context, Ids, Timestamp};
pub use companies::{Companies, ReadCompanies};
pub use events::{EventBodies, EventKind, NewEvent, Outbox};
pub use idempotency::{Idempotency, IdempotencyKey, IdempotencyRecord};
pub use lookup::{Denied, Lookup};
pub use mails::{MailOutbox, NewMail};
pub use occasions::{Occasions, ReadOccasions};
pub use providers::{ProviderChange, Providers, ReadProviders};
pub use settings::{ReadSettings, Setting, Settings};
pub use store::{Reads, Store, StoreError, StoreExt, Tx, Verdict};
pub use transfers::ReadTransfers;
pub use users::{ReadUsers, Users};
