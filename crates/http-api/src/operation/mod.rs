//! How the request of an endpoint is parsed and run, and how its response is rendered.
//!
//! - Parsing: `call` (path and caller), `query` and `body`; `body_parser` keeps large bodies off the event loop.
//! - Running: `read` and `write` run the kinds of operations, with their checks in the documented order. `state`
//!   gives access to the store; `submit` queues commands that move points. `idempotency` and `key_locks` recognise
//!   retries. `fair_queue` and `memory_budget` limit the requests in progress and their memory; `commit_decision`
//!   decides between a commit and a 503.
//! - Rendering: `response`, `list`, `chunked_body` and `error` with `error_code`, `failure_reason` and
//!   `problem`. `operation_docs` and `operation_spec` document operations for the API description.

pub(crate) mod body;
mod body_parser;
mod call;
pub(crate) mod chunked_body;
mod commit_decision;
pub(crate) mod error;
mod error_code;
mod failure_reason;
mod fair_queue;
mod idempotency;
mod key_locks;
pub(crate) mod list;
pub(crate) mod memory_budget;
mod operation_docs;
pub(crate) mod operation_spec;
mod problem;
mod query;
mod read;
mod response;
mod state;
mod submit;
mod write;

pub(crate) use call::{Call, confirm_caller};
pub(crate) use commit_decision::CommitDecision;
pub(crate) use error::{ApiError, ErrorDetails, require_in_path};
pub(crate) use error_code::ErrorCode;
#[cfg(feature = "testing")]
pub(crate) use idempotency::read_key_header;
pub(crate) use key_locks::KeyLocks;
pub(crate) use operation_docs::OperationDocs;
pub(crate) use problem::Problem;
pub(crate) use query::Query;
pub(crate) use read::{ReadOperation, read_blocking, read_unconfirmed, run_read};
pub(crate) use response::RenderedResponse;
pub(crate) use state::ApiState;
pub(crate) use submit::RenderResponse;
pub(crate) use write::{StepResult, ToCommand, Work, WriteOperation, run_write};
