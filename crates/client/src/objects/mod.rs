//! The objects in requests and responses of the API (behaviour 11 to 18, 25). Unknown fields in responses, which later
//! versions may add, are ignored.

mod change;
mod companies;
mod corporations;
mod events;
mod occasions;
mod recognitions;
mod users;
mod wallets;

pub use change::Change;
pub use companies::{
    ChangedCompany, Company, CompanyUpdate, ListedCompany, NewCompany, PreviewedValue, RatePreview, Reserve,
    SamlSettings, SamlUpdate,
};
pub use corporations::{Corporation, CorporationUpdate, NewCorporation};
pub use events::{Attempt, Event, EventPage, EventQuery, EventState, ReplayFilter, ReplayResult, Start};
pub use occasions::{NewOccasion, Occasion, OccasionUpdate};
pub use recognitions::{DryRun, NewRecognition, Recognition, Recognitions, Sender, SenderType};
pub use users::{NewUser, User, UserUpdate};
pub use wallets::{Balances, Transaction, TransactionType, Wallet, WalletType};
