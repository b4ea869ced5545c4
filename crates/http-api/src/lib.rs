//! # guerdon-http-api
//!
//! The provider API on actix-web: it turns HTTP requests into use cases of the domain, and their results into
//! answers. It holds no rule about points, companies or users, knows no SQL, and reads no clock of its own except to
//! measure how long something takes.
//!
//! A request passes, in this order (contract §2.4):
//!
//! 1. `envelope`: what the strict reading of the connection refused (`framing`), HTTPS, request id, security headers, one log line;
//! 2. `admission`: maintenance, version, failed credentials, credentials, the provider's rate limit;
//! 3. `routes`: 404 and 405; [`ROUTES`] is the whole URL space, and the routing itself is made from it;
//! 4. `operation`: the path's object, designation, the idempotency record, then query or body, then the use case.
//!
//! Invariants:
//!
//! * Every answer has a status of the specification (or 405), and every refusal its error shape.
//! * What a client is told never comes from a database error; the log has it, under the request's id.
//! * A body is read only for a caller whose credentials were right.
//! * The store is called on the blocking pool only, behind a semaphore that answers 503 when it is full.
//! * Every POST can be repeated under an `Idempotency-Key`: an operation need not do anything for it.
//! * Nothing that a caller sends is logged: no body, no name, no secret, no path.
//!
//! # Adding an endpoint
//!
//! Give the operation a file beside its siblings (`companies/list.rs`): the unit struct, what it reads, its view.
//! A reading operation implements `Read`:
//!
//! ```ignore
//! pub(crate) struct Get;
//!
//! impl Read for Get {
//!     fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
//!         let id = call.path_id("occasion")?;
//!         let occasion = in_path(reads.occasion(call.scope, id)?, "occasion")?;
//!         Answer::ok(&OccasionView::of(&occasion))
//!     }
//! }
//! ```
//!
//! A changing one implements `Write`: `command` reads the body field by field and collects every fault, `perform`
//! calls the use case and renders. `NEEDS_DESIGNATION` marks the five operations of contract §4.8, and `find` looks
//! up the path's object where the body must not be judged before it. Then add the use case's error to an
//! `impl From<…> for ApiError`, matched exhaustively, beside the operation, and one line to `ROUTES`:
//!
//! ```ignore
//! get::<occasions::Get>("/v1/occasions/{id}"),
//! ```
//!
//! Views are structs with the specification's fields in its order; `wire::Shown` renders ids and values,
//! `wire::Moment` renders times.

mod api;
mod arrival;
mod endpoints;
mod entrance;
mod operation;

pub use api::{Api, Gate, Limits, Transport, VerifySecret};
pub use endpoints::{ROUTES, Route};
pub use entrance::{Listening, listen};
