//! How the request of an endpoint is parsed, run and rendered.
//!
//! - Parsed: `call` (path and caller), `query` and `body`; `parsing` keeps large bodies off the event loop.
//! - Run: `read`, `question` and `write`, each in the order of the checks. `state` is the only way to the store; `submit` queues
//!   commands that move points. `idempotency` and `flights` recognise retries. `shares` and `budget` limit the requests in
//!   progress and their memory; `promise` decides between a commit and a 503.
//! - Rendered: `answer`, `list`, `segments` and `error`.
//! - `described` documents operations for the API description.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod call;
mod described;
pub(crate) mod error;
mod flights;
mod idempotency;
pub(crate) mod list;
mod parsing;
mod promise;
pub(crate) mod query;
mod question;
mod read;
pub(crate) mod segments;
mod shares;
pub(crate) mod state;
mod submit;
mod write;

pub(crate) use described::Described;
pub(crate) use question::{Question, run as run_question};
pub(crate) use read::{Read, run as run_read};
pub(crate) use submit::Render;
pub(crate) use write::{ToCommand, Write, run as run_write};
