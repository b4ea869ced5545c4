//! How an endpoint is read, run and rendered. `call`, `query` and `body` read; `read`, `question` and `write` run, in the
//! order of the checks, with `idempotency` and `flights` for repeats, over `state`, the one crossing to the store, or by
//! `submit` to the queue of commands that move points, with `budget`, the memory that large requests share, `parsing`, which keeps large bodies off the
//! event loop, and `shares`, the turns of providers;
//! `answer`, `list` and `error` render; `described` and `field_docs` describe operations and their fields to clients.

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
