//! Events: their kinds and states, the facts that they carry (the webhook crate renders them), and sending them again.

mod replay;

pub use replay::{ReplayError, Replayed, replay, replay_all, replay_own};

pub use crate::model::{
    Event, EventFacts, EventKind, EventState, RecognitionEvent, RedemptionEvent, SenderName,
};
