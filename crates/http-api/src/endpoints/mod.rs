//! The endpoints, in the order of the documentation (behaviour 10.1), and the table of routes.

mod companies;
mod corporations;
mod events;
mod occasions;
mod recognitions;
mod routes;
mod users;

#[cfg(feature = "testing")]
pub(crate) use events::read_cursor;
pub use routes::{ROUTES, Route};
pub(crate) use routes::{TAGS, configure_routes, noun_of, tag_of};
