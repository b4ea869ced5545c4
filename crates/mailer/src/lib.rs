#![doc = include_str!("../README.md")]

mod failure;
mod from_address;
mod journal;
mod letter;
mod mailer;
mod observer;
mod smtp;
mod store_journal;
mod transport;

pub use failure::{Failure, Fault};
pub use from_address::{FromAddress, InvalidFromAddress};
pub use journal::MailJournal;
pub use letter::Letter;
pub use mailer::{Mailer, NextStep, Running};
pub use observer::{Observer, Silent};
pub use smtp::{InvalidRoots, InvalidSmtpUrl, SmtpTransport, SmtpUrl};
pub use store_journal::StoreMailJournal;
pub use transport::{FolderTransport, Transport};
