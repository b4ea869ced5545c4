//! The facts that events carry (spec §6.4); the webhook crate renders them.

mod recognition;
mod redemption;

pub use recognition::{RecognitionEvent, SenderName};
pub use redemption::RedemptionEvent;
