//! What an operator looks after: how the running service stands, and whether the ledger and the stored secrets are sound.

mod status;
mod verification;

pub(crate) use status::{Service, Status};
pub(crate) use verification::verify;
