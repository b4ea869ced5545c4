//! # guerdon-mailer
//!
//! Brings mails from the outbox to the people they are for (contract §5.8): by SMTP, or as `.eml` files in
//! `<data_dir>/mail` where no mail server is configured. Mails are queued by use cases in the transaction of their
//! cause; nothing here decides who is written to, or what.
//!
//! [`Mailer`] is the worker. It claims up to 16 due mails under a lease of two minutes, hands each to its
//! [`Transport`], and settles each durably before it takes the next: a crash repeats at most the one mail that was
//! being sent, with the same `Message-ID`, by which receivers can drop it. So mail is sent at least once, never
//! exactly once. Where settling fails, the mailer keeps what it knows and settles that before anything else.
//!
//! What can go wrong, and what follows ([`Failure`]):
//!
//! | Failure | Examples | What follows |
//! |---|---|---|
//! | of the server | refused connection, bad certificate, wrong password, 421, a sender it refuses, a full disk | the whole batch is released; nobody is bothered for 15 s, 30 s, … up to an hour, until something works again |
//! | of one mail | 4xx on its recipient or text, a dialogue that breaks off or hangs | this mail waits 15 s, 30 s, … up to an hour; three in a row, and the batch is released for 15 s |
//! | a refusal | 5xx on its recipient or text | again after an hour, given up at the third refusal |
//! | unsendable | a recipient or subject that holds control characters | given up at once |
//!
//! Three days after a mail was queued its next failure is its last, once it has been tried four times: it is given
//! up, which is logged as an error, and kept.
//!
//! **Invariants.** The log tells a mail's id, never its recipient, subject or text; so the words of a mail server,
//! which like to repeat the recipient, are not logged, only its codes. A message is always encoded
//! (quoted-printable, RFC 2047), its lines all end with CRLF, and addresses pass the domain's own parser: nothing of
//! a mail can become a line of the SMTP dialogue. No sending takes longer than 30 s. Time and ids come through the
//! domain's ports; [`Mailer::step`] never waits, only the loop around it does.
//!
//! To add a way to send: implement [`Transport`], say in [`Failure`] whose fault a failure is, and have the server
//! choose it. To add a kind of mail: queue it in the use case; nothing changes here.

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
pub use mailer::{Mailer, Next, Running, Waker};
pub use observer::{Observer, Silent};
pub use sender::{InvalidSender, Sender};
pub use smtp::{InvalidRoots, InvalidSmtpUrl, SmtpTransport, SmtpUrl};
pub use store_journal::StoreMailJournal;
pub use transport::{Failure, Fault, FolderTransport, Transport};
