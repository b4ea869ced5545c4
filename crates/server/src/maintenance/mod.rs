//! Maintenance: the status of the running service, verification of the ledger and the stored secrets, retention,
//! sealing, the record of failed requests.

mod failed_requests;
mod pacer;
pub(crate) mod retention;
pub(crate) mod sealing;
mod status;
mod verification;

pub(crate) use failed_requests::FailedRequestWriter;
pub(crate) use status::{ServiceStatus, StatusSources};
pub(crate) use verification::verify_database;
