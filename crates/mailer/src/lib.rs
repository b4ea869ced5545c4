#![doc = include_str!("../README.md")]

mod journal;
mod letter;
mod mailer;
mod observer;
mod sender;
mod smtp;
mod store_journal;
mod transport;

pub use journal::MailJournal;
pub use letter::Letter;
pub use mailer::{Mailer, Next, Running};
pub use observer::{Observer, Silent};
pub use sender::{InvalidSender, Sender};
pub use smtp::{InvalidRoots, InvalidSmtpUrl, SmtpTransport, SmtpUrl};
pub use store_journal::StoreMailJournal;
pub use transport::{Failure, Fault, FolderTransport, Transport};
