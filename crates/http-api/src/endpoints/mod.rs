//! The endpoints, in the order of the documentation (behaviour 10.1), under their table.

mod companies;
mod corporations;
mod events;
mod occasions;
mod recognitions;
mod routes;
pub mod shown;
mod users;

pub(crate) use routes::configure;
pub use routes::{ROUTES, Route};
