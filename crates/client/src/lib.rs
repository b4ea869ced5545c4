#![doc = include_str!("../README.md")]

mod error;
mod objects;
mod operations;
mod pages;
mod transport;

pub use error::Error;
pub use guerdon_webhook_dispatcher::{
    Delivery, REPLAY_WINDOW, SeenNonces, Timestamp, VerifyError, sign, verify, verify_within,
};
pub use objects::{
    Attempt, Balance, Balances, Company, Corporation, Event, Events, NewCompany, NewOccasion, NewRecognition,
    NewUser, Occasion, Recognition, Rehearsal, Reserve, SamlSettings, Sender, Transaction, User, WalletType,
};
pub use operations::Start;
pub use pages::Pages;
pub use transport::{Client, Credentials};
