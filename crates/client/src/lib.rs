#![doc = include_str!("../README.md")]

mod error;
mod objects;
mod operations;
mod pages;
mod transport;

pub use error::Error;
#[cfg(feature = "webhooks")]
pub use guerdon_webhooks as webhooks;
pub use objects::{
    Attempt, Balance, Balances, Company, Corporation, Event, Events, NewCompany, NewOccasion, NewRecognition,
    NewUser, Occasion, Recognition, Rehearsal, Reserve, SamlSettings, Sender, Transaction, User, WalletType,
};
pub use operations::Start;
pub use pages::Pages;
pub use transport::{Client, Credentials};
