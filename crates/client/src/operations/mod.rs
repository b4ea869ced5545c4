//! The operations of the API, declared once for both clients.

mod companies;
mod corporations;
mod events;
mod occasions;
mod recognitions;
mod users;
