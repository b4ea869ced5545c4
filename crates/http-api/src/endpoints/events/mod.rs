//! `/v1/events` (behaviour 25.5, 25.6).

mod feed;
mod get;
mod replay;
mod view;

pub(crate) use feed::List;
pub(crate) use get::Get;
pub(crate) use replay::{Replay, ReplayMany};
