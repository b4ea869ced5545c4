#![doc = include_str!("../README.md")]

mod encoded_message;
mod failure;
mod from_address;
mod mail;
mod mail_store;
mod mail_text;
mod mailer;
mod observer;
mod persistent_store;
mod smtp;
mod transport;

pub use encoded_message::EncodedMessage;
pub use failure::{FailureKind, SendFailure};
pub use from_address::{FromAddress, InvalidFromAddress};
pub use mail::Mail;
pub use mail_store::{ClaimedMails, MailStore};
pub use mail_text::MailText;
pub use mailer::{Mailer, NextBatch, RunningMailer};
pub use observer::{MailerObserver, NoObserver};
pub use persistent_store::PersistentMailStore;
pub use smtp::{InvalidRoots, InvalidSmtpUrl, SmtpTransport, SmtpUrl};
pub use transport::{FolderTransport, MailTransport};
