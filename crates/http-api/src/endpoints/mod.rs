//! The endpoints, in the specification's order, under their table.

mod companies;
mod corporations;
mod occasions;
mod recognitions;
mod routes;
mod users;

pub(crate) use routes::configure;
pub use routes::{ROUTES, Route};
