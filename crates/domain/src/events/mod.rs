//! Events: their kinds and states, the facts that they carry (the webhook crate renders them), and sending them again.

mod kind;
mod recognition;
mod redemption;
mod replay;

pub use kind::{EventKind, EventState};
pub use recognition::{RecognitionEvent, SenderName};
pub use redemption::RedemptionEvent;
pub use replay::{ReplayError, replay, replay_all};
