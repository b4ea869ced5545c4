//! Events: their kinds and states, the facts that they contain (the dispatcher renders them), and replays.

mod replay;

pub use replay::{BulkReplay, ReplayError, ReplayStep, replay_all, replay_by_ids};

pub use crate::model::EventFacts;
pub use crate::model::event::*;
