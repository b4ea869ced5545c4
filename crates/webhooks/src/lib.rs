#![doc = include_str!("../README.md")]

mod diagnosis;
mod event;
mod receiver;
mod rewritten_body;
mod seen_nonces;
mod signature;
mod standard_signature;

pub use diagnosis::{DeliveryPart, Diagnosis, diagnose};
pub use event::*;
pub use receiver::{ReceiveError, Received, Receiver};
pub use seen_nonces::{SEEN_NONCES_MAX, SeenNonces};
pub use signature::{Delivery, REPLAY_WINDOW, VerifyError, sign, verify, verify_now, verify_within};
pub use standard_signature::standard_signature;
pub use uuid::Uuid;
